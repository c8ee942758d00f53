"""What is done at the root around a search; see at_root.pxd. Searcher keeps what has to last."""

from libc.stdint cimport int64_t, uint32_t

from .collect cimport stored_priors
from .node cimport NODE_FOREIGN, NODE_SHARED, UNPROVEN, Node, node_at
from .tree cimport child_of
from .walk cimport Context
from .whole cimport keep_subtree, retally

from engine.search.root import shape_priors

cdef int64_t NO_LIMIT = 1 << 30   # visits: counts are 32 bits wide


cdef int follow_moves(Context* x, list known, list moves, int color) except -2:
    cdef int count = len(known)
    cdef int side = x.root_color
    cdef uint32_t index = x.tree.root
    cdef int sharing = 0
    cdef int plies
    if index == 0 or len(moves) < count or moves[:count] != known:
        return -1
    for mover, action in moves[count:]:
        if mover != side:
            return -1
        side = 3 - side
        sharing |= node_at(&x.tree.arena, index).sharing
        index = child_of(&x.tree, index, action)
        if index == 0 or node_at(&x.tree.arena, index).n_priors == 0:
            return -1
    if side != color:
        return -1
    plies = len(moves) - count
    if plies:
        sharing |= node_at(&x.tree.arena, index).sharing
        if keep_subtree(&x.tree, index) < 0:
            return -1
        if sharing & (NODE_SHARED | NODE_FOREIGN):
            node_at(&x.tree.arena, index).sharing |= NODE_FOREIGN
    return plies


cdef int recentre(Context* x, object params) except -1:
    cdef Node* root = node_at(&x.tree.arena, x.tree.root)
    x.tree.utility.root_color = x.root_color
    x.tree.utility.center = root.score_sum / root.visits * (1.0 - params.dynamic_score_zero_weight)
    if retally(&x.tree) < 0:
        raise MemoryError("no memory to walk the tree")
    return 0


cdef tuple root_priors(Context* x, object params, object root, object rng):
    wide = params.wide_root_noise if root.wide_root_noise is None else root.wide_root_noise
    x.wide_noise = wide
    priors = stored_priors(x)
    if not root.noise and wide <= 0.0 and root.policy_temperature == 1.0:
        return priors, False
    return shape_priors(
        priors, temperature=root.policy_temperature, wide=wide,
        noise_fraction=params.noise_fraction if root.noise else 0.0, noise_alpha=params.noise_alpha, rng=rng), True


cdef int64_t most_visits(Context* x, object limits) except -1:
    cdef Node* root = node_at(&x.tree.arena, x.tree.root)
    cdef int64_t most = NO_LIMIT if limits.visits is None else limits.visits
    if limits.playouts is not None:
        most = min(most, <int64_t> root.visits - x.playouts + limits.playouts)
    return most


cdef str why_ended(Context* x, int64_t most, bint late, object stop_event):
    cdef Node* root = node_at(&x.tree.arena, x.tree.root)
    if x.stop or (stop_event is not None and stop_event.is_set()):
        return "stop"
    if root.visits >= most:
        return "visits"
    if root.proven != UNPROVEN and x.stop_when_proven:
        return "proven"
    if x.memory_full:
        return "memory"
    return "seconds" if late else ""
