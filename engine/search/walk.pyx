"""Walks from the root to a leaf, and what becomes of the leaf.

A walk plays its moves on the leaf's own scratch state, a copy of the root's. It ends at a position not seen before (a
new node, evaluated in the batch or found in the cache), at the end of a game or a decided node (backed up at once), or
at a node that is already in the batch (a collision: its marks stay until the batch is full, so that the next walk goes
another way, and are then taken off). One thread does all this; the evaluator is asked between gathering and taking in.
"""

from libc.stdint cimport int16_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset

from engine.board.go cimport GoState, go_copy, go_legal_mask, go_pass_ends, go_play, go_repeats
from engine.board.types cimport BLACK, EMPTY, KO_SIMPLE, MAX_ACTIONS, MAX_POINTS

from .bias cimport bias_number, pattern_key
from .cache cimport Slot, cache_find, cache_load, position_key
from .node cimport (
    NODE_OWNERSHIP, NODE_PENDING, NODE_TERMINAL, OWNERSHIP_SCALE, PROVEN_DRAW, PROVEN_LOSS, PROVEN_WIN, UNPROVEN, Node,
    Prior, node_at, node_edges, node_ownership, node_priors,
)
from .rng cimport rng_next
from .select cimport Scan, select_edge, select_full
from .terminal cimport settled_score
from .tree cimport (
    MAX_DEPTH, Estimate, Tree, backup, mark_step, new_node, prove_up, set_estimate, start_edges, unmark,
)

cdef enum:
    BIAS_PART = 16             # part of the tree's memory that patterns may hold besides

cdef enum:
    WALK_LEAF = 1              # the leaf waits for the evaluator
    WALK_DONE = 2              # backed up
    WALK_COLLISION = 3
    WALK_FULL = 4              # no memory: marks taken off


cdef bint ban_mask(const Context* x, int depth, int color, uint8_t* banned) noexcept nogil:
    """Fill banned[action] for a node that many plies from the root. Return whether any entry speaks of it."""
    cdef const MoveLimit* limit
    cdef int i, action
    cdef int area = x.tree.area
    cdef bint any_ = False
    for i in range(x.n_limits):
        limit = &x.limits[i]
        if limit.color != color or depth >= limit.until:
            continue
        if not any_:
            memset(banned, 0, area + 1)
            any_ = True
        for action in range(area + 1):
            if limit.allow != limit.actions[action]:
                banned[action] = 1
    return any_


cdef int choose_edge(Context* x, Node* node, int depth) noexcept nogil:
    cdef Scan scan
    cdef uint8_t[MAX_ACTIONS] banned
    cdef int edge
    scan.banned = NULL
    if x.n_limits and ban_mask(x, depth, node.to_play, &banned[0]):
        scan.banned = &banned[0]
    if scan.banned == NULL and (depth > 0 or (x.root_priors == NULL and x.wide_noise == 0.0)):
        return select_edge(&x.tree.arena, node, &x.select, depth == 0)
    scan.priors = x.root_priors if depth == 0 else NULL
    scan.wide_noise = x.wide_noise if depth == 0 else 0.0
    scan.rng = &x.rng
    edge = select_full(&x.tree.arena, node, &x.select, depth == 0, &scan)
    if edge < 0:  # every legal move is banned: then none is
        edge = select_edge(&x.tree.arena, node, &x.select, depth == 0)
    return edge


cdef int walk(Context* x, Leaf* leaf) except -1 nogil:
    cdef Tree* t = &x.tree
    cdef GoState* s = &leaf.state
    cdef uint32_t index = t.root
    cdef uint32_t child
    cdef Node* node
    cdef int edge, action
    cdef int color = x.root_color
    leaf.path.depth = 0
    go_copy(s, &x.root_state)
    while True:
        node = node_at(&t.arena, index)
        leaf.path.node[leaf.path.depth] = index
        if node.flags & NODE_PENDING:
            return WALK_COLLISION
        if leaf.path.depth and (
            node.flags & NODE_TERMINAL or node.proven != UNPROVEN or leaf.path.depth >= MAX_DEPTH
        ):
            backup(t, &leaf.path, False)
            x.terminals += 1
            return WALK_DONE
        edge = choose_edge(x, node, leaf.path.depth)
        if edge >= node.n_edges and start_edges(t, node, edge + 1) < 0:
            return out_of_memory(x, leaf)
        action = node_priors(node)[edge].action
        child = node_edges(&t.arena, node)[edge].child
        mark_step(t, &leaf.path, index, edge)
        if child == 0 and t.mean.bias_share != 0.0:
            leaf.pattern = pattern_key(s, s.geo.point_of_action[action], color)
        go_play(s, s.geo.point_of_action[action], color)
        color = 3 - color
        if child == 0:
            leaf.to_play = color
            return new_leaf(x, leaf, action == t.area)
        index = child


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
        node_edges(&x.tree.arena, parent)[leaf.path.edge[leaf.path.depth - 1]].child = leaf.node
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
    if attach(x, leaf, n, NODE_PENDING) < 0:
        return out_of_memory(x, leaf)
    priors = node_priors(node_at(&x.tree.arena, leaf.node))
    for action in range(x.tree.area + 1):
        if legal[action]:
            priors[i].action = action
            priors[i].code = 0
            i += 1
    return look_up(x, leaf, &legal[0])


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
            cache_load(slot, &x.tree, node, leaf.state.geo, leaf.turn)
            leaf.n_rows = 0
            leaf.cached = slot.estimate
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


cdef void add_leaf(Batch* b) noexcept nogil:
    b.leaves[b.n].row = b.rows
    b.rows += b.leaves[b.n].n_rows
    b.n += 1


cdef int begin_root(Context* x, Batch* b) except -1 nogil:
    cdef Leaf* leaf = &b.leaves[0]
    cdef int result
    b.n = 0
    b.rows = 0
    b.n_collided = 0
    leaf.path.depth = 0
    leaf.to_play = x.root_color
    leaf.max_history = x.history
    go_copy(&leaf.state, &x.root_state)
    if x.conservative_pass and (go_pass_ends(&leaf.state) or leaf.state.ended):
        leaf.max_history = 0
    result = open_leaf(x, leaf)
    if result == WALK_FULL:
        return 2
    x.playouts += 1
    if result == WALK_DONE:
        return 0
    add_leaf(b)
    return 1


cdef int gather(Context* x, Batch* b, int want, int max_rows, int64_t max_visits) except -1 nogil:
    """Walk until `want` leaves wait in b, or there is no more to do. Return how many walks were backed up at once."""
    cdef Tree* t = &x.tree
    cdef Node* root = node_at(&t.arena, t.root)
    cdef int per_leaf = root_rows(x)
    cdef int done = 0
    cdef int i, result
    b.n = 0
    b.rows = 0
    b.n_collided = 0
    if want > b.cap:
        want = b.cap
    while b.n < want and b.rows + per_leaf <= max_rows and done < 64 + want and not x.stop:
        if <int64_t> root.visits + root.in_flight >= max_visits or (root.proven != UNPROVEN and x.stop_when_proven):
            break
        result = walk(x, &b.leaves[b.n])
        if result == WALK_LEAF:
            add_leaf(b)
        elif result == WALK_DONE:
            x.playouts += 1
            done += 1
        elif result == WALK_COLLISION:
            x.collisions += 1
            b.collided[b.n_collided] = b.leaves[b.n].path
            b.n_collided += 1
            if b.n_collided == MAX_COLLISIONS or b.n_collided > want:
                break
        else:
            break
    for i in range(b.n_collided):
        unmark(t, &b.collided[i], False)
    b.n_collided = 0
    return done


cdef int root_rows(const Context* x) noexcept nogil:
    """Return how many rows a leaf takes."""
    return x.root_state.geo.n_symmetries if x.symmetry_mode == SYMMETRY_AVERAGE else 1
