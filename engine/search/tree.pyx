"""The tree of tree.pxd. Everything here is nogil and sees the arena alone: no rules, no evaluator.

Each node's sums hold exactly its visits: its own evaluation once (a terminal or proven end again at every visit) and
what its children got, so that visits = 1 + visits of the children for every inner node. Where children do not count by
visits alone (mean.pxd) or the net's bias is taken off (bias.pxd), a node's means are made anew from its children's at
each visit, and its sums are those means times its visits. backup and reweigh are where a figure changes sides.

With `uncertainty` a node has a Weight: of its own evaluation, by how far the net expects to be off, and the mean over
its visits, by which the visits of an edge that leads to it count. Ends that the rules decide and visits to proven nodes
are certain. Where the net of the root does not say how sure it is, all visits weigh 1.

With `graph` several edges may lead to one node. Still visits = 1 + visits of the edges, but a node may have more visits
than an edge that leads to it, and means are always made anew: the visits of each edge times what its node is worth now.
"""

from libc.math cimport pow
from libc.stdint cimport uint16_t, uint32_t
from libc.string cimport memcpy, memset

from engine.board.types cimport MAX_ACTIONS

from .arena cimport arena_alloc, arena_clear, arena_free
from .bias cimport bias_add, bias_clear, bias_mean
from .graph cimport table_clear
from .mean cimport favour_better, prune_noise, weight_of
from .node cimport (
    ACTION_MASK, NODE_OWNERSHIP, NODE_PENDING, NODE_PROOFS, NODE_SHARED, NODE_TERMINAL, NODE_UNITS, NODE_WEIGHED,
    PROOF_SHIFT, PROVEN_DRAW, PROVEN_LOSS, PROVEN_WIN, UNPROVEN, Edge, Node, Prior, Weight, block_units, edge_action,
    edge_known, edge_proof, flip_proof, mean_weight, node_at, node_edges, node_priors, node_weight, prior_code,
    prior_value,
)
from .utility cimport utility_of, utility_slope

cdef double BIAS_POWER = 0.85   # of the visits below a node: how much its error counts in its pattern's


cdef uint32_t new_node(Tree* t, int to_play, int n_priors, bint ownership, int flags) noexcept nogil:
    cdef uint32_t index
    cdef Node* node
    flags |= (NODE_OWNERSHIP if ownership else 0) | (NODE_WEIGHED if t.mean.uncertainty else 0)
    index = arena_alloc(&t.arena, block_units(n_priors, flags, t.area))
    if index == 0:
        return 0
    node = node_at(&t.arena, index)
    memset(node, 0, NODE_UNITS * 16)
    node.to_play = to_play
    node.n_priors = n_priors
    node.flags = flags
    return index


cdef void drop_node(Tree* t, uint32_t index) noexcept nogil:
    cdef Node* node = node_at(&t.arena, index)
    arena_free(&t.arena, index, block_units(node.n_priors, node.flags, t.area))


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
    if node.flags & NODE_WEIGHED:
        node_weight(node).value_error = estimate.value_error
        node_weight(node).score_error = estimate.score_error
        weigh_own(t, node)
        node_weight(node).mean = node_weight(node).own
    add_own(t, node)


cdef bint tells_errors(const Tree* t) noexcept nogil:
    return node_weight(node_at(&t.arena, t.root)).value_error >= 0.0


cdef void weigh_own(const Tree* t, Node* node) noexcept nogil:
    cdef Weight* weight = node_weight(node)
    weight.own = 1.0
    if weight.value_error >= 0.0:
        weight.own = <float> weight_of(&t.mean, t.utility.win_loss * weight.value_error + weight.score_error
                                       * utility_slope(&t.utility, node.score_mean, node.score_stdev, node.to_play))


cdef double weight_again(const Tree* t, const Node* node) noexcept nogil:
    """Return how much one more visit that ends at a node counts."""
    if not node.flags & NODE_WEIGHED:
        return 1.0
    if node.proven != UNPROVEN:
        return weight_of(&t.mean, 0.0) if tells_errors(t) else 1.0
    return node_weight(node).own


cdef inline void add_own(const Tree* t, Node* node) noexcept nogil:
    """Count one visit worth the node's own evaluation."""
    cdef double utility = own_utility(t, node)
    node.own_utility = utility
    node.visits += 1
    node.utility_sum += utility
    node.utility_sq_sum += utility * utility
    node.value_sum += node.value
    node.score_sum += node.score_mean
    node.score_sq_sum += <double> node.score_mean * node.score_mean + <double> node.score_stdev * node.score_stdev
    node.lead_sum += node.lead


cdef double own_utility(const Tree* t, const Node* node) noexcept nogil:
    cdef double utility = utility_of(&t.utility, node.value, node.score_mean, node.score_stdev, node.to_play)
    if node.bias:
        utility += t.mean.bias_share * bias_mean(&t.bias, node.bias)
    return utility


cdef void mark_step(Tree* t, Path* path, uint32_t node, int edge) noexcept nogil:
    cdef Node* parent = node_at(&t.arena, node)
    path.node[path.depth] = node
    path.edge[path.depth] = edge
    path.depth += 1
    parent.in_flight += 1
    node_edges(&t.arena, parent)[edge].in_flight += 1


cdef void step_back(Tree* t, Path* path, int depth) noexcept nogil:
    cdef Node* node
    while path.depth > depth:
        path.depth -= 1
        node = node_at(&t.arena, path.node[path.depth])
        node.in_flight -= 1
        node_edges(&t.arena, node)[path.edge[path.depth]].in_flight -= 1


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


cdef inline void count_step(Node* node, Edge* edge, const Node* child) noexcept nogil:
    """Count one walk through an edge, whose child has it already, and take its mark off; the node's sums stay."""
    edge.visits += 1
    edge.in_flight -= 1
    edge.q = <float> (-child.utility_sum / child.visits)
    if edge_proof(edge) == PROVEN_DRAW:
        edge.q = 0.0
    node.in_flight -= 1
    node.visits += 1


cdef void backup(Tree* t, Path* path, bint first) noexcept nogil:
    cdef Node* child = node_at(&t.arena, path.node[path.depth])
    cdef Node* node
    cdef double utility = own_utility(t, child)
    cdef double value = child.value
    cdef double score = child.score_mean
    cdef double score_sq = score * score + <double> child.score_stdev * child.score_stdev
    cdef double lead = child.lead
    cdef double old, new
    cdef int i
    if not first:
        if child.proven != UNPROVEN:
            utility = settle(t, child, &value, &score, &score_sq, &lead)
        join(child, weight_again(t, child), &old, &new)
        child.visits += 1
        child.utility_sum = old * child.utility_sum + new * utility
        child.utility_sq_sum = old * child.utility_sq_sum + new * utility * utility
        child.value_sum = old * child.value_sum + new * value
        child.score_sum = old * child.score_sum + new * score
        child.score_sq_sum = old * child.score_sq_sum + new * score_sq
        child.lead_sum = old * child.lead_sum + new * lead
    if not t.mean.plain:
        count_steps(t, path)
        return
    for i in range(path.depth - 1, -1, -1):
        # From the child's to_play to the parent's: the one place in the tree.
        utility = -utility
        value = -value
        score = -score
        lead = -lead
        node = node_at(&t.arena, path.node[i])
        count_step(node, &node_edges(&t.arena, node)[path.edge[i]], child)
        node.utility_sum += utility
        node.utility_sq_sum += utility * utility
        node.value_sum += value
        node.score_sum += score
        node.score_sq_sum += score_sq
        node.lead_sum += lead
        child = node


cdef void join(Node* node, double weight, double* old, double* new) noexcept nogil:
    """Give the factors of a node's sums and of one more visit's figures of that weight, and count the weight."""
    cdef double visits = node.visits
    cdef double before = visits * mean_weight(node)
    old[0] = (visits + 1.0) * before / (visits * (before + weight))
    new[0] = (visits + 1.0) * weight / (before + weight)
    if node.flags & NODE_WEIGHED:
        node_weight(node).mean = <float> ((before + weight) / (visits + 1.0))


cdef void count_steps(Tree* t, Path* path) noexcept nogil:
    cdef Node* child = node_at(&t.arena, path.node[path.depth])
    cdef Node* node
    cdef int i
    for i in range(path.depth - 1, -1, -1):
        node = node_at(&t.arena, path.node[i])
        count_step(node, &node_edges(&t.arena, node)[path.edge[i]], child)
        reweigh(t, node)
        child = node


cdef void reweigh(Tree* t, Node* node) noexcept nogil:
    """Set a node's sums to its visits times the weighted means of its own evaluation and its visited children."""
    cdef double[MAX_ACTIONS] weights, q, priors
    cdef uint32_t[MAX_ACTIONS] children
    cdef Edge* edges = node_edges(&t.arena, node) if node.edges else NULL
    cdef const Prior* own_priors = node_priors(node)
    cdef const Node* child
    cdef double own, below = 0.0, found = 0.0, again, total, w
    cdef double utility, utility_sq, value, score, score_sq, lead
    cdef double visits = node.visits
    cdef double own_weight = 1.0, counted = 1.0, weight
    cdef int i, n = 0
    if node.flags & NODE_WEIGHED:
        own_weight = node_weight(node).own
    weight = own_weight
    for i in range(node.n_edges):
        if edges[i].visits:
            below += edges[i].visits
            if t.sharing and not edge_known(&t.arena, &edges[i]):
                continue
            child = node_at(&t.arena, edges[i].child)
            children[n] = edges[i].child
            weights[n] = edges[i].visits * mean_weight(child)
            weight += weights[n]
            counted += edges[i].visits
            q[n] = -child.utility_sum / child.visits
            priors[n] = prior_value(own_priors[i].code)
            if t.sharing and edge_proof(&edges[i]) != PROVEN_DRAW:
                edges[i].q = <float> q[n]
            n += 1
    again = visits - 1.0 - below   # visits that ended here after the first
    if again < 0.0:
        again = 0.0
    counted += again
    again *= weight_again(t, node)
    if node.flags & NODE_WEIGHED:
        node_weight(node).mean = <float> ((weight + again) / counted)
    if t.mean.prune_scale != 0.0:
        prune_noise(&weights[0], &q[0], &priors[0], n, t.mean.prune_scale)
    if t.mean.value_power != 0.0:
        favour_better(&weights[0], &q[0], n, t.mean.value_power)
    below = 0.0
    for i in range(n):
        below += weights[i]
        found += weights[i] * q[i]
    if node.bias and n:
        learn(t, node, found / below, below)
    own = own_utility(t, node)
    node.own_utility = own
    utility = own_weight * own
    utility_sq = own_weight * own * own
    value = own_weight * node.value
    score = own_weight * node.score_mean
    score_sq = own_weight * (<double> node.score_mean * node.score_mean + <double> node.score_stdev * node.score_stdev)
    lead = own_weight * node.lead
    if again > 0.0:
        add_again(t, node, again, own, &utility, &utility_sq, &value, &score, &score_sq, &lead)
    for i in range(n):
        child = node_at(&t.arena, children[i])
        w = weights[i] / child.visits
        utility -= w * child.utility_sum
        utility_sq += w * child.utility_sq_sum
        value -= w * child.value_sum
        score -= w * child.score_sum
        score_sq += w * child.score_sq_sum
        lead -= w * child.lead_sum
    total = visits / (own_weight + below + again)
    node.utility_sum = total * utility
    node.utility_sq_sum = total * utility_sq
    node.value_sum = total * value
    node.score_sum = total * score
    node.score_sq_sum = total * score_sq
    node.lead_sum = total * lead


cdef void learn(Tree* t, Node* node, double found, double weight) noexcept nogil:
    """Put what was found below a node, less what the net said of it, in place of what the node said before."""
    cdef double said = utility_of(&t.utility, node.value, node.score_mean, node.score_stdev, node.to_play)
    bias_add(&t.bias, node.bias, node.bias_error, -<double> node.bias_weight)
    node.bias_error = <float> (found - said)
    node.bias_weight = <float> pow(weight, BIAS_POWER)
    bias_add(&t.bias, node.bias, node.bias_error, node.bias_weight)


cdef void add_again(
    const Tree* t, const Node* node, double times, double own, double* utility, double* utility_sq, double* value,
    double* score, double* score_sq, double* lead
) noexcept nogil:
    """Add as many visits that ended at the node: its proof's figures, or its own evaluation's."""
    cdef double v = node.value, s = node.score_mean, l = node.lead
    cdef double ss = s * s + <double> node.score_stdev * node.score_stdev
    cdef double u = own
    if node.proven != UNPROVEN:
        u = settle(t, node, &v, &s, &ss, &l)
    utility[0] += times * u
    utility_sq[0] += times * u * u
    value[0] += times * v
    score[0] += times * s
    score_sq[0] += times * ss
    lead[0] += times * l


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
    cdef int i, j, proof
    cdef int shared = 0
    if not t.prove:
        return
    while t.sharing and shared < path.depth and not node_at(&t.arena, path.node[shared]).sharing & NODE_SHARED:
        shared += 1
    for i in range(path.depth - 1, -1, -1):
        node = node_at(&t.arena, path.node[i])
        edge = &node_edges(&t.arena, node)[path.edge[i]]
        edge.action = (edge.action & ACTION_MASK) | <uint16_t> (flip_proof(child.proven) << PROOF_SHIFT)
        if edge_proof(edge) == PROVEN_DRAW:
            edge.q = 0.0
        if node.proven != UNPROVEN:
            return
        proof = best_proof(t, node)
        if proof == UNPROVEN:
            return
        if t.sharing and not (proof == PROVEN_WIN and child.flags & NODE_TERMINAL):
            # Only that a pass ends the game with a win holds whatever came before.
            if shared <= i:
                return
            for j in range(i + 1):
                node_at(&t.arena, path.node[j]).sharing |= NODE_PROOFS
        node.proven = proof
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
    bias_clear(&t.bias)
    table_clear(&t.table)
    t.root = 0
