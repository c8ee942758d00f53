"""Areas and scores: Benson's pass-alive analysis, area as the encodings and Tromp-Taylor see it, independent life, and
the score of a position given dead stones. Works on colors alone, so that any board can be asked."""

from .geometry cimport Geometry
from .go cimport GoState
from .types cimport MAX_POINTS, uint8_t

# out[point] = BLACK, WHITE or EMPTY. Pass-alive chains and the territory they enclose (docs/nets.md §2.3).
cdef void pass_alive_area(const GoState* s, bint suicide, uint8_t* out) noexcept nogil
# As planes 18/19 of V7 under area scoring without tax: pass-alive area, other stones outside it, and empty regions that
# touch one color only.
cdef void full_area(const GoState* s, bint suicide, uint8_t* out) noexcept nogil
# Independent-life area (docs/nets.md §2.3); returns white minus black regions (for the group tax, times two).
cdef int independent_life_area(
    const GoState* s, bint suicide, bint keep_territories, bint keep_stones, uint8_t* out) noexcept nogil
# Tromp-Taylor: out[point] = owner if stone, or empty region that reaches one color only. Returns black minus white.
cdef int tromp_taylor_area(const GoState* s, uint8_t* out) noexcept nogil
# What White gets beside the board: komi, handicap bonus, and half a point for or against it where the button is taken.
cdef double white_bonus(const GoState* s) noexcept nogil

# The same on bare colors by padded point (walls as in geo.empty_board); out has geo.n_points entries.
cdef void colors_pass_alive(const Geometry* geo, const uint8_t* color, bint suicide, uint8_t* out) noexcept nogil
cdef void colors_full_area(const Geometry* geo, const uint8_t* color, bint suicide, uint8_t* out) noexcept nogil
cdef int colors_independent_life(
    const Geometry* geo, const uint8_t* color, bint suicide, bint keep_territories, bint keep_stones, uint8_t* out
) noexcept nogil
cdef int colors_tromp_taylor(const Geometry* geo, const uint8_t* color, uint8_t* out) noexcept nogil
