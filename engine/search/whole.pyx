"""Walks over all nodes of a tree: garbage collection, utilities anew, the signature, and a count of marks for tests."""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free

from .arena cimport arena_mark, arena_sweep_begin, arena_sweep_end
from .bias cimport bias_add, bias_compact, bias_fade
from .graph cimport table_sweep
from .listing cimport Stack, end_list, list_nodes
from .node cimport (
    NODE_FOREIGN, NODE_PENDING, NODE_SEEN, NODE_SHARED, NODE_WEIGHED, PROVEN_DRAW, UNPROVEN, Edge, Node, block_units,
    edge_known, edge_proof, node_at, node_edges,
)
from .tree cimport Tree, own_utility, reweigh, settle, weigh_own

cdef double FADED = 0.2   # share that what nodes said of the net's bias keeps once they are gone

cdef void count_edges(const Tree* t, const Stack* nodes) noexcept nogil:
    """Find out what is still shared, now that edges have gone."""
    cdef size_t i
    cdef int e
    cdef Node* node
    cdef const Edge* edges
    for i in range(nodes.n):
        node = node_at(&t.arena, nodes.items[i])
        if node.sharing & NODE_SHARED:
            node.sharing = (node.sharing | NODE_FOREIGN) & ~NODE_SHARED
    for i in range(nodes.n):
        node = node_at(&t.arena, nodes.items[i])
        edges = node_edges(&t.arena, node) if node.edges else NULL
        for e in range(node.n_edges):
            if edges[e].child:
                node = node_at(&t.arena, edges[e].child)
                node.sharing |= NODE_SHARED if node.sharing & NODE_SEEN else NODE_SEEN
                node = node_at(&t.arena, nodes.items[i])
    for i in range(nodes.n):
        node_at(&t.arena, nodes.items[i]).sharing &= ~NODE_SEEN


cdef void keep_bias(Tree* t, const Stack* nodes) noexcept nogil:
    """Let what the nodes that go have said of the net's bias fade, and drop patterns that no node has any more."""
    cdef uint32_t* keep
    cdef Node* node
    cdef size_t i
    if t.bias.n == 0:
        return
    keep = <uint32_t*> calloc(t.bias.n, sizeof(uint32_t))
    if keep == NULL:
        return
    bias_fade(&t.bias, FADED)
    for i in range(nodes.n):
        node = node_at(&t.arena, nodes.items[i])
        if node.bias:
            keep[node.bias] = 1
            bias_add(&t.bias, node.bias, node.bias_error, (1.0 - FADED) * node.bias_weight)
    bias_compact(&t.bias, keep)
    for i in range(nodes.n):
        node = node_at(&t.arena, nodes.items[i])
        node.bias = keep[node.bias]
    free(keep)


cdef int keep_subtree(Tree* t, uint32_t root) noexcept nogil:
    cdef Stack nodes
    cdef size_t i
    cdef const Node* node
    if list_nodes(t, root, &nodes) < 0 or arena_sweep_begin(&t.arena) < 0:
        end_list(t, &nodes)
        return -1
    if t.sharing:
        count_edges(t, &nodes)
    for i in range(nodes.n):
        node = node_at(&t.arena, nodes.items[i])
        arena_mark(&t.arena, nodes.items[i], block_units(node.n_priors, node.flags, t.area))
        if node.edges:
            arena_mark(&t.arena, node.edges, node.cap_edges)
    if t.sharing:
        table_sweep(&t.table, &t.arena)
    arena_sweep_end(&t.arena)
    keep_bias(t, &nodes)
    end_list(t, &nodes)
    t.root = root
    return 0


cdef void retally_edges(const Tree* t, Node* node) noexcept nogil:
    cdef Edge* edges = node_edges(&t.arena, node) if node.edges else NULL
    cdef const Node* child
    cdef int e
    for e in range(node.n_edges):
        if edge_known(&t.arena, &edges[e]):
            child = node_at(&t.arena, edges[e].child)
            edges[e].q = <float> (-child.utility_sum / child.visits)
            if edge_proof(&edges[e]) == PROVEN_DRAW:
                edges[e].q = 0.0


cdef int retally(Tree* t) noexcept nogil:
    cdef Stack nodes
    cdef size_t i
    cdef int e
    cdef Node* node
    cdef Node* child
    cdef Edge* edges
    cdef double own, n_own, value, score, score_sq, lead
    if list_nodes(t, t.root, &nodes) < 0:
        end_list(t, &nodes)
        return -1
    for i in range(nodes.n, 0, -1):
        node = node_at(&t.arena, nodes.items[i - 1])
        if not t.mean.plain:
            retally_edges(t, node)
            if node.flags & NODE_WEIGHED:
                weigh_own(t, node)
            reweigh(t, node)
            continue
        n_own = node.visits
        node.utility_sum = 0.0
        node.utility_sq_sum = 0.0
        edges = node_edges(&t.arena, node) if node.edges else NULL
        for e in range(node.n_edges):
            if edges[e].child == 0:
                continue
            child = node_at(&t.arena, edges[e].child)
            n_own -= child.visits
            node.utility_sum -= child.utility_sum
            node.utility_sq_sum += child.utility_sq_sum
            if child.visits:
                edges[e].q = <float> (-child.utility_sum / child.visits)
            if edge_proof(&edges[e]) == PROVEN_DRAW:
                edges[e].q = 0.0
        own = own_utility(t, node)
        node.own_utility = own
        node.utility_sum += own
        node.utility_sq_sum += own * own
        if n_own > 1.0:
            if node.proven != UNPROVEN:
                own = settle(t, node, &value, &score, &score_sq, &lead)
            node.utility_sum += (n_own - 1.0) * own
            node.utility_sq_sum += (n_own - 1.0) * own * own
    end_list(t, &nodes)
    return 0


cdef inline uint64_t mix(uint64_t h, uint64_t word) noexcept nogil:
    h = (h ^ word) * <uint64_t> 0xBF58476D1CE4E5B9
    return h ^ (h >> 29)


cdef union DoubleBits:
    double f
    uint64_t u


cdef uint64_t tree_signature(const Tree* t) noexcept nogil:
    cdef Stack nodes
    cdef uint64_t h = <uint64_t> 0x9E3779B97F4A7C15
    cdef size_t i
    cdef int e
    cdef Node* node
    cdef const Edge* edges
    cdef DoubleBits bits
    if list_nodes(t, t.root, &nodes) < 0:
        end_list(t, &nodes)
        return 0
    for i in range(nodes.n):
        node = node_at(&t.arena, nodes.items[i])
        bits.f = node.utility_sum
        h = mix(mix(h, bits.u), (<uint64_t> node.visits << 16) | (node.to_play << 8) | node.proven)
        edges = node_edges(&t.arena, node) if node.edges else NULL
        for e in range(node.n_edges):
            h = mix(h, (<uint64_t> edges[e].visits << 16) | edges[e].action)
            if t.sharing:
                h = mix(h, node_at(&t.arena, edges[e].child).place if edges[e].child else 0)
    end_list(t, &nodes)
    return h


cdef uint64_t tree_in_flight(const Tree* t) noexcept nogil:
    cdef Stack nodes
    cdef uint64_t total = 0
    cdef size_t i
    cdef int e
    cdef const Node* node
    cdef const Edge* edges
    if list_nodes(t, t.root, &nodes) == 0:
        for i in range(nodes.n):
            node = node_at(&t.arena, nodes.items[i])
            total += node.in_flight + (1 if node.flags & NODE_PENDING else 0)
            edges = node_edges(&t.arena, node) if node.edges else NULL
            for e in range(node.n_edges):
                total += edges[e].in_flight
    end_list(t, &nodes)
    return total


cdef int bias_slack(const Tree* t, double* least, double* most) noexcept nogil:
    cdef Stack nodes
    cdef double* said
    cdef double slack
    cdef const Node* node
    cdef size_t i
    least[0] = most[0] = 0.0
    if t.bias.n == 0:
        return 0
    said = <double*> calloc(t.bias.n, sizeof(double))
    if said == NULL:
        return -1
    if list_nodes(t, t.root, &nodes) < 0:
        end_list(t, &nodes)
        free(said)
        return -1
    for i in range(nodes.n):
        node = node_at(&t.arena, nodes.items[i])
        said[node.bias] += node.bias_weight
    for i in range(1, t.bias.n):
        slack = t.bias.items[i].weight_sum - said[i]
        least[0] = min(least[0], slack)
        most[0] = max(most[0], slack)
    free(said)
    end_list(t, &nodes)
    return 0
