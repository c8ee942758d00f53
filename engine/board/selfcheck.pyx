"""Compiled checks of the board against itself, for tests: what only nogil callers see, and exhaustive counts.

Nothing here is used in play.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset

from .geometry cimport Geometry, get_geometry
from .go cimport (
    GoState, go_atari_liberty, go_copy, go_copy_board, go_count_liberties, go_free, go_hash_after, go_in_atari,
    go_init, go_is_legal, go_is_legal_simple, go_legal_mask, go_list_liberties, go_play, go_repeats, go_setup,
)
from .position cimport Position
from .types cimport (
    BIT_WORDS, BLACK, EMPTY, MAX_ACTIONS, MAX_AREA, MAX_POINTS, PAST, WALL, WHITE, Rules, int16_t, uint8_t, uint64_t,
)


cdef const char* chain_fault(const GoState* s) noexcept nogil:
    # Every stone's chain: liberties by count, by list and by the record; the circular list; the set-up of walls.
    cdef int16_t[MAX_AREA] found
    cdef int point, count, size, stone, stop
    for point in range(s.geo.n_points):
        if (s.geo.empty_board[point] == WALL) != (s.color[point] == WALL):
            return "a wall moved"
        if s.color[point] == EMPTY or s.color[point] == WALL:
            continue
        count = go_list_liberties(s, point, found, MAX_AREA)
        for stop in range(1, 6):
            if go_count_liberties(s, point, stop) != min(count, stop):
                return "go_count_liberties"
        if go_count_liberties(s, point, MAX_AREA) != count or count == 0:
            return "a chain without liberties"
        if go_in_atari(s, point) != (count == 1):
            return "go_in_atari"
        if count == 1 and go_atari_liberty(s, point) != found[0]:
            return "go_atari_liberty"
        size = 1
        stone = s.next[point]
        while stone != point:
            if s.head[stone] != s.head[point] or s.color[stone] != s.color[point] or size > MAX_AREA:
                return "the list of a chain"
            size += 1
            stone = s.next[stone]
        if s.chain[s.head[point]].size != size:
            return "the size of a chain"
    return NULL


cdef const char* past_fault(const GoState* s) noexcept nogil:
    cdef uint64_t[2][BIT_WORDS] bits
    cdef int point
    memset(bits, 0, sizeof(bits))
    for point in range(s.geo.n_points):
        if s.color[point] == BLACK or s.color[point] == WHITE:
            bits[s.color[point] - 1][point >> 6] |= <uint64_t>1 << (point & 63)
    if memcmp(bits, s.past[s.past_now], sizeof(bits)) != 0:
        return "the newest past position"
    if s.n_past != min(s.n_moves + 1, <int>PAST):
        return "n_past"
    return NULL


cdef const char* same_present(const GoState* a, const GoState* b) noexcept nogil:
    cdef uint8_t[MAX_ACTIONS] mask_a
    cdef uint8_t[MAX_ACTIONS] mask_b
    cdef int color
    if a.hash != b.hash or memcmp(a.color, b.color, a.geo.n_points) != 0:
        return "a copy's stones"
    if memcmp(a.placed_at, b.placed_at, a.geo.n_points * sizeof(a.placed_at[0])) != 0:
        return "a copy's ages of stones"
    if a.ko_point != b.ko_point or a.to_play != b.to_play or a.n_moves != b.n_moves or a.handicap != b.handicap:
        return "a copy's counters"
    for color in range(1, 3):
        if go_legal_mask(a, color, mask_a) != go_legal_mask(b, color, mask_b):
            return "a copy's number of legal moves"
        if memcmp(mask_a, mask_b, a.geo.area + 1) != 0:
            return "a copy's legal moves"
    return NULL


cdef const char* move_fault(const GoState* s, GoState* scratch, int color) except? NULL:
    # Every legal move on a copy: hash_after tells the hash, and a board-only copy goes the same way.
    cdef int action, point
    cdef uint64_t hash
    for action in range(s.geo.area + 1):
        point = s.geo.point_of_action[action]
        if not go_is_legal(s, point, color):
            continue
        hash = go_hash_after(s, point, color)
        go_copy_board(scratch, s)
        if not go_is_legal_simple(scratch, point, color):
            return "go_copy_board: legality"
        go_play(scratch, point, color)
        if scratch.hash != hash:
            return "go_hash_after"
        if chain_fault(scratch) != NULL:
            return chain_fault(scratch)
        if scratch.n_keys != 0:
            return "a board-only copy kept keys"
    return NULL


def fault_of(Position position):
    """Return what is wrong with a position's inner state, as text, or None. Slow: tries every legal move."""
    cdef const GoState* s = position.state
    cdef GoState* copy = <GoState*>calloc(1, sizeof(GoState))
    cdef const char* fault
    if copy == NULL:
        raise MemoryError()
    try:
        fault = chain_fault(s)
        if fault == NULL:
            fault = past_fault(s)
        if fault == NULL:
            go_copy(copy, s)
            fault = same_present(copy, s)
        if fault == NULL:
            fault = past_fault(copy)
        if fault == NULL:
            fault = move_fault(s, copy, s.to_play)
        return None if fault == NULL else fault.decode("ascii")
    finally:
        go_free(copy)
        free(copy)


def repeats(Position position):
    """Tell whether the present position stood before, as search asks."""
    return bool(go_repeats(position.state))


def past_board(Position position, int plies):
    """Return the colors [W*H] that the history keeps of some plies ago, or None where it reaches not that far."""
    cdef const GoState* s = position.state
    cdef int action, point, slot, black, white
    if not 0 <= plies < s.n_past:
        return None
    slot = (s.past_now - plies) & (<int>PAST - 1)
    out = []
    for action in range(s.geo.area):
        point = s.geo.point_of_action[action]
        black = (s.past[slot][0][point >> 6] >> (point & 63)) & 1
        white = (s.past[slot][1][point >> 6] >> (point & 63)) & 1
        out.append(BLACK * black + WHITE * white)
    return out


cdef int64_t count_from(GoState* s) except -1 nogil:
    # Go through all 3^area boards like an odometer; keep those on which every chain has a liberty.
    cdef uint8_t[MAX_POINTS] colors
    cdef int area = s.geo.area
    cdef int action, point
    cdef bint fine
    cdef int64_t legal = 0
    memcpy(colors, s.geo.empty_board, s.geo.n_points)
    while True:
        go_setup(s, colors, BLACK)
        fine = True
        for action in range(area):
            point = s.geo.point_of_action[action]
            if colors[point] != EMPTY and s.chain[s.head[point]].libs == 0:
                fine = False
                break
        legal += fine
        for action in range(area):
            point = s.geo.point_of_action[action]
            if colors[point] < WHITE:
                colors[point] += 1
                break
            colors[point] = EMPTY
        else:
            return legal


def count_legal_positions(int width, int height):
    """Count the boards on which every chain has a liberty, by trying all 3^(W*H)."""
    cdef GoState* s = <GoState*>calloc(1, sizeof(GoState))
    cdef const Geometry* geo = get_geometry(width, height)
    cdef Rules rules
    cdef int64_t count
    if s == NULL:
        raise MemoryError()
    memset(&rules, 0, sizeof(rules))
    try:
        go_init(s, geo, &rules, 0)
        with nogil:
            count = count_from(s)
        return count
    finally:
        go_free(s)
        free(s)
