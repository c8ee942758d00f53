"""The end of a game inside the tree.

Two passes settle a game when the rules count every stone alive (area scoring without friendly passes, as
Tromp-Taylor), or when Benson's analysis leaves nothing to agree on: every stone stands in pass-alive area or lies dead
in it, and what is left empty touches living stones of both sides (dame). Rules with a group tax, or area scoring with a
seki tax, are never settled here. Everything else is for the evaluator to judge, and proves nothing.
"""

from libc.stdint cimport int16_t, uint8_t
from libc.string cimport memset

from engine.board.go cimport GoState, go_handicap
from engine.board.scoring cimport pass_alive_area, tromp_taylor_area
from engine.board.types cimport (
    BLACK, BONUS_N, BONUS_N_MINUS_1, EMPTY, MAX_POINTS, SCORING_AREA, TAX_ALL, TAX_NONE, WALL, WHITE,
)


cdef bint settled_score(const GoState* s, float* score, uint8_t* owner) noexcept nogil:
    cdef int points
    if s.rules.tax != TAX_NONE and (s.rules.tax == TAX_ALL or s.rules.scoring == SCORING_AREA):
        return False
    if s.rules.scoring == SCORING_AREA and not s.rules.friendly_pass_ok:
        points = tromp_taylor_area(s, owner)
    else:
        pass_alive_area(s, s.rules.suicide, owner)
        if not nothing_open(s, owner):
            return False
        points = count_owned(s, owner)
    score[0] = <float> points - s.komi + bonuses(s)
    return True


cdef float bonuses(const GoState* s) noexcept nogil:
    """Return what the rules add for Black: the button's half point, less White's handicap bonus."""
    cdef float total = 0.0
    cdef int n = go_handicap(s)
    if s.rules.white_handicap_bonus == BONUS_N:
        total -= n
    elif s.rules.white_handicap_bonus == BONUS_N_MINUS_1 and n > 0:
        total -= n - 1
    if s.rules.has_button and s.button_taken:
        total += 0.5 if s.button_color == BLACK else -0.5
    return total


cdef bint nothing_open(const GoState* s, const uint8_t* owner) noexcept nogil:
    """Tell whether every point outside `owner` is dame: empty, in a region that touches both sides' stones."""
    cdef uint8_t[MAX_POINTS] seen
    cdef int16_t[MAX_POINTS] queue
    cdef int[4] steps
    cdef int a, start, point, other, head, tail, i
    cdef int touches
    steps[0] = 1
    steps[1] = -1
    steps[2] = s.geo.stride
    steps[3] = -s.geo.stride
    memset(seen, 0, sizeof(seen))
    for a in range(s.geo.area):
        start = s.geo.point_of_action[a]
        if owner[start] != EMPTY or seen[start]:
            continue
        touches = 0
        queue[0] = start
        seen[start] = 1
        head = 0
        tail = 1
        while head < tail:
            point = queue[head]
            head += 1
            if s.color[point] != EMPTY:
                return False  # a stone that is not pass-alive
            for i in range(4):
                other = point + steps[i]
                if s.color[other] == WALL:
                    continue
                if owner[other] != EMPTY:
                    touches |= owner[other]
                elif not seen[other]:
                    seen[other] = 1
                    queue[tail] = other
                    tail += 1
        if touches != (BLACK | WHITE):
            return False
    return True


cdef int count_owned(const GoState* s, const uint8_t* owner) noexcept nogil:
    """Return black minus white points of a settled board: area, or territory and prisoners."""
    cdef int total = 0
    cdef int a, point, side, points
    if s.rules.scoring != SCORING_AREA:
        total = s.prisoners[WHITE] - s.prisoners[BLACK]
    for a in range(s.geo.area):
        point = s.geo.point_of_action[a]
        side = owner[point]
        if side == EMPTY:
            continue
        points = 1
        if s.rules.scoring != SCORING_AREA:
            points = 0 if s.color[point] == side else 1 if s.color[point] == EMPTY else 2
        total += points if side == BLACK else -points
    return total
