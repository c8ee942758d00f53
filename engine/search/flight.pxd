"""One batch on its way to the evaluator and back."""

from engine.board.ladder cimport LadderCache

from .leaf cimport Outputs
from .walk cimport Batch, Context

cdef enum:
    MAX_SHARES = 8             # threads that encode and expand the leaves of one batch

cdef class Flight:
    cdef Batch batch
    cdef Context* x            # of the call under way, for the threads that share it
    cdef Outputs out
    cdef LadderCache* ladders[8]   # one a share; the first share has the search's own
    cdef object spatial        # [rows, C, H, W] and [rows, G], as the evaluator allocated them
    cdef object globals_
    cdef object ticket         # while an AsyncEvaluator works on it
    cdef object evaluation
    cdef double sent           # when, perf_counter
    cdef int rows              # rows handed over
    cdef int first             # row of the evaluation that belongs to the first of them
    cdef int encode(self, Context* x, bint pad) except -1                          # the batch into the arrays
    cdef int share_out(self, object work, int shares) except -1                    # all leaves, in several threads
    cdef int send(self, object evaluator, bint two_steps, bint ownership) except -1
    cdef int receive(self, object evaluator) except -1                             # wait for the evaluation
    cdef int take(self, Context* x, str name) except -1                            # the evaluation into the tree
    cdef int forget(self, Context* x, object evaluator) except -1                  # after an error
