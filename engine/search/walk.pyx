"""Walks from the root to a leaf; what becomes of the leaf is in grow.pyx.

A walk plays its moves on the leaf's own scratch state, a copy of the root's. It ends at a position not seen before (a
new node, evaluated in the batch or found in the cache), at the end of a game or a decided node (backed up at once), or
at a node that is already in the batch (a collision: its marks stay until the batch is full, so that the next walk goes
another way, and are then taken off). One thread does all this; the evaluator is asked between gathering and taking in.

With `graph` several ways may lead to one node. A walk that comes to a node with more visits than the edge it took ends
there: what the node knows counts for one visit more of the edge, and nothing is evaluated, until the edge has caught
up. Nodes below may have been made on another way, with another past. So from a shared node on (or from one that was
shared before moves were played) a walk asks of each move whether its own past allows it, and where superko closed moves
whether the same ones are open; under simple ko, whether a position that repeats does so here. If not, its way parts
from the others: the edge that leads into what is shared gets a new node, and the walk ends there.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memset

from engine.board.go cimport GoState, go_copy, go_is_legal, go_pass_ends, go_play, go_repeats
from engine.board.types cimport KO_SIMPLE, MAX_ACTIONS

from .bias cimport pattern_key
from .grow cimport new_leaf, open_leaf, out_of_memory, same_moves
from .node cimport (
    NODE_CLOSED, NODE_FOREIGN, NODE_PENDING, NODE_SHARED, NODE_TERMINAL, UNPROVEN, Edge, Node, edge_proof, node_at,
    node_edges, node_priors,
)
from .select cimport Scan, select_edge, select_full
from .tree cimport (
    MAX_DEPTH, Path, Tree, backup, count_steps, mark_step, prove_up, start_edges, step_back, unmark,
)

cdef enum:
    NOWHERE = -1


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
    cdef uint32_t child, before
    cdef Node* node
    cdef Edge* taken = NULL
    cdef int edge, action, point
    cdef int color = x.root_color
    cdef int shared = NOWHERE
    cdef bint checked = False
    leaf.path.depth = 0
    leaf.own = not t.sharing
    leaf.place = 0
    go_copy(s, &x.root_state)
    while True:
        node = node_at(&t.arena, index)
        leaf.path.node[leaf.path.depth] = index
        if node.flags & NODE_PENDING:
            return WALK_COLLISION
        if node.sharing & (NODE_SHARED | NODE_FOREIGN):
            checked = True
            if node.sharing & NODE_SHARED and shared == NOWHERE:
                shared = leaf.path.depth
        if leaf.path.depth and (
            node.flags & NODE_TERMINAL or node.proven != UNPROVEN or leaf.path.depth >= MAX_DEPTH
        ):
            backup(t, &leaf.path, False)
            if t.sharing and node.proven != UNPROVEN and (
                edge_proof(taken) == UNPROVEN or checked and shared == NOWHERE
            ):
                prove_up(t, &leaf.path)  # another way has proven it, or this one was shared when it did
            x.terminals += 1
            return WALK_DONE
        if checked and node.sharing & NODE_CLOSED and not same_moves(node, s):
            return part(x, leaf, shared)
        edge = choose_edge(x, node, leaf.path.depth)
        if edge >= node.n_edges and start_edges(t, node, edge + 1) < 0:
            return out_of_memory(x, leaf)
        action = node_priors(node)[edge].action
        point = s.geo.point_of_action[action]
        taken = &node_edges(&t.arena, node)[edge]
        child = taken.child
        if checked and not go_is_legal(s, point, color):
            return part(x, leaf, shared)
        before = taken.visits + taken.in_flight
        mark_step(t, &leaf.path, index, edge)
        if child == 0 and t.mean.bias_share != 0.0:
            leaf.pattern = pattern_key(s, point, color)
        go_play(s, point, color)
        color = 3 - color
        if child == 0:
            leaf.to_play = color
            return new_leaf(x, leaf, action == t.area)
        if t.sharing:
            node = node_at(&t.arena, child)
            if checked and s.rules.ko == KO_SIMPLE and action != t.area and not s.ended and (
                go_repeats(s) != (node.flags & NODE_TERMINAL != 0)
            ):
                return part(x, leaf, shared)
            if node.visits > before and node.proven == UNPROVEN:
                leaf.path.node[leaf.path.depth] = child
                count_steps(t, &leaf.path)
                x.catch_ups += 1
                return WALK_DONE
        index = child


cdef int part(Context* x, Leaf* leaf, int shared) except -1 nogil:
    """Give the way of this walk a node of its own where it enters what it shares, and end the walk there.

    The walk has found that its own past allows other moves than the tree has: at node[depth], which is put aside itself
    where nothing above it is shared (any more).
    """
    cdef Tree* t = &x.tree
    cdef GoState* s = &leaf.state
    cdef Path* path = &leaf.path
    cdef int depth = path.depth if shared == NOWHERE else shared
    cdef int color = x.root_color
    cdef int action = 0
    cdef int i
    step_back(t, path, depth)
    go_copy(s, &x.root_state)
    for i in range(depth):
        action = node_priors(node_at(&t.arena, path.node[i]))[path.edge[i]].action
        if i == depth - 1 and t.mean.bias_share != 0.0:
            leaf.pattern = pattern_key(s, s.geo.point_of_action[action], color)
        go_play(s, s.geo.point_of_action[action], color)
        color = 3 - color
    leaf.to_play = color
    leaf.own = True
    x.partings += 1
    return new_leaf(x, leaf, action == t.area)


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
    leaf.own = True
    leaf.place = 0
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
