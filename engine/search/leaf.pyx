"""From leaves to evaluated nodes: the batch's memory, encoding, and taking an evaluator's answer into the tree.

Masking and the softmax over the legal moves happen here, as does the way back from a symmetry: an evaluator sees
neither.
"""

from libc.math cimport expf, isfinite
from libc.stdint cimport int16_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from engine.board.go cimport go_free
from engine.board.ladder cimport LadderCache
from engine.board.planes cimport EncodeOptions, encode, encoding_global, encoding_spatial
from engine.board.types cimport MAX_ACTIONS, MAX_POINTS

from .cache cimport cache_store
from .graph cimport table_remove
from .node cimport NODE_OWNERSHIP, OWNERSHIP_SCALE, Node, Prior, node_at, node_ownership, node_priors
from .tree cimport Estimate, Path, backup, drop_node, fill_priors, set_estimate, unmark
from .walk cimport MAX_COLLISIONS, Batch, Context, Leaf


cdef int batch_open(Batch* b, int cap) noexcept nogil:
    memset(b, 0, sizeof(Batch))
    b.leaves = <Leaf*> calloc(cap, sizeof(Leaf))
    b.collided = <Path*> calloc(MAX_COLLISIONS, sizeof(Path))
    if b.leaves == NULL or b.collided == NULL:
        batch_close(b)
        return -1
    b.cap = cap
    return 0


cdef void batch_close(Batch* b) noexcept nogil:
    cdef int i
    for i in range(b.cap):
        go_free(&b.leaves[i].state)
    free(b.leaves)
    free(b.collided)
    memset(b, 0, sizeof(Batch))


cdef void encode_leaves(
    const Context* x, const Batch* b, int begin, int end, LadderCache* ladders, float* spatial, float* globals_
) noexcept nogil:
    cdef size_t spatial_row = <size_t> encoding_spatial(x.encoding) * x.tree.area
    cdef size_t global_row = encoding_global(x.encoding)
    cdef EncodeOptions options = x.encode_options
    cdef const Leaf* leaf
    cdef int i, r
    for i in range(begin, end):
        leaf = &b.leaves[i]
        options.max_history = leaf.max_history
        for r in range(leaf.n_rows):
            options.symmetry = row_symmetry(leaf, r)
            encode(
                x.encoding, &leaf.state, leaf.to_play, &options, ladders,
                spatial + (leaf.row + r) * spatial_row, globals_ + (leaf.row + r) * global_row)


cdef inline int row_symmetry(const Leaf* leaf, int r) noexcept nogil:
    return (leaf.symmetry + r) % leaf.state.geo.n_symmetries


cdef int outputs_finite(const Context* x, const Batch* b, const Outputs* out) noexcept nogil:
    """Return -1 if a value, score or logit of the batch is not a number, else 0."""
    cdef int i
    for i in range(b.rows):
        if not isfinite(out.value[i]):
            return -1
        if out.score_mean != NULL and not isfinite(out.score_mean[i]):
            return -1
        if out.lead != NULL and not isfinite(out.lead[i]):
            return -1
        if out.value_error != NULL and not isfinite(out.value_error[i]):
            return -1
        if out.score_error != NULL and not isfinite(out.score_error[i]):
            return -1
    for i in range(b.rows * (x.tree.area + 1)):
        if not isfinite(out.logits[i]):
            return -1
    return 0


cdef void fill_leaves(const Context* x, const Batch* b, int begin, int end, const Outputs* out) noexcept nogil:
    cdef const Leaf* leaf
    cdef Node* node
    cdef int i
    for i in range(begin, end):
        leaf = &b.leaves[i]
        node = node_at(&x.tree.arena, leaf.node)
        if leaf.n_rows == 0:
            set_estimate(&x.tree, node, &leaf.cached)
        else:
            fill_node(x, leaf, node, out)


cdef void back_up_leaves(Context* x, Batch* b) noexcept nogil:
    cdef Leaf* leaf
    cdef Node* node
    cdef int i
    for i in range(b.n):
        leaf = &b.leaves[i]
        if leaf.n_rows:
            x.evaluations += 1
            if x.cache.n_buckets:
                node = node_at(&x.tree.arena, leaf.node)
                cache_store(&x.cache, leaf.key, &x.tree, node, leaf.state.geo, leaf.turn)
        backup(&x.tree, &leaf.path, True)
        if leaf.path.depth:
            x.playouts += 1
    b.n = 0
    b.rows = 0


cdef void fill_node(const Context* x, const Leaf* leaf, Node* node, const Outputs* out) noexcept nogil:
    """Average the leaf's rows into its node: masked softmax over the legal moves, value, score, ownership."""
    cdef float[MAX_ACTIONS] probabilities
    cdef float[MAX_POINTS] owner
    cdef Estimate e
    cdef Prior* priors = node_priors(node)
    cdef int16_t* ownership
    cdef int n = leaf.n_rows
    cdef int area = x.tree.area
    cdef int r, i, row
    cdef float share = 1.0 / n
    cdef const int16_t* table
    memset(&probabilities[0], 0, node.n_priors * sizeof(float))
    memset(&owner[0], 0, area * sizeof(float))
    memset(&e, 0, sizeof(Estimate))
    for r in range(n):
        row = leaf.row + r
        table = &leaf.state.geo.symmetry[row_symmetry(leaf, r)][0]
        add_softmax(
            priors, node.n_priors, out.logits + <size_t> row * (area + 1), table, x.policy_scale, share,
            &probabilities[0])
        e.value += share * out.value[row]
        if out.score_mean != NULL:
            e.score_mean += share * out.score_mean[row]
        if out.score_stdev != NULL:
            e.score_stdev += share * out.score_stdev[row]
        if out.lead != NULL:
            e.lead += share * out.lead[row]
        e.value_error += share * out.value_error[row] if out.value_error != NULL else -share
        e.score_error += share * out.score_error[row] if out.score_error != NULL else 0.0
        if out.ownership != NULL and node.flags & NODE_OWNERSHIP:
            for i in range(area):
                owner[i] += share * out.ownership[<size_t> row * area + table[i]]
    fill_priors(node, &probabilities[0])
    if node.flags & NODE_OWNERSHIP:
        ownership = node_ownership(node)
        for i in range(area):
            ownership[i] = <int16_t> (owner[i] * OWNERSHIP_SCALE)
    set_estimate(&x.tree, node, &e)


cdef void add_softmax(
    const Prior* priors, int n, const float* logits, const int16_t* table, float scale, float share,
    float* probabilities
) noexcept nogil:
    """Add share * softmax of scale * logits over the n legal actions; table says where an action stands in the row."""
    cdef float[MAX_ACTIONS] e
    cdef float highest = -1e30
    cdef float total = 0.0
    cdef float x
    cdef int i
    for i in range(n):
        x = scale * logits[table[priors[i].action]]
        e[i] = x
        if x > highest:
            highest = x
    for i in range(n):
        e[i] = expf(e[i] - highest)
        total += e[i]
    for i in range(n):
        probabilities[i] += share * e[i] / total


cdef void cancel(Context* x, Batch* b) noexcept nogil:
    cdef Leaf* leaf
    cdef int i
    for i in range(b.n):
        leaf = &b.leaves[i]
        if leaf.place:
            table_remove(&x.tree.table, leaf.place)
        unmark(&x.tree, &leaf.path, True)
        drop_node(&x.tree, leaf.node)
        if leaf.path.depth == 0:
            x.tree.root = 0
    b.n = 0
    b.rows = 0
