"""Benson's analysis for one side: its pass-alive chains and the territory of the region rules of the planes."""

from .geometry cimport Geometry
from .types cimport uint8_t

# Write `owner` into out[point] (geo.n_points entries, EMPTY where nobody has written yet) for its pass-alive chains and
# its territory; with unsafe_big also for empty regions that touch the owner's stones only, where out is EMPTY.
cdef void mark_owned(
    const Geometry* geo, const uint8_t* color, int owner, bint suicide, bint unsafe_big, uint8_t* out) noexcept nogil
