"""Who will own each point, as far as a search has seen."""

from libc.stdint cimport uint32_t

from .walk cimport Context

cdef tuple mean_ownership(Context* x, uint32_t start)
