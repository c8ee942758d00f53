"""Moves, legality, ko, superko and history of a game of Go. How chains are kept is chains.pxd's affair.

No Python objects, no GIL, except to raise MemoryError. What each function promises stands in go.pxd.
"""

from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from .chains cimport in_atari, place_stone, remove_chain
from .types cimport BLACK, EMPTY, KO_SIMPLE, KO_SITUATIONAL, MAX_AREA, NO_POINT, PASS, WALL, WHITE, int32_t
from .zobrist cimport zobrist_stone, zobrist_to_play

cdef enum:
    FIRST_KEYS = 256  # keys that a state makes room for at first


# ---------------------------------------------------------------------------------------------------- life time

cdef int go_init(GoState* s, const Geometry* geo, const Rules* rules, float komi) except -1 nogil:
    """Make raw memory a state: empty board, Black to play."""
    memset(s, 0, sizeof(GoState))
    s.geo = geo
    s.rules = rules[0]
    s.komi = komi
    return go_setup(s, geo.empty_board, BLACK)


cdef void go_free(GoState* s) noexcept nogil:
    """Release the keys; the state is then as zeroed as far as memory goes."""
    free(s.keys)
    s.keys = NULL
    s.n_keys = 0
    s.cap_keys = 0


cdef int reserve_keys(GoState* s, int count) except -1 nogil:
    cdef int capacity = s.cap_keys
    cdef uint64_t* grown
    if count <= capacity:
        return 0
    if capacity < FIRST_KEYS:
        capacity = FIRST_KEYS
    while capacity < count:
        capacity *= 2
    grown = <uint64_t*>realloc(s.keys, capacity * sizeof(uint64_t))
    if grown == NULL:
        with gil:
            raise MemoryError()
    s.keys = grown
    s.cap_keys = capacity
    return 0


cdef void copy_present(GoState* dst, const GoState* src) noexcept nogil:
    # Everything up to the keys; per-point arrays only as far as the board goes.
    cdef size_t n = src.geo.n_points
    dst.geo = src.geo
    dst.rules = src.rules
    dst.komi = src.komi
    memcpy(dst.color, src.color, n)
    memcpy(dst.head, src.head, n * sizeof(int16_t))
    memcpy(dst.next, src.next, n * sizeof(int16_t))
    memcpy(dst.chain, src.chain, n * sizeof(Chain))
    memcpy(dst.placed_at, src.placed_at, n * sizeof(int32_t))
    memcpy(&dst.to_play, &src.to_play, <const char*>&src.past - <const char*>&src.to_play)


cdef int go_copy(GoState* dst, const GoState* src) except -1 nogil:
    """Copy everything, history included."""
    reserve_keys(dst, src.n_keys)
    copy_present(dst, src)
    memcpy(dst.past, src.past, sizeof(src.past))
    dst.past_now = src.past_now
    dst.n_past = src.n_past
    dst.n_keys = src.n_keys
    dst.scratch = src.scratch
    memcpy(dst.keys, src.keys, src.n_keys * sizeof(uint64_t))
    memcpy(dst.bloom, src.bloom, sizeof(src.bloom))
    memcpy(dst.ever, src.ever, sizeof(src.ever))
    return 0


cdef int go_copy_board(GoState* dst, const GoState* src) except -1 nogil:
    """Copy the present position for trying moves out: later moves record no history and know no superko."""
    copy_present(dst, src)
    dst.past_now = 0
    dst.n_past = 0
    dst.n_keys = 0
    dst.scratch = True
    return 0


cdef int go_setup(GoState* s, const uint8_t* colors, int to_play) except -1 nogil:
    """Make colors the set-up position. Chains without liberties are the caller's affair."""
    cdef int n = s.geo.n_points
    cdef int point, color
    reserve_keys(s, 1)
    memcpy(s.color, s.geo.empty_board, n)
    memset(&s.to_play, 0, <const char*>&s.keys - <const char*>&s.to_play)
    memset(s.placed_at, 0, n * sizeof(int32_t))
    memset(s.bloom, 0, sizeof(s.bloom))
    memset(s.ever, 0, sizeof(s.ever))
    s.n_keys = 0
    s.scratch = False
    s.to_play = to_play
    s.ko_point = NO_POINT
    s.n_past = 1
    for point in range(n):
        color = colors[point]
        if color == BLACK or color == WHITE:
            place_stone(s, point, color)
            s.setup_stones[color] += 1
            s.past[0][color - 1][point >> 6] |= <uint64_t>1 << (point & 63)
            s.ever[point >> 6] |= <uint64_t>1 << (point & 63)
    s.handicap = s.setup_stones[BLACK]
    push_key(s)
    return 0


# ---------------------------------------------------------------------------------------------------- chains

cdef bint go_in_atari(const GoState* s, int point) noexcept nogil:
    """Tell whether the chain at a stone has exactly one liberty."""
    return in_atari(&s.chain[s.head[point]])


cdef int go_atari_liberty(const GoState* s, int point) noexcept nogil:
    """The liberty of a chain in atari."""
    cdef const Chain* chain = &s.chain[s.head[point]]
    return chain.libs_sum // chain.libs


cdef int go_list_liberties(const GoState* s, int point, int16_t* out, int stop_at) noexcept nogil:
    """Write the liberties of the chain at a stone, at most stop_at of them (> 0), and return how many."""
    cdef uint64_t[BIT_WORDS] seen
    cdef int[4] steps
    cdef int i, other
    cdef int count = 0
    cdef int stone = point
    cdef uint64_t bit
    memset(seen, 0, sizeof(seen))
    steps[0] = -s.geo.stride
    steps[1] = -1
    steps[2] = 1
    steps[3] = s.geo.stride
    while True:
        for i in range(4):
            other = stone + steps[i]
            if s.color[other] == EMPTY:
                bit = <uint64_t>1 << (other & 63)
                if not seen[other >> 6] & bit:
                    seen[other >> 6] |= bit
                    out[count] = other
                    count += 1
                    if count == stop_at:
                        return count
        stone = s.next[stone]
        if stone == point:
            return count


cdef int go_count_liberties(const GoState* s, int point, int stop_at) noexcept nogil:
    """The number of liberties of the chain at a stone, or stop_at (> 0) if it has more."""
    cdef int16_t[MAX_AREA] found
    cdef const Chain* chain = &s.chain[s.head[point]]
    if chain.size == 1:
        return chain.libs if chain.libs < stop_at else stop_at
    if in_atari(chain):
        return 1
    if stop_at <= 2:
        return stop_at
    return go_list_liberties(s, point, found, stop_at)


# ---------------------------------------------------------------------------------------------------- legality

cdef inline bint leaves_liberty(const GoState* s, int point, int color, bint suicide) noexcept nogil:
    # What is true of a stone on an empty point: it has a liberty, captures, joins a chain with another liberty, or is
    # an allowed suicide together with stones beside it.
    cdef int stride = s.geo.stride
    cdef bint beside_own = False
    cdef int i, value
    cdef int[4] around
    around[0] = point - stride
    around[1] = point - 1
    around[2] = point + 1
    around[3] = point + stride
    for i in range(4):
        if s.color[around[i]] == EMPTY:
            return True
    for i in range(4):
        value = s.color[around[i]]
        if value == WALL:
            continue
        if in_atari(&s.chain[s.head[around[i]]]) == (value != color):
            return True
        if value == color:
            beside_own = True
    return beside_own and suicide


cdef bint go_is_legal_simple(const GoState* s, int point, int color) noexcept nogil:
    """Occupation, simple ko and suicide."""
    if point == PASS:
        return True
    if s.color[point] != EMPTY or (point == s.ko_point and color == s.ko_color):
        return False
    return leaves_liberty(s, point, color, s.rules.suicide)


cdef bint go_is_possible(const GoState* s, int point, int color) noexcept nogil:
    """Tell whether some rules could allow the move: an empty point, and no suicide of a single stone."""
    return point == PASS or (s.color[point] == EMPTY and leaves_liberty(s, point, color, True))


cdef uint64_t go_hash_after(const GoState* s, int point, int color) noexcept nogil:
    """The hash of the stones after a legal move."""
    cdef int[4] around
    cdef int[4] heads
    cdef int n_heads = 0
    cdef int i, j, other, head
    cdef bint captures = False
    cdef bint lives = False
    cdef uint64_t hash = s.hash
    cdef uint64_t own = 0
    if point == PASS:
        return hash
    around[0] = point - s.geo.stride
    around[1] = point - 1
    around[2] = point + 1
    around[3] = point + s.geo.stride
    for i in range(4):
        other = around[i]
        if s.color[other] == EMPTY:
            lives = True
        if s.color[other] == EMPTY or s.color[other] == WALL:
            continue
        head = s.head[other]
        for j in range(n_heads):
            if heads[j] == head:
                break
        else:
            heads[n_heads] = head
            n_heads += 1
            if s.color[other] == color:
                own ^= s.chain[head].hash
                lives = lives or not in_atari(&s.chain[head])
            elif in_atari(&s.chain[head]):
                hash ^= s.chain[head].hash
                captures = True
    if captures or lives:
        return hash ^ zobrist_stone[point][color]
    return hash ^ own


cdef inline uint64_t history_key(const GoState* s, uint64_t hash, int next_color) noexcept nogil:
    # What must not come back: the position under positional superko, else the position and who is to move.
    return hash if s.rules.ko != KO_SIMPLE and s.rules.ko != KO_SITUATIONAL else hash ^ zobrist_to_play[next_color]


cdef bint stands_in_keys(const GoState* s, uint64_t key, int n_keys) noexcept nogil:
    cdef int i
    if not (s.bloom[(key >> 6) & 63] >> (key & 63)) & (s.bloom[(key >> 18) & 63] >> ((key >> 12) & 63)) & 1:
        return False
    for i in range(n_keys - 1, -1, -1):
        if s.keys[i] == key:
            return True
    return False


cdef bint go_breaks_superko(const GoState* s, int point, int color) noexcept nogil:
    """Tell whether an otherwise legal move recreates a position that the superko rule in force forbids."""
    if s.rules.ko == KO_SIMPLE or point == PASS or s.n_keys == 0:
        return False
    if not (s.ever[point >> 6] >> (point & 63)) & 1 and not s.rules.suicide:
        return False  # a stone where none has been
    return stands_in_keys(s, history_key(s, go_hash_after(s, point, color), 3 - color), s.n_keys)


cdef bint go_is_legal(const GoState* s, int point, int color) noexcept nogil:
    """Tell whether the rules in force allow a move or pass."""
    return go_is_legal_simple(s, point, color) and not go_breaks_superko(s, point, color)


cdef int go_legal_mask(const GoState* s, int color, uint8_t* mask) noexcept nogil:
    """Write 1 for every legal action, else 0; return the number of legal ones."""
    cdef int area = s.geo.area
    cdef int count = 1
    cdef int action
    for action in range(area):
        mask[action] = go_is_legal(s, s.geo.point_of_action[action], color)
        count += mask[action]
    mask[area] = 1
    return count


# ---------------------------------------------------------------------------------------------------- moves

cdef inline int push_key(GoState* s) except -1 nogil:
    cdef uint64_t key = history_key(s, s.hash, s.to_play)
    if s.n_keys == s.cap_keys:
        reserve_keys(s, s.n_keys + 1)
    s.keys[s.n_keys] = key
    s.n_keys += 1
    s.bloom[(key >> 6) & 63] |= <uint64_t>1 << (key & 63)
    s.bloom[(key >> 18) & 63] |= <uint64_t>1 << ((key >> 12) & 63)
    return 0


cdef void count_pass(GoState* s, int color) noexcept nogil:
    s.ko_point = NO_POINT
    if s.rules.has_button and not s.button_taken:
        s.button_taken = True
        s.button_color = color
        s.n_passes = 0
    else:
        s.n_passes += 1
        s.ended = s.ended or s.n_passes >= 2


cdef int put_and_capture(GoState* s, int point, int color, uint64_t* own_bits, uint64_t* their_bits) noexcept nogil:
    # The stone, what it captures (or the suicide), and the ko it leaves. Returns stones taken off.
    cdef int stride = s.geo.stride
    cdef int other_color = 3 - color
    cdef int captured = 0
    cdef int last = NO_POINT
    cdef int i, other
    cdef int[4] around
    around[0] = point - stride
    around[1] = point - 1
    around[2] = point + 1
    around[3] = point + stride
    place_stone(s, point, color)
    for i in range(4):
        other = around[i]
        if s.color[other] == other_color and s.chain[s.head[other]].libs == 0:
            captured += remove_chain(s, s.head[other], their_bits)
            last = other
    s.ko_point = NO_POINT
    if captured == 1:
        if s.chain[point].size == 1 and s.head[point] == point and s.chain[point].libs == 1:
            s.ko_point = last
            s.ko_color = other_color
    elif captured == 0 and s.chain[s.head[point]].libs == 0:
        captured = remove_chain(s, s.head[point], own_bits)
    return captured


cdef int go_play(GoState* s, int point, int color) except -1 nogil:
    """Play a move that go_is_possible allows, or pass; return the stones captured (own ones if suicide)."""
    cdef int captured = 0
    cdef int slot
    cdef uint64_t* own_bits = NULL
    cdef uint64_t* their_bits = NULL
    if not s.scratch:
        slot = (s.past_now + 1) & 7
        memcpy(s.past[slot], s.past[s.past_now], sizeof(s.past[0]))
        s.past_now = slot
        if s.n_past < 8:
            s.n_past += 1
        own_bits = s.past[slot][color - 1]
        their_bits = s.past[slot][2 - color]
    if point == PASS:
        count_pass(s, color)
    else:
        if own_bits != NULL:
            own_bits[point >> 6] |= <uint64_t>1 << (point & 63)
            s.ever[point >> 6] |= <uint64_t>1 << (point & 63)
        captured = put_and_capture(s, point, color, own_bits, their_bits)
        s.placed_at[point] = s.n_moves + 1
        if color == BLACK and s.placed[BLACK] == s.n_moves:  # nobody has passed, White has not played
            s.handicap += 1
        s.placed[color] += 1
        s.n_passes = 0
        s.ended = False
    s.recent_move[s.n_moves & 7] = point
    s.recent_color[s.n_moves & 7] = color
    s.n_moves += 1
    s.to_play = 3 - color
    if not s.scratch:
        push_key(s)
    return captured


cdef bint go_pass_ends(const GoState* s) noexcept nogil:
    """Tell whether a pass now would be the second in a row that counts."""
    return s.n_passes >= 1 and not (s.rules.has_button and not s.button_taken)


# ------------------------------------------------------------------------------------------- for encodings and keys

cdef int go_handicap(const GoState* s) noexcept nogil:
    """N of the handicap bonus: Black's set-up stones and the moves that open the game; none with white set-up or N = 1.

    Source: docs/nets.md §2.2. A pass of either side ends the opening: an even game in which White passes stays even.
    """
    return s.handicap if s.setup_stones[WHITE] == 0 and s.handicap > 1 else 0


cdef bint go_repeats(const GoState* s) noexcept nogil:
    """Tell whether the present position (and side to move, unless superko is positional) has stood before."""
    cdef int i
    cdef uint64_t key
    if s.n_keys == 0:
        return False
    key = s.keys[s.n_keys - 1]
    for i in range(s.n_keys - 2, -1, -1):
        if s.keys[i] == key:
            return True
    return False


cdef uint64_t go_situation_key(const GoState* s, int to_play) noexcept nogil:
    """A key of the position, who is to move, the ko ban on that side and the state of passes and button.

    Rows of zobrist_stone have unused colors 0 and 3: color 3 marks the ko point, color 0 the passes and the button.
    """
    cdef uint64_t key = s.hash ^ zobrist_to_play[to_play]
    if s.ko_point != NO_POINT and s.ko_color == to_play:
        key ^= zobrist_stone[s.ko_point][3]
    if s.n_passes > 0:
        key ^= zobrist_stone[1 if s.n_passes == 1 else 2][EMPTY]
    if s.button_taken:
        key ^= zobrist_stone[2 + s.button_color][EMPTY]
    return key
