"""How chains are kept: stones put on the board, joined and taken off. Inline, for go.pyx alone.

A chain is a circular list of stones with one record at the index of one of its stones; the smaller chain is relabelled
when two join. Liberties are counted once for every stone beside them, with their sum and sum of squares, so that a play
touches neighbours only.
"""

from .go cimport Chain, GoState
from .types cimport BLACK, EMPTY, WALL, WHITE, int16_t, uint64_t
from .zobrist cimport zobrist_stone


cdef inline bint in_atari(const Chain* chain) noexcept nogil:
    # Cauchy-Schwarz: equality holds only if all terms, the liberties' numbers, are one and the same.
    return chain.libs > 0 and chain.libs * chain.libs_sumsq == <uint64_t>chain.libs_sum * chain.libs_sum


cdef inline void add_liberty(Chain* chain, int point) noexcept nogil:
    chain.libs += 1
    chain.libs_sum += point
    chain.libs_sumsq += <uint64_t>(point * point)


cdef inline void drop_liberty(Chain* chain, int point) noexcept nogil:
    chain.libs -= 1
    chain.libs_sum -= point
    chain.libs_sumsq -= <uint64_t>(point * point)


cdef inline void join(GoState* s, int a, int b) noexcept nogil:
    # Join the chains with the heads a and b.
    cdef Chain* into
    cdef const Chain* gone
    cdef int point
    cdef int16_t after
    if s.chain[a].size < s.chain[b].size:
        a, b = b, a
    into = &s.chain[a]
    gone = &s.chain[b]
    into.libs += gone.libs
    into.libs_sum += gone.libs_sum
    into.libs_sumsq += gone.libs_sumsq
    into.hash ^= gone.hash
    into.size += gone.size
    point = b
    while True:
        s.head[point] = a
        point = s.next[point]
        if point == b:
            break
    after = s.next[a]
    s.next[a] = s.next[b]
    s.next[b] = after


cdef inline void place_stone(GoState* s, int point, int color) noexcept nogil:
    # Put a stone on an empty point, take the liberty from its neighbours and join its chains. Captures nothing.
    cdef int[4] around
    cdef int i, other, value
    cdef Chain* own = &s.chain[point]
    around[0] = point - s.geo.stride
    around[1] = point - 1
    around[2] = point + 1
    around[3] = point + s.geo.stride
    own.libs = 0
    own.libs_sum = 0
    own.libs_sumsq = 0
    own.hash = zobrist_stone[point][color]
    own.size = 1
    s.color[point] = color
    s.head[point] = point
    s.next[point] = point
    s.hash ^= own.hash
    s.stones[color] += 1
    for i in range(4):
        other = around[i]
        value = s.color[other]
        if value == EMPTY:
            add_liberty(own, other)
        elif value != WALL:
            drop_liberty(&s.chain[s.head[other]], point)
    for i in range(4):
        other = around[i]
        if s.color[other] == color and s.head[other] != s.head[point]:
            join(s, s.head[point], s.head[other])


cdef inline void return_liberty(GoState* s, int neighbour, int point) noexcept nogil:
    cdef int value = s.color[neighbour]
    if value == BLACK or value == WHITE:
        add_liberty(&s.chain[s.head[neighbour]], point)


cdef inline int remove_chain(GoState* s, int head, uint64_t* bits) noexcept nogil:
    # Take a chain off the board; bits, if any, are the set its stones stand in. Returns its size.
    cdef int color = s.color[head]
    cdef int size = s.chain[head].size
    cdef int stride = s.geo.stride
    cdef int point = head
    s.hash ^= s.chain[head].hash
    s.stones[color] -= size
    s.prisoners[color] += size
    while True:
        s.color[point] = EMPTY
        if bits != NULL:
            bits[point >> 6] &= ~(<uint64_t>1 << (point & 63))
        return_liberty(s, point - stride, point)
        return_liberty(s, point - 1, point)
        return_liberty(s, point + 1, point)
        return_liberty(s, point + stride, point)
        point = s.next[point]
        if point == head:
            return size
