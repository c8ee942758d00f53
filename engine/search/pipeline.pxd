"""Batches on their way between one tree and one evaluator."""

from libc.stdint cimport int64_t

from .flight cimport Flight
from .walk cimport Context

cdef class Pipeline:
    cdef readonly object evaluator
    cdef list flights            # Flight; two or more if the evaluator takes them in two steps
    cdef object shape            # what the flights were made for
    cdef int leaves              # most leaves in a batch
    cdef int fixed_size          # batch_size of the settings
    cdef bint pad
    cdef double row_limit        # seconds that what is in flight may take; 0 = no matter
    cdef double row_cap          # leaves that a batch may have for that; grows and shrinks with what batches took
    cdef double last_answer      # when the last batch came back, perf_counter
    cdef double travel           # seconds from the sending of a batch to its answer, a running mean
    cdef double select_seconds
    cdef double encode_seconds
    cdef double net_seconds      # handing over and waiting
    cdef double backup_seconds
    cdef int64_t batches
    cdef int restart(self) except -1
    cdef int allocate(self, Context* x, object params, bint seeded) except -1
    cdef int gather_into(self, Context* x, Flight flight, int want, int64_t most) except -1
    cdef int want(self, Context* x, int others) except -1
    cdef int send(self, Context* x, Flight flight) except -1
    cdef int receive(self, Context* x, Flight flight) except -1
    cdef int time_batch(self, int rows) except -1
    cdef int forget(self, Context* x) except -1
