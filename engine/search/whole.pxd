"""What goes over a whole tree at once; each call costs time in proportion to its nodes."""

from libc.stdint cimport uint32_t, uint64_t

from .tree cimport Tree

cdef int keep_subtree(Tree* t, uint32_t root) noexcept nogil   # new root, all else freed; -1 = no memory, nothing done
cdef int retally(Tree* t) noexcept nogil                       # utilities anew after t.utility changed; -1 = no memory
cdef uint64_t tree_signature(const Tree* t) noexcept nogil
# Least and greatest of what a pattern's weight is more than its nodes' words; without reuse both are 0.
cdef int bias_slack(const Tree* t, double* least, double* most) noexcept nogil               # -1 = no memory
cdef uint64_t tree_in_flight(const Tree* t) noexcept nogil     # marks anywhere: 0 between searches
