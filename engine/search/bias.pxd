"""How far the net was off in local patterns of one tree: a table from a pattern to a mean error."""

from libc.stdint cimport uint32_t, uint64_t

from engine.board.go cimport GoState

ctypedef struct Bias:
    uint64_t key
    double error_sum           # of what searches found less what the net had said, times weight; the mover's view
    double weight_sum

ctypedef struct BiasTable:
    Bias* items                # by number; 0 is none
    uint32_t n                 # numbers in use are 1..n-1 (n = 0: no memory held)
    uint32_t cap
    uint32_t* slots            # open addressing, numbers; 0 = empty
    uint32_t n_slots           # a power of two, at least twice cap

# Key of a move about to be played: who, where, after which move, ko, and the 5x5 points around with chains in atari.
cdef uint64_t pattern_key(const GoState* s, int point, int color) noexcept nogil
cdef uint32_t bias_number(BiasTable* b, uint64_t key, uint64_t most_bytes) noexcept nogil   # 0: no memory for a new one
cdef void bias_clear(BiasTable* b) noexcept nogil
cdef uint64_t bias_bytes(const BiasTable* b) noexcept nogil
cdef void bias_fade(BiasTable* b, double share) noexcept nogil        # all sums times share
# Drop the patterns with keep[number] = 0 and write the new numbers of the others into keep.
cdef void bias_compact(BiasTable* b, uint32_t* keep) noexcept nogil

cdef inline void bias_add(BiasTable* b, uint32_t number, double error, double weight) noexcept nogil:
    b.items[number].error_sum += error * weight
    b.items[number].weight_sum += weight

cdef inline double bias_mean(const BiasTable* b, uint32_t number) noexcept nogil:
    """Return the mean error of a pattern, 0 where nothing is known."""
    if number == 0 or b.items[number].weight_sum < 0.001:
        return 0.0
    return b.items[number].error_sum / b.items[number].weight_sum
