"""The ladder reader of the V7 planes 14..17 (NETFORMATS.md §2, "Ladder reader")."""

from .go cimport GoState
from .types cimport MAX_POINTS, int16_t, uint8_t, uint64_t

ctypedef struct LadderCache  # opaque: scratch boards and a hash-keyed table of finished readings; one a thread

cdef LadderCache* ladder_cache_new() except NULL
cdef void ladder_cache_free(LadderCache* cache) noexcept nogil
# in_ladder[point] = 1 for every stone of a chain that can be captured in a ladder now; works[point] = 1 for moves that
# start a working ladder against a chain of the color `target` that has more than one liberty (pass works = NULL to skip).
cdef void ladder_stones(
    LadderCache* cache, const GoState* s, int target, uint8_t* in_ladder, uint8_t* works) noexcept nogil
