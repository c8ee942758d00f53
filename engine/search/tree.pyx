"""The tree of tree.pxd. Everything here is nogil and sees the arena alone: no rules, no evaluator.

Each node's sums hold exactly its visits: its own evaluation once (a terminal or proven end again at every visit) and
what its children got, so that visits = 1 + visits of the children for every inner node. backup is the one place where a
figure changes sides.
"""

from libc.stdint cimport uint16_t, uint32_t
from libc.string cimport memcpy, memset

from .arena cimport arena_alloc, arena_clear, arena_free
from .node cimport (
    ACTION_MASK, NODE_OWNERSHIP, NODE_PENDING, NODE_UNITS, PROOF_SHIFT, PROVEN_DRAW, PROVEN_LOSS, PROVEN_WIN,
    UNPROVEN, Edge, Node, Prior, block_units, edge_action, edge_proof, flip_proof, node_at, node_edges, node_priors,
    prior_code,
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


cdef uint32_t child_of(const Tree* t, uint32_t index, int action) noexcept nogil:
    cdef const Node* node = node_at(&t.arena, index)
    cdef const Edge* edges = node_edges(&t.arena, node) if node.edges else NULL
    cdef int i
    for i in range(node.n_edges):
        if edge_action(&edges[i]) == action:
            return edges[i].child
    return 0


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


cdef void set_estimate(const Tree* t, Node* node, const Estimate* estimate) noexcept nogil:
    node.value = estimate.value
    node.score_mean = estimate.score_mean
    node.score_stdev = estimate.score_stdev
    node.lead = estimate.lead
    node.flags &= ~NODE_PENDING
    add_own(t, node)


cdef inline void add_own(const Tree* t, Node* node) noexcept nogil:
    """Count one visit worth the node's own evaluation."""
    cdef double utility = own_utility(t, node)
    node.visits += 1
    node.utility_sum += utility
    node.utility_sq_sum += utility * utility
    node.value_sum += node.value
    node.score_sum += node.score_mean
    node.score_sq_sum += <double> node.score_mean * node.score_mean + <double> node.score_stdev * node.score_stdev
    node.lead_sum += node.lead


cdef double own_utility(const Tree* t, const Node* node) noexcept nogil:
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
    const Tree* t, const Node* node, double* value, double* score, double* score_sq, double* lead
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


cdef void clear_tree(Tree* t) noexcept nogil:
    arena_clear(&t.arena)
    t.root = 0
