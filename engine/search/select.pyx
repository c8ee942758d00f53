"""PUCT selection (Rosin 2011, Silver et al. 2017) as KataGo's paper varies it: c_puct grows with the visits, and a move
without a visit is worth the node's own mean less a share of the prior mass already seen (first-play urgency).

    score(i) = q(i) + s * c * P(i) * sqrt(max(N, 1)) / (1 + n(i))
    c = cpuct + cpuct_log * ln((N + cpuct_base) / cpuct_base)
    s = 1 + stdev_scale * (stdev / stdev_prior - 1)
    N = visits of the children, n(i) = visits of edge i, both with the walks in flight;  q = fpu without a visit

With `uncertainty` n(i) counts each visit by the mean weight of those below edge i, a first one in flight by 1, and N is
the sum of all n(i).

stdev is that of the utilities found below the node, with stdev_prior as if seen in two visits before them. With
fpu_mean_power m, fpu starts from the node's own evaluation and moves to its mean by (visited prior mass)^m. Source of
both: KataGo's documented search settings (cpuctUtilityStdev*, fpuParentWeightByVisitedPolicyPow).

Only moves within move_mass and move_count are looked at (Tian and Zhu 2016: the first moves that hold 80 % of the
policy, at most 20). What is left out by the caller does not count towards either.

Ties go to the lower index, which is the higher prior. Perf: since priors are sorted and all unstarted moves share one
q, the first unstarted move beats the rest, and select_edge looks at the started edges and one prior more.
"""

from libc.math cimport fabs, log, pow, sqrt
from .arena cimport Arena
from .node cimport (
    PROVEN_LOSS, Edge, Node, Prior, edge_known, edge_proof, mean_weight, node_at, node_edges, node_priors, prior_value,
)
from .rng cimport rng_normal, rng_uniform

cdef double NOTHING = -1e30     # below every score
cdef double STDEV_PRIOR_VISITS = 2.0
cdef double LOST = -1e20        # a decided loss: taken only if nothing else is left


cdef inline double edge_weight(const Arena* a, const Edge* edge, const SelectParams* p) noexcept nogil:
    """Return n(i)."""
    cdef double n = <double> edge.visits + <double> edge.in_flight
    if p.weighed and edge_known(a, edge):
        n *= mean_weight(node_at(a, edge.child))
    return n


cdef double weight_below(const Arena* a, const Node* node, const SelectParams* p) noexcept nogil:
    cdef const Edge* edges = node_edges(a, node) if node.edges else NULL
    cdef double total = 0.0
    cdef int i
    for i in range(node.n_edges):
        total += edge_weight(a, &edges[i], p)
    return total


cdef inline double exploration(const Arena* a, const Node* node, const SelectParams* p) noexcept nogil:
    cdef double n = <double> node.visits - 1.0 + <double> node.in_flight
    cdef double c = p.cpuct
    if p.weighed:
        n = weight_below(a, node, p)
    if n < 1.0:
        n = 1.0
    if p.cpuct_log != 0.0:
        c += p.cpuct_log * log((n + p.cpuct_base) / p.cpuct_base)
    if p.stdev_scale != 0.0:
        c *= 1.0 + p.stdev_scale * (spread(node, p.stdev_prior) / p.stdev_prior - 1.0)
    return c * sqrt(n)


cdef inline double spread(const Node* node, double prior) noexcept nogil:
    cdef double n = node.visits
    cdef double mean, variance
    if n < 1.0:
        return prior
    mean = node.utility_sum / n
    variance = node.utility_sq_sum / n - mean * mean
    if variance < 0.0:
        variance = 0.0
    return sqrt((variance * n + prior * prior * STDEV_PRIOR_VISITS) / (n + STDEV_PRIOR_VISITS - 1.0))


cdef inline double first_play(const Node* node, const SelectParams* p, bint is_root, double mass) noexcept nogil:
    cdef double reduction = p.root_fpu_reduction if is_root else p.fpu_reduction
    cdef double mean = node.utility_sum / node.visits if node.visits else 0.0
    if p.fpu_mean_power != 0.0:
        mean = node.own_utility + (mean - node.own_utility) * pow(mass, p.fpu_mean_power)
    return mean - reduction * sqrt(mass)


cdef inline double edge_score(
    const Arena* a, const Edge* edge, double prior, double explore, double fpu, const SelectParams* p
) noexcept nogil:
    cdef double q = edge.q if edge.visits else fpu
    if edge_proof(edge) == PROVEN_LOSS:
        return LOST + q
    if edge.in_flight and p.virtual_loss != 0.0:
        q -= p.virtual_loss * edge.in_flight / (<double> edge.visits + <double> edge.in_flight) * (1.0 + q)
    return q + explore * prior / (1.0 + edge_weight(a, edge, p))


cdef inline bint in_reach(const SelectParams* p, int count, double mass) noexcept nogil:
    # Whether one move more may be looked at, after so many moves with so much of the policy.
    return count == 0 or (count < p.move_count and mass < p.move_mass)


cdef int select_edge(const Arena* a, Node* node, const SelectParams* p, bint is_root) noexcept nogil:
    cdef const Prior* priors = node_priors(node)
    cdef const Edge* edges = node_edges(a, node) if node.edges else NULL
    cdef int n = node.n_edges
    cdef double explore = exploration(a, node, p)
    cdef double best_score = NOTHING, score, prior, fpu
    cdef double mass = 0.0, started = 0.0
    cdef int best = -1, i
    cdef bint unseen = False
    if p.always_full:
        return select_full(a, node, p, is_root, NULL)
    for i in range(n):
        if not in_reach(p, i, started):
            n = i
            break
        prior = prior_value(priors[i].code)
        started += prior
        if edges[i].visits == 0:
            unseen = True
            continue
        mass += prior
        score = edge_score(a, &edges[i], prior, explore, 0.0, p)
        if score > best_score:
            best_score = score
            best = i
    fpu = first_play(node, p, is_root, mass)
    if unseen:
        for i in range(n):
            if edges[i].visits == 0:
                score = edge_score(a, &edges[i], prior_value(priors[i].code), explore, fpu, p)
                if score > best_score or (score == best_score and i < best):
                    best_score = score
                    best = i
    if n == node.n_edges and n < node.n_priors and in_reach(p, n, started):
        score = fpu + explore * prior_value(priors[n].code)
        if score > best_score:
            return n
    return best


cdef int select_full(const Arena* a, Node* node, const SelectParams* p, bint is_root, const Scan* scan) noexcept nogil:
    cdef const Prior* priors = node_priors(node)
    cdef const Edge* edges = node_edges(a, node) if node.edges else NULL
    cdef const float* own = scan.priors if scan != NULL else NULL
    cdef double explore = exploration(a, node, p)
    cdef double best_score = NOTHING, score, prior, fpu
    cdef double mass = 0.0, reached = 0.0
    cdef int best = -1, i, count = 0
    for i in range(node.n_edges):
        if edges[i].visits:
            mass += own[i] if own != NULL else prior_value(priors[i].code)
    fpu = first_play(node, p, is_root, mass)
    for i in range(node.n_priors):
        if scan != NULL and scan.banned != NULL and scan.banned[priors[i].action]:
            continue
        if not in_reach(p, count, reached):
            break
        count += 1
        reached += prior_value(priors[i].code)
        prior = own[i] if own != NULL else prior_value(priors[i].code)
        if i < node.n_edges:
            score = edge_score(a, &edges[i], prior, explore, fpu, p)
        else:
            score = fpu + explore * prior
        if scan != NULL and scan.wide_noise > 0.0 and rng_uniform(scan.rng) < 0.5:
            score += scan.wide_noise * fabs(rng_normal(scan.rng))
        if score > best_score:
            best_score = score
            best = i
    return best
