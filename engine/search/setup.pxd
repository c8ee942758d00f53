"""Settings put into the structs of a search."""

from libc.stdint cimport uint64_t

from .walk cimport Context

cdef int apply_evaluator(Context* x, object evaluator) except -1     # encoding, and what of a position it reads
cdef int apply_params(Context* x, object params, bint seeded) except -1
cdef int apply_board(Context* x, object params) except -1            # what depends on the board's size too
cdef int apply_limits(Context* x, tuple limits) except -1            # moves to avoid or allow
cdef uint64_t salt(Context* x, object identity, object evaluator) except? 0
