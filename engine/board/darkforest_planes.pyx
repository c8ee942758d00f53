"""DarkForest's planes: liberties, ko, stones and their age, where a point lies on the board, whose stones are nearer.

Source: Tian and Zhu 2016, Table 1; docs/nets.md §8.2 and docs/adr/0014 say how its words are read here.
"""

from libc.math cimport exp
from libc.stdint cimport int16_t, uint8_t
from libc.string cimport memset

from .go cimport GoState, go_count_liberties
from .plane_row cimport Row, fill, mark, put
from .types cimport EMPTY, MAX_AREA, MAX_POINTS, NO_POINT, int32_t

cdef enum:
    LIBERTIES = 0        # own chains with one, two, three or more; then the opponent's
    KO = 6
    STONES = 7           # own, opponent's, none
    AGE = 10             # own, opponent's
    BORDER = 12
    CENTRE = 13
    NEARER = 14          # to own stones, to the opponent's
    RANK = 16            # nine planes, all set
    END = 25
    FAR = 10_000         # points; no stone is that far away

# exp(-16) is 1e-7: what is smaller than that is 0, so that no layer has to work with denormal numbers.
cdef enum:
    MAX_EXPONENT = 16

cdef float[10 * MAX_EXPONENT + 1] age_value         # by moves since the stone was placed
cdef float[8 * MAX_EXPONENT + 1] centre_value       # by four times the squared distance to the centre, in points


def _fill_tables():
    for i in range(10 * MAX_EXPONENT + 1):
        age_value[i] = exp(-0.1 * i)
    for i in range(8 * MAX_EXPONENT + 1):
        centre_value[i] = exp(-0.125 * i)


_fill_tables()


cdef void encode_darkforest(const GoState* s, int to_play, const Row* row) noexcept nogil:
    cdef int plane
    mark_stones(s, to_play, row)
    if s.ko_point != NO_POINT and s.ko_color == to_play:
        mark(row, KO, s.ko_point)
    mark_places(s, row)
    mark_nearer(s, to_play, row)
    for plane in range(RANK, END):
        fill(row, plane)


cdef void mark_stones(const GoState* s, int to_play, const Row* row) noexcept nogil:
    cdef uint8_t[MAX_POINTS] count   # by head; 0 = not counted yet
    cdef int action, point, head, side
    cdef int32_t age
    memset(count, 0, s.geo.n_points)
    for action in range(s.geo.area):
        point = s.geo.point_of_action[action]
        if s.color[point] == EMPTY:
            mark(row, STONES + 2, point)
            continue
        side = 0 if s.color[point] == to_play else 1
        head = s.head[point]
        if count[head] == 0:
            count[head] = go_count_liberties(s, point, 3)
        mark(row, LIBERTIES + 3 * side + count[head] - 1, point)
        mark(row, STONES + side, point)
        age = s.n_moves - s.placed_at[point]
        if age <= 10 * MAX_EXPONENT:
            put(row, AGE + side, point, age_value[age])


cdef void mark_places(const GoState* s, const Row* row) noexcept nogil:
    cdef int width = s.geo.width, height = s.geo.height
    cdef int x, y, point, square
    for y in range(height):
        for x in range(width):
            point = s.geo.point_of_action[y * width + x]
            if x == 0 or y == 0 or x == width - 1 or y == height - 1:
                mark(row, BORDER, point)
            square = (2 * x - width + 1) * (2 * x - width + 1) + (2 * y - height + 1) * (2 * y - height + 1)
            if square <= 8 * MAX_EXPONENT:
                put(row, CENTRE, point, centre_value[square])


cdef void mark_nearer(const GoState* s, int to_play, const Row* row) noexcept nogil:
    cdef int16_t[MAX_AREA] own
    cdef int16_t[MAX_AREA] other
    cdef int action
    distances(s, to_play, own)
    distances(s, 3 - to_play, other)
    for action in range(s.geo.area):
        if own[action] != other[action]:
            mark(row, NEARER + (1 if other[action] < own[action] else 0), s.geo.point_of_action[action])


cdef void distances(const GoState* s, int color, int16_t* out) noexcept nogil:
    # Steps along rows and columns, whatever stands in between, to the nearest stone of a color; FAR if there is none.
    cdef int width = s.geo.width, area = s.geo.area
    cdef int action
    for action in range(area):
        out[action] = 0 if s.color[s.geo.point_of_action[action]] == color else FAR
        if action % width and out[action - 1] + 1 < out[action]:
            out[action] = out[action - 1] + 1
        if action >= width and out[action - width] + 1 < out[action]:
            out[action] = out[action - width] + 1
    for action in range(area - 1, -1, -1):
        if (action + 1) % width and out[action + 1] + 1 < out[action]:
            out[action] = out[action + 1] + 1
        if action + width < area and out[action + width] + 1 < out[action]:
            out[action] = out[action + width] + 1
        if out[action] > FAR:
            out[action] = FAR
