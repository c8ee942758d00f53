"""The inner loop: walks that gather the leaves of a batch, and the structs a search consists of. No GIL is needed."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from engine.board.go cimport GoState
from engine.board.ladder cimport LadderCache
from engine.board.planes cimport EncodeOptions

from .cache cimport EvalCache, KeyOptions
from .select cimport SelectParams
from .tree cimport Estimate, Path, Tree

cdef enum:
    MAX_LIMITS = 16            # avoid / allow entries
    MAX_COLLISIONS = 64

cdef enum:
    SYMMETRY_FIXED = 0
    SYMMETRY_RANDOM = 1
    SYMMETRY_AVERAGE = 2

cdef enum:                     # how a walk ends
    WALK_LEAF = 1              # the leaf waits for the evaluator
    WALK_DONE = 2              # backed up
    WALK_COLLISION = 3
    WALK_FULL = 4              # no memory: marks taken off

# One avoid or allow entry: until depth `until` (plies from the root), `color` may not (or may only) play these actions.
ctypedef struct MoveLimit:
    int color
    int until
    bint allow
    uint8_t actions[626]

# A leaf on its way: the walk that found it, the position there, and where its evaluation will stand in the batch.
ctypedef struct Leaf:
    Path path
    GoState state              # owned by the batch; keeps its key buffer
    uint32_t node
    uint64_t pattern           # key of the move that leads there, where the net's bias is kept
    int to_play
    int max_history
    int row                    # first row; as many rows as `n_rows`, one a symmetry
    int n_rows                 # 0: it came from the cache, with `cached` as its evaluation
    Estimate cached
    int symmetry               # of the first row; further rows count on
    int turn                   # symmetry that its key, and what the cache keeps, are of
    uint64_t key[2]
    bint own                   # no other way shares its node
    uint64_t place             # what its node is entered by in the table of positions; 0: it is not there

ctypedef struct Batch:
    Leaf* leaves
    int cap                    # leaves there is room for
    int n                      # leaves gathered
    int rows                   # rows they need
    Path* collided             # walks that ended at a pending node; their marks stay until the gathering ends
    int n_collided

ctypedef struct Context:
    Tree tree
    EvalCache cache
    SelectParams select
    GoState root_state
    LadderCache* ladders
    KeyOptions key_options
    KeyOptions place_options   # of what a node is known by, for `graph`
    EncodeOptions encode_options
    int encoding
    int history                # moves of history shown to the net
    int root_color
    bint conservative_pass
    bint ownership             # new nodes keep the evaluation's ownership
    int symmetry_mode
    int fixed_symmetry
    int root_symmetries
    float policy_scale         # 1 / temperature of the policy
    uint64_t rng
    MoveLimit limits[16]
    int n_limits
    float* root_priors         # by prior index, or NULL: the stored ones
    double wide_noise
    bint defer_hits            # a cache hit waits for its batch, so that the tree is the one without a cache
    int stop                   # set from any thread
    bint stop_when_proven
    bint memory_full
    # Counters of the present search.
    int64_t playouts
    int64_t evaluations        # leaves the evaluator saw
    int64_t cache_hits
    int64_t collisions
    int64_t terminals          # visits to a finished or decided end
    int64_t links              # edges that were led to a node of another way; these and catch_ups are visits too
    int64_t catch_ups          # visits that ended at a node with more visits than its edge
    int64_t partings           # nodes that gave way to one of a walk's own

cdef int begin_root(Context* x, Batch* b) except -1 nogil  # 1: a leaf of b; 0: from the cache; 2: no memory
# Fill b. Returns how many walks were backed up at once; the root's visits, with those in flight, stay <= max_visits.
cdef int gather(Context* x, Batch* b, int want, int max_rows, int64_t max_visits) except -1 nogil
cdef bint ban_mask(const Context* x, int depth, int color, uint8_t* banned) noexcept nogil
