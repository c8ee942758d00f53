"""The tree of tree.pxd. Everything here is nogil and sees the arena alone: no rules, no evaluator.

Each node's sums hold exactly its visits: its own evaluation once (a terminal or proven end again at every visit) and what
its children got, so that visits = 1 + visits of the children for every inner node. backup is the one place where a figure
changes sides.
"""

from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from .arena cimport (
    arena_alloc, arena_clear, arena_free, arena_mark, arena_sweep_begin, arena_sweep_end,
)
from .node cimport (
    ACTION_MASK, NODE_OWNERSHIP, NODE_PENDING, NODE_UNITS, PROOF_SHIFT, PROVEN_DRAW, PROVEN_LOSS, PROVEN_WIN,
    UNPROVEN, Edge, Node, Prior, block_units, edge_proof, flip_proof, node_at, node_edges, node_priors, prior_code,
)
from .utility cimport utility_of


cdef uint32_t new_node(Tree* t, int to_play, int n_priors, bint ownership, int flags) noexcept nogil:
    cdef uint32_t index = arena_alloc(&t.arena, block_units(n_priors, ownership, t.area))
    cdef Node* node
    if index == 0:
        return 0
    node = node_at(&t.arena, index)
    memset(node, 0, NODE_UNITS * 16)
    node.to_play = to_play
    node.n_priors = n_priors
    node.flags = flags | (NODE_OWNERSHIP if ownership else 0)
    return index


cdef void drop_node(Tree* t, uint32_t index) noexcept nogil:
    cdef Node* node = node_at(&t.arena, index)
    arena_free(&t.arena, index, block_units(node.n_priors, node.flags & NODE_OWNERSHIP, t.area))


cdef int start_edges(Tree* t, Node* node, int count) noexcept nogil:
    cdef int cap = node.cap_edges
    cdef uint32_t block
    cdef Edge* edges
    cdef Prior* priors
    cdef int i
    if count > cap:
        cap = 1 if cap == 0 else cap
        while cap < count:
            cap *= 2
        if cap > node.n_priors:
            cap = node.n_priors
        block = arena_alloc(&t.arena, cap)
        if block == 0:
            return -1
        if node.edges:
            memcpy(node_at(&t.arena, block), node_edges(&t.arena, node), node.n_edges * sizeof(Edge))
            arena_free(&t.arena, node.edges, node.cap_edges)
        node.edges = block
        node.cap_edges = cap
    edges = node_edges(&t.arena, node)
    priors = node_priors(node)
    for i in range(node.n_edges, count):
        memset(&edges[i], 0, sizeof(Edge))
        edges[i].action = priors[i].action
    if count > node.n_edges:
        node.n_edges = count
    return 0


cdef void sort_priors(Prior* priors, int n) noexcept nogil:
    """Sort by code, highest first; equal codes keep their order. Radix sort, two passes of a byte."""
    cdef Prior[1024] other
    cdef int[256] start
    cdef int i, total, count, byte, shift
    cdef Prior* source = priors
    cdef Prior* target = &other[0]
    for shift in range(0, 16, 8):
        memset(start, 0, sizeof(start))
        for i in range(n):
            start[255 - ((source[i].code >> shift) & 255)] += 1
        total = 0
        for i in range(256):
            count = start[i]
            start[i] = total
            total += count
        for i in range(n):
            byte = 255 - ((source[i].code >> shift) & 255)
            target[start[byte]] = source[i]
            start[byte] += 1
        source, target = target, source


cdef void fill_priors(Node* node, const float* probabilities) noexcept nogil:
    cdef Prior* priors = node_priors(node)
    cdef int i
    for i in range(node.n_priors):
        priors[i].code = prior_code(probabilities[i])
    sort_priors(priors, node.n_priors)


cdef void set_estimate(Tree* t, Node* node, const Estimate* estimate) noexcept nogil:
    node.value = estimate.value
    node.score_mean = estimate.score_mean
    node.score_stdev = estimate.score_stdev
    node.lead = estimate.lead
    node.flags &= ~NODE_PENDING
    add_own(t, node)


cdef inline void add_own(Tree* t, Node* node) noexcept nogil:
    """Count one visit worth the node's own evaluation."""
    cdef double utility = own_utility(t, node)
    node.visits += 1
    node.utility_sum += utility
    node.utility_sq_sum += utility * utility
    node.value_sum += node.value
    node.score_sum += node.score_mean
    node.score_sq_sum += <double> node.score_mean * node.score_mean + <double> node.score_stdev * node.score_stdev
    node.lead_sum += node.lead


cdef inline double own_utility(const Tree* t, const Node* node) noexcept nogil:
    return utility_of(&t.utility, node.value, node.score_mean, node.score_stdev, node.to_play)


cdef void mark_step(Tree* t, Path* path, uint32_t node, int edge) noexcept nogil:
    cdef Node* parent = node_at(&t.arena, node)
    path.node[path.depth] = node
    path.edge[path.depth] = edge
    path.depth += 1
    parent.in_flight += 1
    node_edges(&t.arena, parent)[edge].in_flight += 1


cdef void unmark(Tree* t, Path* path, bint cut) noexcept nogil:
    cdef int i
    cdef Node* node
    cdef Edge* edge = NULL
    for i in range(path.depth):
        node = node_at(&t.arena, path.node[i])
        node.in_flight -= 1
        edge = &node_edges(&t.arena, node)[path.edge[i]]
        edge.in_flight -= 1
    if cut and edge != NULL:
        edge.child = 0


cdef void backup(Tree* t, Path* path, bint first) noexcept nogil:
    cdef Node* child = node_at(&t.arena, path.node[path.depth])
    cdef Node* node
    cdef Edge* edge
    cdef double utility = own_utility(t, child)
    cdef double value = child.value
    cdef double score = child.score_mean
    cdef double score_sq = score * score + <double> child.score_stdev * child.score_stdev
    cdef double lead = child.lead
    cdef int i
    if not first:
        if child.proven != UNPROVEN:
            utility = settle(t, child, &value, &score, &score_sq, &lead)
        child.visits += 1
        child.utility_sum += utility
        child.utility_sq_sum += utility * utility
        child.value_sum += value
        child.score_sum += score
        child.score_sq_sum += score_sq
        child.lead_sum += lead
    for i in range(path.depth - 1, -1, -1):
        # From the child's to_play to the parent's: the one place in the tree.
        utility = -utility
        value = -value
        score = -score
        lead = -lead
        node = node_at(&t.arena, path.node[i])
        edge = &node_edges(&t.arena, node)[path.edge[i]]
        edge.visits += 1
        edge.in_flight -= 1
        edge.q = <float> (-child.utility_sum / child.visits)
        if edge_proof(edge) == PROVEN_DRAW:
            edge.q = 0.0
        node.in_flight -= 1
        node.visits += 1
        node.utility_sum += utility
        node.utility_sq_sum += utility * utility
        node.value_sum += value
        node.score_sum += score
        node.score_sq_sum += score_sq
        node.lead_sum += lead
        child = node


cdef double settle(
    Tree* t, Node* node, double* value, double* score, double* score_sq, double* lead
) noexcept nogil:
    """Give the figures of one more visit to a proven node: its proof, with the score it has had on average."""
    cdef double n = node.visits
    value[0] = 1.0 if node.proven == PROVEN_WIN else -1.0 if node.proven == PROVEN_LOSS else 0.0
    score[0] = node.score_sum / n
    score_sq[0] = node.score_sq_sum / n
    lead[0] = node.lead_sum / n
    return utility_of(&t.utility, value[0], score[0], 0.0, node.to_play)


cdef void prove_up(Tree* t, Path* path) noexcept nogil:
    cdef Node* child = node_at(&t.arena, path.node[path.depth])
    cdef Node* node
    cdef Edge* edge
    cdef int i
    if not t.prove:
        return
    for i in range(path.depth - 1, -1, -1):
        node = node_at(&t.arena, path.node[i])
        edge = &node_edges(&t.arena, node)[path.edge[i]]
        edge.action = (edge.action & ACTION_MASK) | <uint16_t> (flip_proof(child.proven) << PROOF_SHIFT)
        if edge_proof(edge) == PROVEN_DRAW:
            edge.q = 0.0
        if node.proven != UNPROVEN:
            return
        node.proven = best_proof(t, node)
        if node.proven == UNPROVEN:
            return
        child = node


cdef int best_proof(Tree* t, Node* node) noexcept nogil:
    """Return what the edges' proofs say of the node: a win if one edge wins, else all of them must be decided."""
    cdef const Edge* edges = node_edges(&t.arena, node)
    cdef int i, proof
    cdef int best = PROVEN_LOSS
    cdef bint open_left = node.n_edges < node.n_priors
    for i in range(node.n_edges):
        proof = edge_proof(&edges[i])
        if proof == PROVEN_WIN:
            return PROVEN_WIN
        if proof == UNPROVEN:
            open_left = True
        elif proof == PROVEN_DRAW:
            best = PROVEN_DRAW
    return UNPROVEN if open_left else best


ctypedef struct Stack:
    uint32_t* items
    size_t n
    size_t cap


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
    """List the subtree, parents before children. Return -1 if there is no memory; the caller frees out.items."""
    cdef size_t next_ = 0
    cdef const Node* node
    cdef const Edge* edges
    cdef int i
    memset(out, 0, sizeof(Stack))
    if root == 0:
        return 0
    if push(out, root) < 0:
        return -1
    while next_ < out.n:
        node = node_at(&t.arena, out.items[next_])
        next_ += 1
        if node.edges == 0:
            continue
        edges = node_edges(&t.arena, node)
        for i in range(node.n_edges):
            if edges[i].child and push(out, edges[i].child) < 0:
                return -1
    return 0


cdef int keep_subtree(Tree* t, uint32_t root) noexcept nogil:
    cdef Stack nodes
    cdef size_t i
    cdef const Node* node
    if list_nodes(t, root, &nodes) < 0 or arena_sweep_begin(&t.arena) < 0:
        free(nodes.items)
        return -1
    for i in range(nodes.n):
        node = node_at(&t.arena, nodes.items[i])
        arena_mark(&t.arena, nodes.items[i], block_units(node.n_priors, node.flags & NODE_OWNERSHIP, t.area))
        if node.edges:
            arena_mark(&t.arena, node.edges, node.cap_edges)
    arena_sweep_end(&t.arena)
    free(nodes.items)
    t.root = root
    return 0


cdef void clear_tree(Tree* t) noexcept nogil:
    arena_clear(&t.arena)
    t.root = 0


cdef int retally(Tree* t) noexcept nogil:
    cdef Stack nodes
    cdef size_t i
    cdef int e
    cdef Node* node
    cdef Node* child
    cdef Edge* edges
    cdef double own, n_own, value, score, score_sq, lead
    if list_nodes(t, t.root, &nodes) < 0:
        free(nodes.items)
        return -1
    for i in range(nodes.n, 0, -1):
        node = node_at(&t.arena, nodes.items[i - 1])
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
        node.utility_sum += own
        node.utility_sq_sum += own * own
        if n_own > 1.0:
            if node.proven != UNPROVEN:
                own = settle(t, node, &value, &score, &score_sq, &lead)
            node.utility_sum += (n_own - 1.0) * own
            node.utility_sq_sum += (n_own - 1.0) * own * own
    free(nodes.items)
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
        free(nodes.items)
        return 0
    for i in range(nodes.n):
        node = node_at(&t.arena, nodes.items[i])
        bits.f = node.utility_sum
        h = mix(mix(h, bits.u), (<uint64_t> node.visits << 16) | (node.to_play << 8) | node.proven)
        edges = node_edges(&t.arena, node) if node.edges else NULL
        for e in range(node.n_edges):
            h = mix(h, (<uint64_t> edges[e].visits << 16) | edges[e].action)
    free(nodes.items)
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
    free(nodes.items)
    return total
