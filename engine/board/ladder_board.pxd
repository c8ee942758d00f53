"""The light board that ladders are read on: exact undo, simple ko, no suicide, no superko, no history.

Chains are circular lists with pseudo-liberty sums as in go.pyx. Everything is inline, so that the reader compiles as
one piece; GoState itself cannot take moves back.
"""

from libc.string cimport memcpy, memset

from .geometry cimport Geometry
from .types cimport EMPTY, MAX_POINTS, NO_POINT, int16_t, int32_t, uint8_t, uint32_t, uint64_t

cdef enum:
    LADDER_DEPTH = 1300     # moves in a row
    CAPTURE_STACK = 8192    # capturing moves waiting on the path of one reading

ctypedef struct LadderChain:
    # Pseudo-liberties as in go.pxd: in atari iff libs * sumsq == sum * sum and libs > 0.
    int32_t libs
    int32_t sum
    uint32_t sumsq
    int32_t size

ctypedef struct LadderUndo:
    LadderChain old_chain    # what chain[point], head[point], next[point] held before
    int16_t old_head
    int16_t old_next
    int16_t point
    int16_t old_ko
    int16_t n_captured
    int16_t n_merged
    int16_t captured[4]      # heads
    int16_t merged_into[4]   # head kept
    int16_t merged[4]        # head swallowed

ctypedef struct LadderBoard:
    const Geometry* geo
    int step[4]
    uint8_t color[MAX_POINTS]
    int16_t head[MAX_POINTS]
    int16_t next[MAX_POINTS]
    LadderChain chain[MAX_POINTS]
    int ko                   # simple ko: forbidden to either side, else NO_POINT
    int nodes
    int depth
    int n_moves
    int16_t moves[CAPTURE_STACK]
    LadderUndo undo[LADDER_DEPTH]


cdef inline void add_liberty(LadderChain* chain, int point) noexcept nogil:
    chain.libs += 1
    chain.sum += point
    chain.sumsq += <uint32_t>(point * point)


cdef inline void drop_liberty(LadderChain* chain, int point) noexcept nogil:
    chain.libs -= 1
    chain.sum -= point
    chain.sumsq -= <uint32_t>(point * point)


cdef inline bint in_atari(const LadderChain* chain) noexcept nogil:
    return chain.libs > 0 and <uint64_t>chain.libs * chain.sumsq == <uint64_t>chain.sum * <uint64_t>chain.sum


cdef inline int room(const LadderBoard* b, int point) noexcept nogil:
    # Empty neighbours.
    return (
        (b.color[point - 1] == EMPTY) + (b.color[point + 1] == EMPTY)
        + (b.color[point - b.step[3]] == EMPTY) + (b.color[point + b.step[3]] == EMPTY))


cdef inline bint adjacent(const LadderBoard* b, int p, int q) noexcept nogil:
    return p - q == 1 or q - p == 1 or p - q == b.step[3] or q - p == b.step[3]


cdef inline void load(LadderBoard* b, const Geometry* geo, const uint8_t* colors, int ko) noexcept nogil:
    # Set the position; the chains are found by flood fill. Invariant: every stone has a liberty in its chain.
    cdef int16_t stack[MAX_POINTS]
    cdef int action, start, point, near, top, i, color
    b.geo = geo
    b.step[0] = -geo.stride
    b.step[1] = -1
    b.step[2] = 1
    b.step[3] = geo.stride
    memcpy(b.color, colors, geo.n_points)
    memset(b.head, 0, geo.n_points * sizeof(int16_t))
    b.ko = ko
    b.depth = 0
    b.n_moves = 0
    for action in range(geo.area):
        start = geo.point_of_action[action]
        color = b.color[start]
        if color == EMPTY or b.head[start] != 0:
            continue
        memset(&b.chain[start], 0, sizeof(LadderChain))
        b.head[start] = start
        b.next[start] = start
        stack[0] = start
        top = 1
        while top > 0:
            top -= 1
            point = stack[top]
            b.chain[start].size += 1
            for i in range(4):
                near = point + b.step[i]
                if b.color[near] == EMPTY:
                    add_liberty(&b.chain[start], near)
                elif b.color[near] == color and b.head[near] == 0:
                    b.head[near] = start
                    b.next[near] = b.next[start]
                    b.next[start] = near
                    stack[top] = near
                    top += 1


cdef inline bint may_play(const LadderBoard* b, int point, int color) noexcept nogil:
    # point is empty. Neither the ko nor suicide of any size.
    cdef int i, near
    if point == b.ko:
        return False
    for i in range(4):
        near = point + b.step[i]
        if b.color[near] == EMPTY:
            return True
        if b.color[near] == color:
            if not in_atari(&b.chain[b.head[near]]):
                return True
        elif b.color[near] == 3 - color and in_atari(&b.chain[b.head[near]]):
            return True
    return False


cdef inline void merge(LadderBoard* b, int kept, int gone) noexcept nogil:
    cdef int stone = gone
    while True:
        b.head[stone] = kept
        stone = b.next[stone]
        if stone == gone:
            break
    stone = b.next[kept]
    b.next[kept] = b.next[gone]
    b.next[gone] = stone
    b.chain[kept].libs += b.chain[gone].libs
    b.chain[kept].sum += b.chain[gone].sum
    b.chain[kept].sumsq += b.chain[gone].sumsq
    b.chain[kept].size += b.chain[gone].size


cdef inline void lift(LadderBoard* b, int head, int by) noexcept nogil:
    # Take a chain without liberties off; its head, next and chain entries stay for take_back.
    cdef int stone = head, near, i
    while True:
        b.color[stone] = EMPTY
        for i in range(4):
            near = stone + b.step[i]
            if b.color[near] == by:
                add_liberty(&b.chain[b.head[near]], stone)
        stone = b.next[stone]
        if stone == head:
            break


cdef inline void play(LadderBoard* b, int point, int color) noexcept nogil:
    # may_play holds and b.depth < LADDER_DEPTH. Invariant: take_back restores every byte that matters.
    cdef LadderUndo* undo = &b.undo[b.depth]
    cdef int i, near, kept, gone
    b.depth += 1
    undo.point = point
    undo.old_ko = b.ko
    undo.old_head = b.head[point]
    undo.old_next = b.next[point]
    undo.old_chain = b.chain[point]
    undo.n_captured = 0
    undo.n_merged = 0
    b.color[point] = color
    b.head[point] = point
    b.next[point] = point
    memset(&b.chain[point], 0, sizeof(LadderChain))
    b.chain[point].size = 1
    for i in range(4):
        near = point + b.step[i]
        if b.color[near] == EMPTY:
            add_liberty(&b.chain[point], near)
        elif b.color[near] < 3:
            drop_liberty(&b.chain[b.head[near]], point)
    for i in range(4):
        near = point + b.step[i]
        if b.color[near] == color and b.head[near] != b.head[point]:
            kept = b.head[near]
            gone = b.head[point]
            if b.chain[kept].size < b.chain[gone].size:
                kept, gone = gone, kept
            merge(b, kept, gone)
            undo.merged_into[undo.n_merged] = kept
            undo.merged[undo.n_merged] = gone
            undo.n_merged += 1
    for i in range(4):
        near = point + b.step[i]
        if b.color[near] == 3 - color and b.chain[b.head[near]].libs == 0:
            undo.captured[undo.n_captured] = b.head[near]
            undo.n_captured += 1
            lift(b, b.head[near], color)
    b.ko = NO_POINT
    if undo.n_captured == 1 and b.chain[undo.captured[0]].size == 1:
        if b.chain[b.head[point]].size == 1 and b.chain[point].libs == 1:
            b.ko = undo.captured[0]


cdef inline void take_back(LadderBoard* b) noexcept nogil:
    cdef LadderUndo* undo
    cdef int i, k, point, color, stone, near, kept, gone, head
    b.depth -= 1
    undo = &b.undo[b.depth]
    point = undo.point
    color = b.color[point]
    for k in range(undo.n_captured):
        head = undo.captured[k]
        stone = head
        while True:
            b.color[stone] = 3 - color
            for i in range(4):
                near = stone + b.step[i]
                if b.color[near] == color:
                    drop_liberty(&b.chain[b.head[near]], stone)
            stone = b.next[stone]
            if stone == head:
                break
    for k in range(undo.n_merged - 1, -1, -1):
        kept = undo.merged_into[k]
        gone = undo.merged[k]
        stone = b.next[kept]
        b.next[kept] = b.next[gone]
        b.next[gone] = stone
        b.chain[kept].libs -= b.chain[gone].libs
        b.chain[kept].sum -= b.chain[gone].sum
        b.chain[kept].sumsq -= b.chain[gone].sumsq
        b.chain[kept].size -= b.chain[gone].size
        stone = gone
        while True:
            b.head[stone] = gone
            stone = b.next[stone]
            if stone == gone:
                break
    b.color[point] = EMPTY
    for i in range(4):
        near = point + b.step[i]
        if b.color[near] != EMPTY and b.color[near] < 3:
            add_liberty(&b.chain[b.head[near]], point)
    b.head[point] = undo.old_head
    b.next[point] = undo.old_next
    b.chain[point] = undo.old_chain
    b.ko = undo.old_ko
