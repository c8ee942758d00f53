"""Who owns what, and the score: pass-alive area, the areas that the encodings show, Tromp-Taylor, finished games.

Everything here reads colors alone and keeps its work arrays on the C stack, so it runs without the GIL and on any
board, also one from which dead stones were taken. Benson's analysis is in benson.pyx, the seki tax in seki.pyx.
"""

from libc.string cimport memset

import numpy as np

from .benson cimport mark_owned
from .geometry cimport Geometry
from .go cimport GoState, go_handicap
from .position cimport Position
from .seki cimport drop_false_territory, label
from .types cimport (
    BLACK, BONUS_N, BONUS_ZERO, EMPTY, MAX_POINTS, SCORING_TERRITORY, TAX_ALL, TAX_NONE, WALL, WHITE, int16_t, uint8_t,
)


cdef void colors_pass_alive(const Geometry* geo, const uint8_t* color, bint suicide, uint8_t* out) noexcept nogil:
    memset(out, EMPTY, geo.n_points)
    mark_owned(geo, color, BLACK, suicide, False, out)
    mark_owned(geo, color, WHITE, suicide, False, out)


cdef void colors_full_area(const Geometry* geo, const uint8_t* color, bint suicide, uint8_t* out) noexcept nogil:
    cdef int p
    memset(out, EMPTY, geo.n_points)
    mark_owned(geo, color, BLACK, suicide, True, out)
    mark_owned(geo, color, WHITE, suicide, True, out)
    for p in range(geo.stride + 1, geo.n_points):
        if out[p] == EMPTY and color[p] != WALL:
            out[p] = color[p]


cdef void mark_atari(const Geometry* geo, const uint8_t* color, uint8_t* atari) noexcept nogil:
    """Write 1 for every stone of a chain with exactly one liberty, else 0."""
    cdef uint8_t seen[MAX_POINTS]
    cdef int16_t stones[MAX_POINTS]
    cdef int[4] step
    cdef int p, t, i, k, n, done, liberty, liberties
    step[0], step[1], step[2], step[3] = 1, -1, geo.stride, -geo.stride
    memset(seen, 0, geo.n_points)
    memset(atari, 0, geo.n_points)
    for p in range(geo.stride + 1, geo.n_points):
        if (color[p] != BLACK and color[p] != WHITE) or seen[p]:
            continue
        stones[0] = p
        seen[p] = 1
        n = 1
        done = 0
        liberties = 0
        liberty = -1
        while done < n:
            for i in range(4):
                t = stones[done] + step[i]
                if color[t] == EMPTY and t != liberty:
                    liberties += 1           # distinct while below two, which is all that is asked
                    liberty = t
                elif color[t] == color[p] and not seen[t]:
                    seen[t] = 1
                    stones[n] = t
                    n += 1
            done += 1
        if liberties == 1:
            for k in range(n):
                atari[stones[k]] = 1


cdef int colors_independent_life(
    const Geometry* geo, const uint8_t* color, bint suicide, bint keep_territories, bint keep_stones, uint8_t* out
) noexcept nogil:
    cdef uint8_t area[MAX_POINTS]
    cdef uint8_t atari[MAX_POINTS]
    cdef uint8_t seen[MAX_POINTS]
    cdef int16_t piece[MAX_POINTS]
    cdef int[4] step
    cdef int p, q, t, i, k, n, done, difference = 0
    cdef bint seki
    step[0], step[1], step[2], step[3] = 1, -1, geo.stride, -geo.stride
    colors_full_area(geo, color, suicide, area)
    mark_atari(geo, color, atari)
    memset(seen, 0, geo.n_points)
    memset(out, EMPTY, geo.n_points)
    for p in range(geo.stride + 1, geo.n_points):
        if area[p] == EMPTY or seen[p]:
            continue
        seki = False
        piece[0] = p
        seen[p] = 1
        n = 1
        done = 0
        while done < n:
            q = piece[done]
            done += 1
            if atari[q] and color[q] == area[q]:
                seki = True
            for i in range(4):
                t = q + step[i]
                if area[t] == area[p]:
                    if not seen[t]:
                        seen[t] = 1
                        piece[n] = t
                        n += 1
                elif area[t] == EMPTY and color[t] == EMPTY:
                    seki = True              # touches dame
        if not seki:
            difference += 1 if area[p] == WHITE else -1
            for k in range(n):
                out[piece[k]] = area[p]
    for p in range(geo.stride + 1, geo.n_points):
        if area[p] != EMPTY and (keep_stones if area[p] == color[p] else keep_territories):
            out[p] = area[p]
    return difference


cdef int colors_tromp_taylor(const Geometry* geo, const uint8_t* color, uint8_t* out) noexcept nogil:
    cdef uint8_t seen[MAX_POINTS]
    cdef int16_t region[MAX_POINTS]
    cdef int[4] step
    cdef int p, t, i, k, n, done, reached, difference = 0
    step[0], step[1], step[2], step[3] = 1, -1, geo.stride, -geo.stride
    memset(seen, 0, geo.n_points)
    memset(out, EMPTY, geo.n_points)
    for p in range(geo.stride + 1, geo.n_points):
        if color[p] == BLACK or color[p] == WHITE:
            out[p] = color[p]
            difference += 1 if color[p] == BLACK else -1
        elif color[p] == EMPTY and not seen[p]:
            region[0] = p
            seen[p] = 1
            n = 1
            done = 0
            reached = 0                      # bit set of colors; BLACK and WHITE are 1 and 2
            while done < n:
                for i in range(4):
                    t = region[done] + step[i]
                    if color[t] == BLACK or color[t] == WHITE:
                        reached |= color[t]
                    elif color[t] == EMPTY and not seen[t]:
                        seen[t] = 1
                        region[n] = t
                        n += 1
                done += 1
            if reached == BLACK or reached == WHITE:
                difference += n if reached == BLACK else -n
                for k in range(n):
                    out[region[k]] = reached
    return difference


cdef void pass_alive_area(const GoState* s, bint suicide, uint8_t* out) noexcept nogil:
    colors_pass_alive(s.geo, s.color, suicide, out)


cdef void full_area(const GoState* s, bint suicide, uint8_t* out) noexcept nogil:
    colors_full_area(s.geo, s.color, suicide, out)


cdef int independent_life_area(
    const GoState* s, bint suicide, bint keep_territories, bint keep_stones, uint8_t* out
) noexcept nogil:
    return colors_independent_life(s.geo, s.color, suicide, keep_territories, keep_stones, out)


cdef int tromp_taylor_area(const GoState* s, uint8_t* out) noexcept nogil:
    return colors_tromp_taylor(s.geo, s.color, out)


cdef double white_bonus(const GoState* s) noexcept nogil:
    cdef double bonus = s.komi
    cdef int handicap = go_handicap(s)
    if s.rules.white_handicap_bonus != BONUS_ZERO and handicap > 0:
        bonus += handicap if s.rules.white_handicap_bonus == BONUS_N else handicap - 1
    if s.rules.has_button and s.button_color != EMPTY:
        bonus += 0.5 if s.button_color == WHITE else -0.5
    return bonus


cdef object to_array(const Geometry* geo, const uint8_t* values):
    """Copy values by padded point into a new uint8 [H, W]."""
    cdef int action
    result = np.empty((geo.height, geo.width), dtype=np.uint8)
    cdef uint8_t[::1] flat = result.reshape(-1)
    for action in range(geo.area):
        flat[action] = values[geo.point_of_action[action]]
    return result


def pass_alive(Position position not None, suicide=None):
    """Return the owner of every point that is pass-alive or pass-alive territory (Benson).

    Args:
        suicide: whether suicide of several stones counts as legal; None: as the position's rules say.

    Returns:
        uint8 [H, W]: BLACK, WHITE, or EMPTY where neither side can be sure.
    """
    cdef uint8_t out[MAX_POINTS]
    cdef bint legal = position.state.rules.suicide if suicide is None else suicide
    pass_alive_area(position.state, legal, out)
    return to_array(position.state.geo, out)


def area(Position position not None, suicide=None):
    """Return the area of each side: stones (dead only inside pass-alive territory) and one-coloured empty regions.

    Args:
        suicide: as in pass_alive.

    Returns:
        uint8 [H, W]: BLACK, WHITE, or EMPTY.
    """
    cdef uint8_t out[MAX_POINTS]
    cdef bint legal = position.state.rules.suicide if suicide is None else suicide
    full_area(position.state, legal, out)
    return to_array(position.state.geo, out)


def independent_life(Position position not None, suicide=None, *, keep_territories=False, keep_stones=False):
    """Return the area of groups that live without seki, and the difference in their number.

    Args:
        suicide: as in pass_alive.
        keep_territories: leave the territory of groups in seki in place.
        keep_stones: leave the stones of groups in seki in place.

    Returns:
        (uint8 [H, W] of BLACK, WHITE, EMPTY; number of White's regions minus number of Black's).
    """
    cdef uint8_t out[MAX_POINTS]
    cdef bint legal = position.state.rules.suicide if suicide is None else suicide
    cdef int difference = independent_life_area(position.state, legal, keep_territories, keep_stones, out)
    return to_array(position.state.geo, out), difference


def tromp_taylor(Position position not None):
    """Return the Tromp-Taylor area, every stone on the board counted as alive.

    Returns:
        (uint8 [H, W] of BLACK, WHITE, EMPTY; Black's points minus White's, komi left out).
    """
    cdef uint8_t out[MAX_POINTS]
    cdef int difference = tromp_taylor_area(position.state, out)
    return to_array(position.state.geo, out), difference


cdef void colors_territory(const Geometry* geo, const uint8_t* color, bint seki_tax, uint8_t* out) noexcept nogil:
    """out[p] = owner of an empty point that is territory, else EMPTY."""
    cdef int p
    colors_tromp_taylor(geo, color, out)
    for p in range(geo.n_points):
        if color[p] != EMPTY:
            out[p] = EMPTY
    if seki_tax:
        drop_false_territory(geo, color, out)


cdef int group_tax(const Geometry* geo, const uint8_t* color, const uint8_t* territory) noexcept nogil:
    """Return the group tax, Black's minus White's: two points (one, if it has no more) for each group with territory.

    A group is a connected set of stones and territory of one side.
    """
    cdef uint8_t owner[MAX_POINTS]
    cdef int16_t group_of[MAX_POINTS]
    cdef int16_t size[MAX_POINTS]
    cdef int16_t taxed[MAX_POINTS]
    cdef int p, tax = 0
    for p in range(geo.n_points):
        owner[p] = territory[p] if color[p] == EMPTY else color[p]
    label(geo, owner, group_of, size)
    memset(taxed, 0, sizeof(taxed))
    for p in range(geo.stride + 1, geo.n_points):
        if color[p] == EMPTY and territory[p] != EMPTY and taxed[group_of[p]] < 2:
            taxed[group_of[p]] += 1
            tax += 1 if territory[p] == BLACK else -1
    return tax


cdef int from_array(const Geometry* geo, object values, str name, uint8_t* out) except -1:
    """Write a [H, W] array into out by padded point. Raises ValueError if its shape is not the board's."""
    cdef int action
    array = np.ascontiguousarray(values, dtype=np.uint8)
    if array.shape != (geo.height, geo.width):
        raise ValueError(f"{name} has shape {array.shape}, not {(geo.height, geo.width)}")
    cdef const uint8_t[::1] flat = array.reshape(-1)
    memset(out, EMPTY, geo.n_points)
    for action in range(geo.area):
        out[geo.point_of_action[action]] = flat[action]
    return 0


def dead_stones(Position position not None, ownership):
    """Return the chains that an ownership map gives to the other side, by the mean over each chain's stones.

    Args:
        ownership: float [H, W] in [-1, 1], +1 = Black owns the point.

    Returns:
        bool [H, W]: dead stones.
    """
    cdef const Geometry* geo = position.state.geo
    cdef int16_t chain_of[MAX_POINTS]
    cdef int16_t size[MAX_POINTS]
    cdef double total[MAX_POINTS]
    cdef int action, p
    values = np.ascontiguousarray(ownership, dtype=np.float64)
    if values.shape != (geo.height, geo.width):
        raise ValueError(f"ownership has shape {values.shape}, not {(geo.height, geo.width)}")
    cdef const double[::1] flat = values.reshape(-1)
    label(geo, position.state.color, chain_of, size)
    memset(total, 0, sizeof(total))
    for action in range(geo.area):
        total[chain_of[geo.point_of_action[action]]] += flat[action]
    result = np.zeros((geo.height, geo.width), dtype=np.uint8)
    cdef uint8_t[::1] dead = result.reshape(-1)
    for action in range(geo.area):
        p = geo.point_of_action[action]
        if position.state.color[p] == BLACK:
            dead[action] = total[chain_of[p]] < 0
        elif position.state.color[p] == WHITE:
            dead[action] = total[chain_of[p]] > 0
    return result.view(np.bool_)


cdef int settle(Position position, object dead, object ownership, uint8_t* color, uint8_t* territory) except -1:
    """Fill color with the stones that live and territory with the owners of the empty points that count."""
    cdef const GoState* s = position.state
    cdef const Geometry* geo = s.geo
    cdef uint8_t marks[MAX_POINTS]
    cdef int p
    if ownership is not None:
        if dead is not None:
            raise ValueError("give dead stones or ownership, not both")
        if np.asarray(ownership).dtype.kind == "f":
            dead, ownership = dead_stones(position, ownership), None
    memset(marks, EMPTY, geo.n_points)
    if ownership is not None:
        from_array(geo, ownership, "ownership", marks)
    elif dead is not None:
        from_array(geo, np.asarray(dead) != 0, "dead", marks)
    for p in range(geo.n_points):
        color[p] = s.color[p]
        if (color[p] == BLACK or color[p] == WHITE) and marks[p] != EMPTY and (
                ownership is None or marks[p] != color[p]):
            color[p] = EMPTY
    if ownership is None:
        colors_territory(geo, color, s.rules.tax != TAX_NONE, territory)
    else:
        for p in range(geo.n_points):
            territory[p] = marks[p] if color[p] == EMPTY else EMPTY
    return 0


def territory(Position position not None, dead=None, ownership=None):
    """Return the owner of every point once dead stones are taken off: living stones, and territory that counts.

    Args and errors as in score.

    Returns:
        uint8 [H, W]: BLACK, WHITE, or EMPTY for dame and, under a tax, for eyes in seki.
    """
    cdef uint8_t color[MAX_POINTS]
    cdef uint8_t owner[MAX_POINTS]
    cdef int p
    settle(position, dead, ownership, color, owner)
    for p in range(position.state.geo.n_points):
        if color[p] != EMPTY:
            owner[p] = color[p]
    return to_array(position.state.geo, owner)


def score(Position position not None, dead=None, ownership=None):
    """Return the final score, Black minus White minus komi, under the position's rules.

    Area scoring counts living stones and territory; territory scoring counts territory, dead stones and prisoners. An
    empty point is territory if it reaches living stones of one side only. Under a tax eyes in seki and points that must
    be filled to connect do not count (seki.pyx), and under tax ALL each group pays two points. The handicap bonus and
    the button are added. With neither dead nor ownership every stone lives.

    Args:
        dead: bool [H, W], stones to take off first.
        ownership: integers [H, W] BLACK, WHITE or EMPTY, agreed owners that are taken as they are (a stone on the
            other side's point is dead; an EMPTY point counts for nobody); or floats [H, W] in [-1, 1], +1 = Black's,
            which only say which chains are dead (see dead_stones).

    Raises:
        ValueError: if an array has not the board's shape, or both are given.
    """
    cdef const GoState* s = position.state
    cdef uint8_t color[MAX_POINTS]
    cdef uint8_t owner[MAX_POINTS]
    cdef int p, c, difference = 0
    settle(position, dead, ownership, color, owner)
    for p in range(s.geo.n_points):
        c = color[p]
        if c == EMPTY:
            c = owner[p]
            if s.rules.scoring == SCORING_TERRITORY and (s.color[p] == BLACK or s.color[p] == WHITE):
                difference += 1 if s.color[p] == WHITE else -1     # a dead stone is a prisoner
        elif s.rules.scoring == SCORING_TERRITORY:
            continue
        if c == BLACK:
            difference += 1
        elif c == WHITE:
            difference -= 1
    if s.rules.scoring == SCORING_TERRITORY:
        difference += s.prisoners[WHITE] - s.prisoners[BLACK]
    if s.rules.tax == TAX_ALL:
        difference -= group_tax(s.geo, color, owner)
    return round(difference - white_bonus(s), 4)
