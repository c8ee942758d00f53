"""Which empty points are territory once dead stones are off the board, with and without a seki tax."""

from .geometry cimport Geometry
from .types cimport int16_t, uint8_t

# Number the connected sets of equal BLACK or WHITE entries from 1, 0 elsewhere; size[number] = points in it.
cdef void label(const Geometry* geo, const uint8_t* color, int16_t* label_of, int16_t* size) noexcept nogil
# On entry territory[point] = owner of an empty point that reaches one color only, EMPTY for dame and stones; takes away
# what a seki tax takes: lone eyes in seki, and points that must be filled to connect once the dame are gone.
cdef void drop_false_territory(const Geometry* geo, const uint8_t* color, uint8_t* territory) noexcept nogil
