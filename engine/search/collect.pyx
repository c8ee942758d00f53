"""From the tree to result.py: move figures, principal variations, confidence bounds, ownership.

Everything is turned to the root color's view here, for reports only; nothing in the tree changes.
"""

from libc.math cimport sqrt
from libc.stdint cimport uint8_t
from libc.string cimport memset

import numpy as np

from engine.board.go cimport GoState, go_copy, go_free, go_is_legal, go_play

from .node cimport (
    PROVEN_DRAW, PROVEN_LOSS, PROVEN_WIN, UNPROVEN, Edge, Node, Prior, edge_action, edge_known, edge_proof, mean_weight,
    node_at, node_edges, node_priors, prior_value,
)
from .ownership cimport mean_ownership
from .tree cimport Tree
from .walk cimport Context

from engine.search.result import MoveInfo, RawNet, SearchResult

cdef double PRIOR_VARIANCE = 0.25   # of one visit's utility, as if seen once before the first visit


cdef str proof_name(int proof):
    return (None, "win", "loss", "draw")[proof]


cdef double decided_winrate(int proof, double winrate) noexcept:
    return 1.0 if proof == PROVEN_WIN else 0.0 if proof == PROVEN_LOSS else 0.5 if proof == PROVEN_DRAW else winrate


cdef int best_reply(Tree* t, Node* node) noexcept nogil:
    """Return the edge that a principal variation follows: a proven win, else the most visited; -1 without visits."""
    cdef const Edge* edges = node_edges(&t.arena, node) if node.edges else NULL
    cdef int best = -1
    cdef int i
    for i in range(node.n_edges):
        if not edge_known(&t.arena, &edges[i]):
            continue
        if edge_proof(&edges[i]) == PROVEN_WIN:
            return i
        if best < 0 or edges[i].visits > edges[best].visits:
            best = i
    return best


cdef tuple variation(Context* x, const Edge* first, int length):
    """Return (actions, visits, edge visits) from one root edge on."""
    cdef Tree* t = &x.tree
    cdef list actions = [edge_action(first)]
    cdef list visits = [first.visits]
    cdef list edge_visits = [first.visits]
    cdef Node* node = node_at(&t.arena, first.child)
    cdef const Edge* edge
    cdef int i
    visits[0] = node.visits
    while len(actions) < length:
        i = best_reply(t, node)
        if i < 0:
            break
        edge = &node_edges(&t.arena, node)[i]
        node = node_at(&t.arena, edge.child)
        actions.append(edge_action(edge))
        visits.append(node.visits)
        edge_visits.append(edge.visits)
    if t.sharing:
        length = count_legal(x, actions)
        return actions[:length], visits[:length], edge_visits[:length]
    return actions, visits, edge_visits


cdef int count_legal(Context* x, list actions) except -1:
    """Return how many moves from the root on are legal: further on, nodes may be those of ways with another past."""
    cdef GoState s
    cdef int color = x.root_color
    cdef int count = 0
    cdef int point
    memset(&s, 0, sizeof(GoState))
    go_copy(&s, &x.root_state)
    for action in actions:
        point = s.geo.point_of_action[<int> action]
        if not go_is_legal(&s, point, color):
            break
        go_play(&s, point, color)
        color = 3 - color
        count += 1
    go_free(&s)
    return count


cdef double bound_radius(const Node* child, double stdevs) noexcept:
    """Return how far the mean utility may be off: so many deviations of the mean, with a weak prior on the variance."""
    cdef double n = child.visits
    cdef double mean = child.utility_sum / n
    cdef double variance = child.utility_sq_sum / n - mean * mean
    if variance < 0.0:
        variance = 0.0
    return stdevs * sqrt((variance * n + PRIOR_VARIANCE) / (n + 1.0) / n)


cdef object move_info(Context* x, const Edge* edge, double prior, object params, bint ownership):
    cdef Tree* t = &x.tree
    cdef Node* child = node_at(&t.arena, edge.child)
    cdef double n = child.visits
    cdef double utility = -child.utility_sum / n
    cdef double winrate = 0.5 - 0.5 * child.value_sum / n
    cdef double score = -child.score_sum / n
    cdef double variance = child.score_sq_sum / n - score * score
    cdef double radius = bound_radius(child, params.lcb_stdevs)
    cdef double weight = params.win_loss_utility if params.win_loss_utility > 0.0 else 1.0
    cdef int proof = edge_proof(edge)
    if proof != UNPROVEN:
        radius = 0.0
        winrate = decided_winrate(proof, winrate)
    actions, visits, edge_visits = variation(x, edge, params.pv_length)
    return MoveInfo(
        action=edge_action(edge), visits=child.visits, edge_visits=edge.visits, winrate=winrate, utility=utility,
        score_mean=score, score_stdev=sqrt(variance if variance > 0.0 else 0.0), lead=-child.lead_sum / n, prior=prior,
        lcb=winrate - 0.5 * radius / weight, utility_lcb=utility - radius, weight=edge.visits * mean_weight(child),
        order=0, proven=proof_name(proof), pv=actions, pv_visits=visits, pv_edge_visits=edge_visits,
        ownership=mean_ownership(x, edge.child)[0] if ownership else None)


cdef object top_prior_info(Context* x, object params, object root_priors):
    """Describe the move of the highest prior, for a root whose children have no visit yet."""
    cdef Node* root = node_at(&x.tree.arena, x.tree.root)
    cdef Prior* priors = node_priors(root)
    cdef int best = int(np.argmax(root_priors))
    cdef double winrate = 0.5 + 0.5 * root.value
    return MoveInfo(
        action=priors[best].action, visits=0, edge_visits=0, winrate=winrate, utility=root.utility_sum / root.visits,
        score_mean=root.score_mean, score_stdev=root.score_stdev, lead=root.lead, prior=float(root_priors[best]),
        lcb=winrate, utility_lcb=root.utility_sum / root.visits, weight=0.0, order=0, proven=None,
        pv=[priors[best].action], pv_visits=[0], pv_edge_visits=[0])


cdef list collect_moves(Context* x, object params, object root_priors, bint ownership):
    """Return a MoveInfo for every visited move, best first. root_priors: [n_priors], 0 where a move is banned."""
    cdef Node* root = node_at(&x.tree.arena, x.tree.root)
    cdef const Edge* edges = node_edges(&x.tree.arena, root) if root.edges else NULL
    cdef int i
    found = [
        move_info(x, &edges[i], float(root_priors[i]), params, ownership)
        for i in range(root.n_edges) if edge_known(&x.tree.arena, &edges[i])
    ]
    if not found:
        return [top_prior_info(x, params, root_priors)]
    return ranked(found, params)


cdef list ranked(list found, object params):
    """Order the moves: proven wins, then the one with the best confidence bound, then by visits; proven losses last."""
    most = max(info.edge_visits for info in found)
    rank = {"win": 0, None: 1, "draw": 1, "loss": 2}
    best = None
    if params.use_lcb:
        trusted = [info for info in found if info.edge_visits >= params.lcb_min_visits * most and info.proven != "loss"]
        best = max(trusted, key=lambda info: (info.utility_lcb, info.edge_visits), default=None)
    found.sort(key=lambda info: (rank[info.proven], info is not best, -info.edge_visits, -info.utility, -info.prior))
    for i, info in enumerate(found):
        object.__setattr__(info, "order", i)
    return found


cdef object collect_raw(Context* x):
    cdef Node* root = node_at(&x.tree.arena, x.tree.root)
    cdef Prior* priors = node_priors(root)
    cdef int i
    cdef float[::1] policy = np.zeros(x.tree.area + 1, dtype=np.float32)
    for i in range(root.n_priors):
        policy[priors[i].action] = prior_value(priors[i].code)
    return RawNet(
        winrate=0.5 + 0.5 * root.value, value=root.value, lead=root.lead, score_mean=root.score_mean,
        score_stdev=root.score_stdev, policy=np.asarray(policy))


cdef object stored_priors(Context* x):
    """Return the root's priors as the net gave them, [n_priors] float32."""
    cdef Node* root = node_at(&x.tree.arena, x.tree.root)
    cdef Prior* priors = node_priors(root)
    cdef int i
    cdef float[::1] out = np.empty(root.n_priors, dtype=np.float32)
    for i in range(root.n_priors):
        out[i] = prior_value(priors[i].code)
    return np.asarray(out)


cdef object banned_priors(Context* x, object by_action):
    """Return the entries of by_action ([area + 1]) in the order of the root's priors."""
    cdef Node* root = node_at(&x.tree.arena, x.tree.root)
    cdef Prior* priors = node_priors(root)
    cdef int i
    cdef const uint8_t[::1] banned = by_action.view(np.uint8)
    cdef uint8_t[::1] out = np.empty(root.n_priors, dtype=np.uint8)
    for i in range(root.n_priors):
        out[i] = banned[priors[i].action]
    return np.asarray(out).view(np.bool_)


cdef object policy_target(Context* x, list moves):
    """Return [area + 1] float32: each move's share of the visits."""
    target = np.zeros(x.tree.area + 1, dtype=np.float32)
    for info in moves:
        target[info.action] = info.edge_visits
    if not target.any():
        target[moves[0].action] = 1.0
    return target / target.sum()


cdef object collect_result(Context* x, object params, object options, object root_priors, object stats):
    cdef Node* root = node_at(&x.tree.arena, x.tree.root)
    cdef double n = root.visits
    cdef double score = root.score_sum / n
    cdef double variance = root.score_sq_sum / n - score * score
    moves = collect_moves(x, params, root_priors, options.moves_ownership)
    ownership, spread = mean_ownership(x, x.tree.root) if options.ownership else (None, None)
    return SearchResult(
        color=x.root_color, width=x.root_state.geo.width, height=x.root_state.geo.height, visits=root.visits,
        winrate=decided_winrate(root.proven, 0.5 + 0.5 * root.value_sum / n), utility=root.utility_sum / n,
        lead=root.lead_sum / n, score_mean=score, score_stdev=sqrt(variance if variance > 0.0 else 0.0),
        proven=proof_name(root.proven), raw=collect_raw(x), moves=moves, best_action=moves[0].action,
        most_visited=max(moves, key=lambda info: (info.edge_visits, info.prior)).action, chosen=moves[0].action,
        policy_target=policy_target(x, moves), stats=stats, ownership=ownership, ownership_stdev=spread)
