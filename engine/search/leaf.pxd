"""What happens to a batch of leaves: encoded, evaluated, taken into the tree, or forgotten."""

from .walk cimport Batch, Context

# One row of an evaluator's answer after another; NULL where it gives nothing.
ctypedef struct Outputs:
    const float* logits        # [rows, area + 1]
    const float* value
    const float* score_mean
    const float* score_stdev
    const float* lead
    const float* ownership     # [rows, area]

cdef int batch_open(Batch* b, int cap) noexcept nogil                        # -1 = no memory
cdef void batch_close(Batch* b) noexcept nogil
cdef int encode_batch(Context* x, Batch* b, float* spatial, float* globals_) noexcept nogil   # returns the rows
cdef int outputs_finite(const Context* x, const Batch* b, const Outputs* out) noexcept nogil  # -1: one is not
cdef void take_in(Context* x, Batch* b, const Outputs* out) noexcept nogil   # expand and back up every leaf
cdef void cancel(Context* x, Batch* b) noexcept nogil                       # forget the leaves, their marks too
