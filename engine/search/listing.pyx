"""The list of listing.pxd. With `graph` a node may have several parents, but all of them are as many moves from the root:
breadth first, each node once, parents still come before children.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from .node cimport Edge, Node, node_at, node_edges
from .tree cimport Tree


cdef int push(Stack* s, uint32_t item) noexcept nogil:
    cdef uint32_t* items
    cdef size_t cap
    if s.n == s.cap:
        cap = 1024 if s.cap == 0 else 2 * s.cap
        items = <uint32_t*> realloc(s.items, cap * sizeof(uint32_t))
        if items == NULL:
            return -1
        s.items = items
        s.cap = cap
    s.items[s.n] = item
    s.n += 1
    return 0


cdef int list_nodes(const Tree* t, uint32_t root, Stack* out) noexcept nogil:
    cdef size_t next_ = 0
    cdef Node* node
    cdef Node* child
    cdef const Edge* edges
    cdef int i
    memset(out, 0, sizeof(Stack))
    if root == 0:
        return 0
    if push(out, root) < 0:
        return -1
    if t.sharing:
        node_at(&t.arena, root).place = 1
    while next_ < out.n:
        node = node_at(&t.arena, out.items[next_])
        next_ += 1
        if node.edges == 0:
            continue
        edges = node_edges(&t.arena, node)
        for i in range(node.n_edges):
            if edges[i].child == 0:
                continue
            child = node_at(&t.arena, edges[i].child)
            if t.sharing and child.place:
                continue
            if push(out, edges[i].child) < 0:
                return -1
            if t.sharing:
                child.place = out.n
    return 0


cdef void end_list(const Tree* t, Stack* nodes) noexcept nogil:
    cdef size_t i
    if t.sharing:
        for i in range(nodes.n):
            node_at(&t.arena, nodes.items[i]).place = 0
    free(nodes.items)
