"""One row of a batch under encoding: where the planes of a position go, and the ways to write them."""

from .bits cimport lowest_bit
from .geometry cimport Geometry
from .types cimport BIT_WORDS, int16_t, uint64_t

ctypedef struct Row:
    # Where the planes of one position go.
    float* out
    const int16_t* cell     # action -> cell, the symmetry's
    const Geometry* geo


cdef inline void mark(const Row* row, int plane, int point) noexcept nogil:
    row.out[plane * row.geo.area + row.cell[row.geo.action_of_point[point]]] = 1


cdef inline void put(const Row* row, int plane, int point, float value) noexcept nogil:
    row.out[plane * row.geo.area + row.cell[row.geo.action_of_point[point]]] = value


cdef inline void fill(const Row* row, int plane) noexcept nogil:
    cdef int i
    for i in range(row.geo.area):
        row.out[plane * row.geo.area + i] = 1


cdef inline void mark_bits(const Row* row, int plane, const uint64_t* bits) noexcept nogil:
    cdef int word
    cdef uint64_t rest
    for word in range(BIT_WORDS):
        rest = bits[word]
        while rest != 0:
            mark(row, plane, 64 * word + lowest_bit(rest))
            rest &= rest - 1
