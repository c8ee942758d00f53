"""Which edge a walk takes next: PUCT with a first-play urgency, on a prefix of edges or over all priors."""

from libc.stdint cimport uint8_t, uint64_t

from .arena cimport Arena
from .node cimport Node

ctypedef struct SelectParams:
    double cpuct
    double cpuct_log
    double cpuct_base
    double fpu_reduction
    double root_fpu_reduction
    double fpu_mean_power
    double stdev_scale         # 0: exploration does not follow the spread of utilities
    double stdev_prior
    double move_mass           # only the first priors that reach this sum may be started, the one that does included
    int move_count             # and no more than so many
    bint weighed               # visits count by the weight of what they found (setting `uncertainty`)
    double virtual_loss        # utility taken off for a walk in flight, as a share of one lost visit
    bint always_full           # tests: use select_full everywhere

# What changes a node's choice beyond its own figures; all NULL / 0 where nothing does.
ctypedef struct Scan:
    const float* priors        # by prior index, in place of the stored ones
    const uint8_t* banned      # by action: not to be chosen
    double wide_noise          # scale of the random bonus
    uint64_t* rng

# Index of the edge to take; equal to node.n_edges: start the next prior. The node has priors.
cdef int select_edge(const Arena* a, Node* node, const SelectParams* p, bint is_root) noexcept nogil
# The same over every prior, so that the answer can lie beyond n_edges: start all edges up to it. -1: all are banned.
cdef int select_full(const Arena* a, Node* node, const SelectParams* p, bint is_root, const Scan* scan) noexcept nogil
