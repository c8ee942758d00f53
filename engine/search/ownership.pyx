"""Ownership over a search: the mean over the visits of what each visited position's evaluation said, so that a finished
game inside the tree counts with its result.
"""

from libc.math cimport fabs
from libc.stdint cimport int16_t, uint32_t
from libc.stdlib cimport calloc, free

import numpy as np

from .listing cimport Stack, end_list, list_nodes
from .node cimport (
    NODE_OWNERSHIP, OWNERSHIP_SCALE, Edge, Node, edge_known, node_at, node_edges, node_ownership,
)
from .tree cimport MAX_DEPTH, Tree
from .walk cimport Context


cdef double add_ownership(
    Tree* t, uint32_t start, int color, double* total, double* squares, uint32_t* stack, size_t cap
) noexcept nogil:
    """Sum ownership over the visits of a subtree, color's view. Return the visits that had any."""
    cdef double weight, counted = 0.0
    cdef size_t n = 1
    cdef Node* node
    cdef const Edge* edges
    cdef int e
    stack[0] = start
    while n:
        n -= 1
        node = node_at(&t.arena, stack[n])
        weight = node.visits
        edges = node_edges(&t.arena, node) if node.edges else NULL
        for e in range(node.n_edges):
            if edges[e].child and edges[e].visits:
                weight -= edges[e].visits
                if n < cap:
                    stack[n] = edges[e].child
                    n += 1
        if node.flags & NODE_OWNERSHIP and weight > 0.0:
            counted += weight
            add_weighted(t, node, weight if node.to_play == color else -weight, total, squares)
    return counted


cdef void add_weighted(const Tree* t, Node* node, double weight, double* total, double* squares) noexcept nogil:
    cdef const int16_t* own = node_ownership(node)
    cdef double value
    cdef int p
    for p in range(t.area):
        value = <double> own[p] / OWNERSHIP_SCALE
        total[p] += weight * value
        squares[p] += fabs(weight) * value * value


cdef double flow_ownership(Tree* t, uint32_t start, int color, double* total, double* squares) except -1:
    """The same where nodes are shared: a node hands on what it counts in proportion to the visits of its edges."""
    cdef Stack nodes
    cdef double counted
    cdef double* counts
    if list_nodes(t, start, &nodes) < 0:
        end_list(t, &nodes)
        raise MemoryError()
    counts = <double*> calloc(nodes.n, sizeof(double))
    if counts == NULL:
        end_list(t, &nodes)
        raise MemoryError()
    with nogil:
        counted = hand_on(t, &nodes, counts, color, total, squares)
        free(counts)
        end_list(t, &nodes)
    return counted


cdef double hand_on(
    const Tree* t, const Stack* nodes, double* counts, int color, double* total, double* squares
) noexcept nogil:
    cdef double own, share, counted = 0.0
    cdef Node* node
    cdef const Edge* edges
    cdef size_t i
    cdef int e
    counts[0] = node_at(&t.arena, nodes.items[0]).visits
    for i in range(nodes.n):
        node = node_at(&t.arena, nodes.items[i])
        if node.visits == 0:
            continue
        own = counts[i]
        share = counts[i] / node.visits
        edges = node_edges(&t.arena, node) if node.edges else NULL
        for e in range(node.n_edges):
            if edge_known(&t.arena, &edges[e]):
                own -= share * edges[e].visits
                counts[node_at(&t.arena, edges[e].child).place - 1] += share * edges[e].visits
        if node.flags & NODE_OWNERSHIP and own > 0.0:
            counted += own
            add_weighted(t, node, own if node.to_play == color else -own, total, squares)
    return counted


cdef tuple mean_ownership(Context* x, uint32_t start):
    """Return [H, W] mean and standard deviation over the visits of a subtree, or (None, None)."""
    cdef double[::1] total = np.zeros(x.tree.area)
    cdef double[::1] squares = np.zeros(x.tree.area)
    cdef size_t cap
    cdef uint32_t* stack
    cdef double counted
    if x.tree.sharing:
        counted = flow_ownership(&x.tree, start, x.root_color, &total[0], &squares[0])
        return shaped(x, counted, total, squares)
    cap = node_at(&x.tree.arena, start).visits + 1
    if cap < MAX_DEPTH:
        cap = MAX_DEPTH
    stack = <uint32_t*> calloc(cap, sizeof(uint32_t))
    if stack == NULL:
        raise MemoryError()
    with nogil:
        counted = add_ownership(&x.tree, start, x.root_color, &total[0], &squares[0], stack, cap)
        free(stack)
    return shaped(x, counted, total, squares)


cdef tuple shaped(Context* x, double counted, double[::1] total, double[::1] squares):
    if counted == 0.0:
        return None, None
    shape = (x.root_state.geo.height, x.root_state.geo.width)
    mean = np.asarray(total) / counted
    spread = np.sqrt(np.maximum(np.asarray(squares) / counted - mean * mean, 0.0))
    return mean.astype(np.float32).reshape(shape), spread.astype(np.float32).reshape(shape)
