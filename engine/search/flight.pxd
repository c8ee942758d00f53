"""One batch on its way to the evaluator and back."""

from .leaf cimport Outputs
from .walk cimport Batch, Context

cdef class Flight:
    cdef Batch batch
    cdef object spatial        # [rows, C, H, W] and [rows, G], as the evaluator allocated them
    cdef object globals_
    cdef object ticket         # while an AsyncEvaluator works on it
    cdef object evaluation
    cdef int rows              # rows handed over
    cdef int first             # row of the evaluation that belongs to the first of them
    cdef int encode(self, Context* x, bint pad) except -1                          # the batch into the arrays
    cdef int send(self, object evaluator, bint two_steps, bint ownership) except -1
    cdef int receive(self, object evaluator) except -1                             # wait for the evaluation
    cdef int take(self, Context* x, str name) except -1                            # the evaluation into the tree
    cdef int forget(self, Context* x, object evaluator) except -1                  # after an error
