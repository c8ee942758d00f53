"""The positions before the present one, read from the bit sets that a GoState keeps of the last plies.

`ago` counts plies back; the callers check that s.n_past > ago.
"""

from .go cimport GoState
from .types cimport uint8_t, uint64_t

cdef uint64_t hash_change(const GoState* s, int ago) noexcept nogil          # hash `ago` plies ago xor hash ago - 1 plies ago
cdef int past_ko(const GoState* s, int ago) noexcept nogil                   # simple-ko point then, else NO_POINT; ago in 1..6
cdef void past_colors(const GoState* s, int ago, uint8_t* colors) noexcept nogil  # colors by padded point, walls included
