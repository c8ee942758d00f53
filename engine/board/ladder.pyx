"""The ladder reader: which chains can be captured in a ladder now, and which moves start one.

It reads on the light board of ladder_board.pxd, depth first: the attacker plays on the chain's two liberties, the
defender captures or extends. Cuts below are those that cannot change an answer. Finished positions stay in a
table keyed by position and ko point, so that the boards one and two moves ago are mostly remembered when a game or a
line of search is encoded move by move.
"""

from libc.stdlib cimport calloc, free
from libc.string cimport memset

from .ladder_board cimport (
    CAPTURE_STACK, LADDER_DEPTH, LadderBoard, LadderChain, adjacent, in_atari, load, may_play, play, room, take_back,
)
from .types cimport EMPTY, NO_POINT


cdef LadderCache* ladder_cache_new() except NULL:
    cdef LadderCache* cache = <LadderCache*>calloc(1, sizeof(LadderCache))
    if cache == NULL:
        raise MemoryError()
    return cache


cdef void ladder_cache_free(LadderCache* cache) noexcept nogil:
    free(cache)


cdef void ladder_cache_clear(LadderCache* cache) noexcept nogil:
    memset(&cache.slot[0], 0, sizeof(cache.slot))
    cache.hits = 0
    cache.misses = 0


# ---- reading ---------------------------------------------------------------------------------------------------------

cdef int list_liberties(const LadderBoard* b, int stone, int* out) noexcept nogil:
    # Up to three liberties of the chain; returns their number.
    cdef int count = 0, point = stone, near, i
    while True:
        for i in range(4):
            near = point + b.step[i]
            if b.color[near] != EMPTY:
                continue
            if (count > 0 and out[0] == near) or (count > 1 and out[1] == near):
                continue
            out[count] = near
            count += 1
            if count == 3:
                return 3
        point = b.next[point]
        if point == stone:
            return count


cdef int push_captures(LadderBoard* b, int stone, int first) noexcept nogil:
    # Put the moves that capture a neighbour chain in atari on b.moves, each once; returns the new top.
    cdef int top = first, point = stone, them = 3 - b.color[stone], near, i, k, move
    cdef const LadderChain* chain
    while True:
        for i in range(4):
            near = point + b.step[i]
            if b.color[near] != them:
                continue
            chain = &b.chain[b.head[near]]
            if not in_atari(chain):
                continue
            move = chain.sum // chain.libs
            for k in range(first, top):
                if b.moves[k] == move:
                    break
            else:
                if top < CAPTURE_STACK:
                    b.moves[top] = move
                    top += 1
        point = b.next[point]
        if point == stone:
            return top


cdef bint defender_lost(LadderBoard* b, int stone) noexcept nogil:
    # The chain of `stone` is in atari, its side to move; b.ko is NO_POINT. True if every answer leads to capture.
    cdef int us = b.color[stone], first = b.n_moves, last, top, k, move
    cdef bint lost
    b.nodes += 1
    if b.nodes >= LADDER_BUDGET or b.depth >= LADDER_DEPTH - 1:
        return True
    last = b.chain[b.head[stone]].sum // b.chain[b.head[stone]].libs
    if room(b, last) >= 3:
        return False
    top = push_captures(b, stone, first)
    for k in range(first, top):
        if b.moves[k] == last:
            break
    else:
        if top < CAPTURE_STACK:
            b.moves[top] = last
            top += 1
    b.n_moves = top
    lost = True
    for k in range(top - 1, first - 1, -1):
        move = b.moves[k]
        if not may_play(b, move, us):
            continue
        play(b, move, us)
        lost = attacker_wins(b, stone)
        take_back(b)
        if b.nodes >= LADDER_BUDGET:
            lost = True
            break
        if not lost:
            break
    b.n_moves = first
    return lost


cdef bint attacker_wins(LadderBoard* b, int stone) noexcept nogil:
    # The chain's side has just played; the attacker is to move, b.ko as that move left it.
    cdef int liberty[3]
    cdef int touch, room0, room1, k, first
    cdef bint won
    b.nodes += 1
    if b.nodes >= LADDER_BUDGET or b.depth >= LADDER_DEPTH - 1:
        return True
    k = list_liberties(b, stone, liberty)
    if k != 2:
        return k < 2
    touch = adjacent(b, liberty[0], liberty[1])
    room0 = room(b, liberty[0]) - touch
    room1 = room(b, liberty[1]) - touch
    if room0 >= 3 and room1 >= 3:
        return False
    if room0 == 0 and room1 == 0 and touch == 0 and double_ko_death(b, stone, liberty[0], liberty[1]):
        return True
    first = 0 if room0 >= room1 else 1  # fill the roomier liberty first: the other one is left to the defender
    won = (room1 if first == 0 else room0) < 3 and attack_works(b, stone, liberty[first])
    if not won and (room0 if first == 0 else room1) < 3:
        won = attack_works(b, stone, liberty[1 - first])
    return won


cdef bint attack_works(LadderBoard* b, int stone, int move) noexcept nogil:
    # Inside a reading: put the two-liberty chain into atari at `move`. Leaving a ko counts as letting it escape.
    cdef bint lost
    if not may_play(b, move, 3 - b.color[stone]):
        return False
    play(b, move, 3 - b.color[stone])
    lost = b.ko == NO_POINT and defender_lost(b, stone)
    take_back(b)
    return lost


cdef bint double_ko_death(LadderBoard* b, int stone, int p, int q) noexcept nogil:
    # Both liberties are ko mouths that gain the defender nothing when filled, and no neighbour chain is in atari.
    if not (is_ko_mouth(b, p, 3 - b.color[stone]) and is_ko_mouth(b, q, 3 - b.color[stone])):
        return False
    if push_captures(b, stone, b.n_moves) > b.n_moves:
        return False
    return not gains_third_liberty(b, stone, p) and not gains_third_liberty(b, stone, q)


cdef bint is_ko_mouth(const LadderBoard* b, int point, int taker) noexcept nogil:
    # A move of `taker` at the empty point would capture exactly one lone stone, among enemies and walls only.
    cdef int i, near, victim = 0
    for i in range(4):
        near = point + b.step[i]
        if b.color[near] == EMPTY or b.color[near] == taker:
            return False
        if b.color[near] == 3 - taker and in_atari(&b.chain[b.head[near]]):
            if victim != 0:
                return False
            victim = near
    return victim != 0 and b.chain[b.head[victim]].size == 1


cdef bint gains_third_liberty(LadderBoard* b, int stone, int move) noexcept nogil:
    cdef int liberty[3]
    cdef int count
    play(b, move, b.color[stone])
    count = list_liberties(b, stone, liberty)
    take_back(b)
    return count >= 3


cdef bint start_works(LadderBoard* b, int stone, int move) noexcept nogil:
    # At the root: the attacker fills a liberty of a two-liberty chain. The ko on the board binds this move alone; the
    # defender's first answer knows no ko.
    cdef bint lost
    if not may_play(b, move, 3 - b.color[stone]):
        return False
    play(b, move, 3 - b.color[stone])
    b.ko = NO_POINT
    b.nodes = 0
    lost = defender_lost(b, stone)
    take_back(b)
    return lost


cdef inline void set_bit(uint64_t* bits, int point) noexcept nogil:
    bits[point >> 6] |= <uint64_t>1 << (point & 63)


cdef inline bint has_bit(const uint64_t* bits, int point) noexcept nogil:
    return (bits[point >> 6] >> (point & 63)) & 1


cdef bint chain_in_ladder(LadderBoard* b, int head, uint64_t* works) noexcept nogil:
    # works may be NULL: then one working move is enough.
    cdef int liberty[3]
    cdef int ko = b.ko, count, touch
    cdef bint works0, works1
    if in_atari(&b.chain[head]):
        b.ko = NO_POINT
        b.nodes = 0
        works0 = defender_lost(b, head)
        b.ko = ko
        return works0
    count = list_liberties(b, head, liberty)
    if count != 2:
        return False
    touch = adjacent(b, liberty[0], liberty[1])
    works0 = room(b, liberty[1]) - touch < 3 and start_works(b, head, liberty[0])
    if works0 and works == NULL:
        return True
    works1 = room(b, liberty[0]) - touch < 3 and start_works(b, head, liberty[1])
    if works != NULL:
        if works0:
            set_bit(works, liberty[0])
        if works1:
            set_bit(works, liberty[1])
    return works0 or works1


# ---- positions -------------------------------------------------------------------------------------------------------

cdef inline uint64_t reading_key(const Geometry* geo, uint64_t hash, int ko) noexcept nogil:
    cdef uint64_t key = hash ^ (<uint64_t>(ko + 2) * 0x9E3779B97F4A7C15u)
    key ^= <uint64_t>(geo.width * 64 + geo.height) * 0xC2B2AE3D27D4EB4Fu
    key ^= key >> 29
    return key if key != 0 else 1


cdef const LadderReading* ladder_find(
        LadderCache* cache, const Geometry* geo, uint64_t hash, int ko, int target) noexcept nogil:
    cdef uint64_t key = reading_key(geo, hash, ko)
    cdef const LadderReading* reading = &cache.slot[key & (LADDER_SLOTS - 1)]
    if reading.key == key and (target == EMPTY or reading.has_works[target - 1]):
        cache.hits += 1
        return reading
    return NULL


cdef const LadderReading* ladder_read(
        LadderCache* cache, const Geometry* geo, const uint8_t* colors, uint64_t hash, int ko,
        int target) noexcept nogil:
    cdef const LadderReading* known = ladder_find(cache, geo, hash, ko, target)
    cdef LadderBoard* b = &cache.board
    cdef LadderReading* reading
    cdef int action, point, stone
    cdef uint64_t key
    if known != NULL:
        return known
    cache.misses += 1
    key = reading_key(geo, hash, ko)
    reading = &cache.slot[key & (LADDER_SLOTS - 1)]
    memset(reading, 0, sizeof(LadderReading))
    reading.key = key
    if target != EMPTY:
        reading.has_works[target - 1] = True
    load(b, geo, colors, ko)
    for action in range(geo.area):
        point = geo.point_of_action[action]
        if colors[point] == EMPTY or b.head[point] != point:
            continue
        if not chain_in_ladder(b, point, &reading.works[target - 1][0] if colors[point] == target else NULL):
            continue
        stone = point
        while True:
            set_bit(reading.in_ladder, stone)
            stone = b.next[stone]
            if stone == point:
                break
    return reading
