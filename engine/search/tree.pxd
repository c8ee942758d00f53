"""One search tree: making and filling nodes, starting edges, backing up, proofs."""

from libc.stdint cimport uint16_t, uint32_t

from .arena cimport Arena
from .bias cimport BiasTable
from .graph cimport NodeTable
from .mean cimport MeanParams
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
    MeanParams mean            # how a node's figures come from its children's
    BiasTable bias
    bint sharing               # setting `graph`
    NodeTable table            # nodes by position, for it

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
    float value_error          # by which the net expects to be off in the short term; -1 where it does not say
    float score_error          # points

cdef uint32_t new_node(Tree* t, int to_play, int n_priors, bint ownership, int flags) noexcept nogil  # 0 = no memory
cdef void drop_node(Tree* t, uint32_t index) noexcept nogil                # the block alone: the node has no edges
cdef uint32_t child_of(const Tree* t, uint32_t index, int action) noexcept nogil  # 0 = that move has no node
cdef int start_edges(Tree* t, Node* node, int count) noexcept nogil        # let n_edges be count; -1 = no memory
cdef void fill_priors(Node* node, const float* probabilities) noexcept nogil  # by prior, actions in place: code, sort
cdef bint tells_errors(const Tree* t) noexcept nogil                       # whether the net said so of the root
cdef void weigh_own(const Tree* t, Node* node) noexcept nogil              # how much its own evaluation counts
cdef void set_estimate(const Tree* t, Node* node, const Estimate* estimate) noexcept nogil  # its own; first visit
cdef void mark_step(Tree* t, Path* path, uint32_t node, int edge) noexcept nogil  # append a step and mark it in flight
cdef void step_back(Tree* t, Path* path, int depth) noexcept nogil      # take the steps from that depth on back
cdef void unmark(Tree* t, Path* path, bint cut) noexcept nogil           # marks off; cut: the last edge loses its child
# The end of the path has one new visit worth its own evaluation (first: that visit is in its sums already).
cdef void backup(Tree* t, Path* path, bint first) noexcept nogil
cdef void count_steps(Tree* t, Path* path) noexcept nogil   # one visit more for each step, none for the end; not plain
cdef void prove_up(Tree* t, Path* path) noexcept nogil                     # the end of the path is proven
cdef void reweigh(Tree* t, Node* node) noexcept nogil          # its figures anew from its children's and its own
cdef void clear_tree(Tree* t) noexcept nogil
cdef void sort_priors(Prior* priors, int n) noexcept nogil
cdef double own_utility(const Tree* t, const Node* node) noexcept nogil      # of the node's own evaluation, bias taken off
# Figures of one more visit to a proven node, to_play's view: its proof, with the score it has had on average.
cdef double settle(
    const Tree* t, const Node* node, double* value, double* score, double* score_sq, double* lead) noexcept nogil
