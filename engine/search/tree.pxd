"""One search tree: making and filling nodes, starting edges, backing up, proofs, and what happens when the root moves."""

from libc.stdint cimport int16_t, uint16_t, uint32_t, uint64_t

from .arena cimport Arena
from .node cimport Node, Prior
from .utility cimport UtilityParams

cdef enum:
    MAX_DEPTH = 1000           # a walk longer than that ends where it is

ctypedef struct Tree:
    Arena arena
    UtilityParams utility
    uint32_t root              # 0 = empty
    int area
    bint prove                 # back proofs up

# A walk from the root: step i leaves node[i] through its edge[i] for node[i + 1]; node[depth] is the end.
ctypedef struct Path:
    uint32_t node[1001]
    uint16_t edge[1001]
    int depth

# An evaluation of one position as the tree takes it, to_play's view.
ctypedef struct Estimate:
    float value
    float score_mean
    float score_stdev
    float lead

cdef uint32_t new_node(Tree* t, int to_play, int n_priors, bint ownership, int flags) noexcept nogil    # 0 = no memory
cdef void drop_node(Tree* t, uint32_t index) noexcept nogil                # the block alone: the node has no edges
cdef int start_edges(Tree* t, Node* node, int count) noexcept nogil        # let n_edges be count; -1 = no memory
cdef void fill_priors(Node* node, const float* probabilities) noexcept nogil  # by prior index, actions in place: code and sort
cdef void set_estimate(Tree* t, Node* node, const Estimate* estimate) noexcept nogil  # own evaluation, first visit
cdef void mark_step(Tree* t, Path* path, uint32_t node, int edge) noexcept nogil  # append a step and mark it in flight
cdef void unmark(Tree* t, Path* path, bint cut) noexcept nogil             # take the marks off; cut: the last edge loses its child
# The end of the path has one new visit worth its own evaluation (first: that visit is in its sums already).
cdef void backup(Tree* t, Path* path, bint first) noexcept nogil
cdef void prove_up(Tree* t, Path* path) noexcept nogil                     # the end of the path is proven
cdef int keep_subtree(Tree* t, uint32_t root) noexcept nogil               # new root, all else freed; -1 = no memory, nothing done
cdef void clear_tree(Tree* t) noexcept nogil
cdef int retally(Tree* t) noexcept nogil                                   # utilities anew after a change of t.utility; -1 = no memory
cdef void sort_priors(Prior* priors, int n) noexcept nogil
cdef uint64_t tree_signature(const Tree* t) noexcept nogil
cdef uint64_t tree_in_flight(const Tree* t) noexcept nogil                 # marks anywhere in the tree: 0 between searches
