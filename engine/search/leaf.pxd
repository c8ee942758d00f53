"""What happens to a batch of leaves: encoded, evaluated, taken into the tree, or forgotten."""

from engine.board.ladder cimport LadderCache

from .walk cimport Batch, Context

# One row of an evaluator's answer after another; NULL where it gives nothing.
ctypedef struct Outputs:
    const float* logits        # [rows, area + 1]
    const float* value
    const float* score_mean
    const float* score_stdev
    const float* lead
    const float* value_error   # asked for with `uncertainty` alone
    const float* score_error
    const float* ownership     # [rows, area]

cdef int batch_open(Batch* b, int cap) noexcept nogil                        # -1 = no memory
cdef void batch_close(Batch* b) noexcept nogil
# Write the rows of the leaves begin..end-1. Several threads may encode parts of a batch, each with a cache of its own.
cdef void encode_leaves(
    const Context* x, const Batch* b, int begin, int end, LadderCache* ladders, float* spatial, float* globals_
) noexcept nogil
cdef int outputs_finite(const Context* x, const Batch* b, const Outputs* out) noexcept nogil  # -1: one is not
# Expand the leaves begin..end-1; as above. back_up_leaves then does for all of them what only one thread may.
cdef void fill_leaves(const Context* x, const Batch* b, int begin, int end, const Outputs* out) noexcept nogil
cdef void back_up_leaves(Context* x, Batch* b) noexcept nogil
cdef void cancel(Context* x, Batch* b) noexcept nogil                       # forget the leaves, their marks too
