"""Fills the Zobrist tables when the module is first imported."""

cdef uint64_t[MAX_POINTS][4] zobrist_stone
cdef uint64_t[4] zobrist_to_play


cdef uint64_t splitmix64(uint64_t* state) noexcept nogil:
    # Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
    cdef uint64_t z
    state[0] = state[0] + <uint64_t>0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


cdef void fill_tables() noexcept nogil:
    cdef uint64_t state = 0x4B65697365690001
    cdef int point, color
    for point in range(MAX_POINTS):
        for color in range(4):
            zobrist_stone[point][color] = splitmix64(&state)
    for color in range(4):
        zobrist_to_play[color] = splitmix64(&state)


fill_tables()
