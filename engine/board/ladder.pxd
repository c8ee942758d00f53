"""The ladder reader of the V7 planes 14..17 (docs/nets.md §2.4) and its table of finished readings."""

from .geometry cimport Geometry
from .go cimport GoState
from .ladder_board cimport LadderBoard
from .types cimport BIT_WORDS, uint8_t, uint64_t

cdef enum:
    LADDER_BUDGET = 25000   # nodes of one reading; one that needs more, or LADDER_DEPTH moves, counts as captured
    LADDER_SLOTS = 4096     # finished positions a cache remembers, a power of two

ctypedef struct LadderReading:
    uint64_t key                        # 0 = free
    uint64_t in_ladder[BIT_WORDS]       # stones, of both colors, that can be captured in a ladder now
    uint64_t works[2][BIT_WORDS]        # [target - 1]: see ladder_read
    uint8_t has_works[2]                # whether works[target - 1] has been read

ctypedef struct LadderCache:  # one a thread
    LadderBoard board
    uint64_t hits
    uint64_t misses
    LadderReading slot[LADDER_SLOTS]

cdef LadderCache* ladder_cache_new() except NULL
cdef void ladder_cache_free(LadderCache* cache) noexcept nogil
cdef void ladder_cache_clear(LadderCache* cache) noexcept nogil

# The reading of one position: hash is the xor of its stones' keys, ko its simple-ko point or NO_POINT, colors its
# padded board. works[target - 1] = moves that start a working ladder against a chain of the color `target` that has two
# liberties; target EMPTY asks for in_ladder alone. ladder_find gives NULL where the table does not know. The answer
# lives until the next ladder_read of this cache.
cdef const LadderReading* ladder_find(
    LadderCache* cache, const Geometry* geo, uint64_t hash, int ko, int target) noexcept nogil
cdef const LadderReading* ladder_read(
    LadderCache* cache, const Geometry* geo, const uint8_t* colors, uint64_t hash, int ko, int target) noexcept nogil
