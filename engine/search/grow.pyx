"""What becomes of the end of a walk: a new node, evaluated in the batch or found in the cache; the end of a game; or,
with `graph`, a node that another way has made.

A node is known by its position, the moves closed there, and the number of moves since the set-up: so every edge leads
one move on, there are no circles, and who took a ko when is never mixed up. What cannot be read off a position, the
moves that superko will close further on, walks check (walk.pyx).
"""

from libc.stdint cimport int16_t, uint8_t, uint32_t, uint64_t

from engine.board.go cimport GoState, go_is_legal_simple, go_legal_mask, go_repeats
from engine.board.types cimport BLACK, EMPTY, KO_SIMPLE, MAX_ACTIONS, MAX_POINTS

from .bias cimport bias_number
from .cache cimport Slot, cache_find, cache_load, mix_word, position_key
from .graph cimport table_enter, table_find
from .node cimport (
    ACTION_MASK, NODE_CLOSED, NODE_OWNERSHIP, NODE_PENDING, NODE_PROOFS, NODE_SHARED, NODE_TERMINAL, OWNERSHIP_SCALE,
    PROVEN_DRAW, PROVEN_LOSS, PROVEN_WIN, UNPROVEN, Edge, Node, Prior, node_at, node_edges, node_ownership, node_priors,
)
from .rng cimport rng_next
from .terminal cimport settled_score
from .tree cimport (
    Estimate, Path, backup, count_steps, new_node, prove_up, set_estimate, tells_errors, unmark,
)
from .walk cimport SYMMETRY_AVERAGE, SYMMETRY_RANDOM, WALK_COLLISION, WALK_DONE, WALK_FULL, WALK_LEAF, Context, Leaf

cdef enum:
    BIAS_PART = 16             # part of the tree's memory that patterns may hold besides
    TABLE_PART = 8             # and part that the table of positions may hold


cdef int out_of_memory(Context* x, Leaf* leaf) noexcept nogil:
    unmark(&x.tree, &leaf.path, False)
    x.memory_full = True
    return WALK_FULL


cdef int new_leaf(Context* x, Leaf* leaf, bint passed) noexcept nogil:
    """Make the node at the end of a walk: an end of the game, a cache hit, or a leaf for the batch."""
    cdef GoState* s = &leaf.state
    leaf.max_history = x.history
    if s.ended:
        if x.history > 1:
            leaf.max_history = 1  # as the nets know finished games: docs/nets.md §2.5
        return end_leaf(x, leaf)
    if s.rules.ko == KO_SIMPLE and not passed and go_repeats(s):
        return plain_end(x, leaf, 0.0, NULL, False)
    return open_leaf(x, leaf)


cdef int attach(Context* x, Leaf* leaf, int n_priors, int flags) noexcept nogil:
    """Make the leaf's node and hang it on its edge. Return -1 if there is no memory."""
    cdef Node* parent
    cdef Edge* edge
    leaf.node = new_node(&x.tree, leaf.to_play, n_priors, x.ownership, flags)
    if leaf.node == 0:
        return -1
    leaf.path.node[leaf.path.depth] = leaf.node
    if leaf.path.depth == 0:
        x.tree.root = leaf.node
    else:
        if x.tree.mean.bias_share != 0.0:
            node_at(&x.tree.arena, leaf.node).bias = bias_number(
                &x.tree.bias, leaf.pattern, x.tree.arena.limit_bytes // BIAS_PART)
        parent = node_at(&x.tree.arena, leaf.path.node[leaf.path.depth - 1])
        edge = &node_edges(&x.tree.arena, parent)[leaf.path.edge[leaf.path.depth - 1]]
        edge.child = leaf.node
        edge.action &= ACTION_MASK  # what was proved of another child holds no more
    return 0


cdef int end_leaf(Context* x, Leaf* leaf) noexcept nogil:
    """A leaf after the final passes: proven where the rules settle it, else evaluated but never searched further."""
    cdef uint8_t[MAX_POINTS] owner
    cdef uint8_t[MAX_ACTIONS] legal
    cdef float score
    if settled_score(&leaf.state, &score, &owner[0]):
        return plain_end(x, leaf, score if leaf.to_play == BLACK else -score, &owner[0], True)
    go_legal_mask(&leaf.state, leaf.to_play, &legal[0])
    if attach(x, leaf, 0, NODE_PENDING | NODE_TERMINAL) < 0:
        return out_of_memory(x, leaf)
    return look_up(x, leaf, &legal[0])


cdef int plain_end(Context* x, Leaf* leaf, float score, const uint8_t* owner, bint proof) noexcept nogil:
    """An end whose worth is known: score from to_play's view, owner by point or NULL."""
    cdef Estimate e
    cdef Node* node
    cdef int16_t* ownership
    cdef int a, side
    if attach(x, leaf, 0, NODE_TERMINAL) < 0:
        return out_of_memory(x, leaf)
    node = node_at(&x.tree.arena, leaf.node)
    e.value = 1.0 if score > 0.0 else -1.0 if score < 0.0 else 0.0
    e.score_mean = score
    e.score_stdev = 0.0
    e.lead = score
    e.value_error = 0.0 if x.tree.mean.uncertainty and tells_errors(&x.tree) else -1.0
    e.score_error = e.value_error
    if node.flags & NODE_OWNERSHIP:
        ownership = node_ownership(node)
        for a in range(x.tree.area):
            side = owner[leaf.state.geo.point_of_action[a]] if owner != NULL else EMPTY
            ownership[a] = 0 if side == EMPTY else OWNERSHIP_SCALE if side == leaf.to_play else -OWNERSHIP_SCALE
    set_estimate(&x.tree, node, &e)
    if proof:
        node.proven = PROVEN_WIN if score > 0.0 else PROVEN_LOSS if score < 0.0 else PROVEN_DRAW
    backup(&x.tree, &leaf.path, True)
    if proof:
        prove_up(&x.tree, &leaf.path)
    x.terminals += 1
    return WALK_DONE


cdef int open_leaf(Context* x, Leaf* leaf) noexcept nogil:
    """A leaf in the middle of a game: its priors hold the legal actions until the evaluation comes."""
    cdef uint8_t[MAX_ACTIONS] legal
    cdef Prior* priors
    cdef int n = go_legal_mask(&leaf.state, leaf.to_play, &legal[0])
    cdef int action, i = 0
    cdef uint32_t known
    leaf.place = 0
    if not leaf.own:
        leaf.place = place_of(x, leaf, &legal[0])
        known = table_find(&x.tree.table, leaf.place)
        if known:
            if may_share(node_at(&x.tree.arena, known)):
                return share(x, leaf, known)
            leaf.place = 0
    if attach(x, leaf, n, NODE_PENDING) < 0:
        return out_of_memory(x, leaf)
    if x.tree.sharing and superko_closes(&leaf.state, leaf.to_play, &legal[0]):
        node_at(&x.tree.arena, leaf.node).sharing |= NODE_CLOSED
    if leaf.place and table_enter(&x.tree.table, leaf.place, leaf.node, x.tree.arena.limit_bytes // TABLE_PART) < 0:
        leaf.place = 0
    priors = node_priors(node_at(&x.tree.arena, leaf.node))
    for action in range(x.tree.area + 1):
        if legal[action]:
            priors[i].action = action
            priors[i].code = 0
            i += 1
    return look_up(x, leaf, &legal[0])


cdef uint64_t place_of(const Context* x, const Leaf* leaf, const uint8_t* legal) noexcept nogil:
    """Return what the leaf's position is known by, never 0."""
    cdef uint64_t[2] key
    position_key(&leaf.state, leaf.to_play, legal, &x.place_options, leaf.max_history, &key[0])
    key[0] = mix_word(key[0], leaf.state.n_moves)
    return key[0] if key[0] else 1


cdef inline bint may_share(const Node* node) noexcept nogil:
    # A proof may rest on what superko closed on the way to it.
    return node.proven == UNPROVEN and not node.sharing & NODE_PROOFS


cdef int share(Context* x, Leaf* leaf, uint32_t known) noexcept nogil:
    """End the walk at a node that is there already: the first of the visits that its edge has to catch up."""
    cdef Path* path = &leaf.path
    cdef Node* node = node_at(&x.tree.arena, known)
    if node.flags & NODE_PENDING:
        return WALK_COLLISION
    node.sharing |= NODE_SHARED
    node_edges(&x.tree.arena, node_at(&x.tree.arena, path.node[path.depth - 1]))[path.edge[path.depth - 1]].child = known
    path.node[path.depth] = known
    count_steps(&x.tree, path)
    x.links += 1
    return WALK_DONE


cdef bint superko_closes(const GoState* s, int color, const uint8_t* legal) noexcept nogil:
    """Tell whether superko closes a move that would be legal without it."""
    cdef int action
    if s.rules.ko == KO_SIMPLE:
        return False
    for action in range(s.geo.area):
        if not legal[action] and go_is_legal_simple(s, s.geo.point_of_action[action], color):
            return True
    return False


cdef bint same_moves(const Node* node, const GoState* s) noexcept nogil:
    cdef uint8_t[MAX_ACTIONS] legal
    cdef const Prior* priors = node_priors(<Node*> node)
    cdef int i
    if go_legal_mask(s, node.to_play, &legal[0]) != node.n_priors:
        return False
    for i in range(node.n_priors):
        if not legal[priors[i].action]:
            return False
    return True


cdef int look_up(Context* x, Leaf* leaf, const uint8_t* legal) noexcept nogil:
    """Take the evaluation from the cache if it is there; else the leaf joins the batch."""
    cdef Node* node = node_at(&x.tree.arena, leaf.node)
    cdef Slot* slot
    leaf.turn = 0
    if x.cache.n_buckets:
        leaf.turn = position_key(&leaf.state, leaf.to_play, legal, &x.key_options, leaf.max_history, leaf.key)
        slot = cache_find(&x.cache, leaf.key, x.ownership)
        if slot != NULL and slot.n_priors == node.n_priors:
            x.cache_hits += 1
            cache_load(&x.cache, slot, &x.tree, node, leaf.state.geo, leaf.turn, &leaf.cached)
            leaf.n_rows = 0
            if x.defer_hits and leaf.path.depth:
                return WALK_LEAF
            set_estimate(&x.tree, node, &leaf.cached)
            backup(&x.tree, &leaf.path, True)
            return WALK_DONE
    leaf.n_rows = 1
    leaf.symmetry = leaf.turn if leaf.turn else x.fixed_symmetry
    if leaf.path.depth == 0 and x.root_symmetries > 1:
        leaf.n_rows = x.root_symmetries
    if x.symmetry_mode == SYMMETRY_RANDOM:
        leaf.symmetry = rng_next(&x.rng) % leaf.state.geo.n_symmetries
    elif x.symmetry_mode == SYMMETRY_AVERAGE:
        leaf.n_rows = leaf.state.geo.n_symmetries
    if leaf.n_rows > leaf.state.geo.n_symmetries:
        leaf.n_rows = leaf.state.geo.n_symmetries
    return WALK_LEAF
