"""The positions before the present one, read from the bit sets that a GoState keeps of the last plies.

`ago` counts plies back; the callers check that s.n_past > ago.
"""

from .go cimport GoState
from .types cimport uint8_t, uint64_t

# The hash then xor the hash one ply later.
cdef uint64_t hash_change(const GoState* s, int ago) noexcept nogil
# The simple-ko point then, else NO_POINT; ago in 1..6.
cdef int past_ko(const GoState* s, int ago) noexcept nogil
# Colors by padded point, walls included.
cdef void past_colors(const GoState* s, int ago, uint8_t* colors) noexcept nogil
