"""A small random generator for compiled code: SplitMix64 (Steele, Lea, Flood 2014). The state is one word."""

from libc.math cimport M_PI, cos, log, sqrt
from libc.stdint cimport uint64_t

cdef inline uint64_t rng_next(uint64_t* state) noexcept nogil:
    cdef uint64_t z
    state[0] += <uint64_t> 0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)

cdef inline double rng_uniform(uint64_t* state) noexcept nogil:
    """Return a number in [0, 1)."""
    return <double> (rng_next(state) >> 11) * (1.0 / 9007199254740992.0)

cdef inline double rng_normal(uint64_t* state) noexcept nogil:
    cdef double u = 1.0 - rng_uniform(state)
    return sqrt(-2.0 * log(u)) * cos(2.0 * M_PI * rng_uniform(state))
