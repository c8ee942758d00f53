"""What is done at the root around a search: the moves played since, the centre of the score, its priors, its end."""

from libc.stdint cimport int64_t

from .walk cimport Context

# Move the tree's root along the moves played since `known`; color is to move then. Returns how many there were, -1 if
# the tree does not apply any more.
cdef int follow_moves(Context* x, list known, list moves, int color) except -2
# Set the centre of the dynamic score utility from what the root is worth, and bring the tree up to it.
cdef int recentre(Context* x, object params) except -1
# ([n_priors] float32, whether they are others than the tree's); sets wide_noise.
cdef tuple root_priors(Context* x, object params, object root, object rng)
cdef int64_t most_visits(Context* x, object limits) except -1    # the root's visits at which a search ends
# Why a search should end now, or an empty text; late: its time is up.
cdef str why_ended(Context* x, int64_t most, bint late, object stop_event)
