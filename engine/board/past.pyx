"""The positions before the present one, read from the bit sets that a GoState keeps of the last plies."""

from libc.string cimport memcpy

from .bits cimport lowest_bit
from .types cimport BIT_WORDS, NO_POINT, PASS
from .zobrist cimport zobrist_stone


cdef uint64_t hash_change(const GoState* s, int ago) noexcept nogil:
    # Keys of the stones by which the position `ago` plies ago differs from the next one.
    cdef int older = (s.past_now - ago) & 7, newer = (s.past_now - ago + 1) & 7
    cdef int side, word, point
    cdef uint64_t rest, change = 0
    for side in range(2):
        for word in range(BIT_WORDS):
            rest = s.past[older][side][word] ^ s.past[newer][side][word]
            while rest != 0:
                point = 64 * word + lowest_bit(rest)
                change ^= zobrist_stone[point][side + 1]
                rest &= rest - 1
    return change


cdef inline bint stands(const GoState* s, int slot, int color, int point) noexcept nogil:
    return (s.past[slot][color - 1][point >> 6] >> (point & 63)) & 1


cdef int past_ko(const GoState* s, int ago) noexcept nogil:
    # A ko: the last move before that position, a lone stone with one liberty, had taken one stone.
    cdef int slot = (s.past_now - ago) & 7, before = (s.past_now - ago - 1) & 7
    cdef int move, color, word, taken = NO_POINT, near, i
    cdef uint64_t gone
    cdef int around[4]
    if ago + 1 >= s.n_past or ago >= s.n_moves:
        return NO_POINT
    move = s.recent_move[(s.n_moves - 1 - ago) & 7]
    color = s.recent_color[(s.n_moves - 1 - ago) & 7]
    if move == PASS or not stands(s, slot, color, move):
        return NO_POINT
    for word in range(BIT_WORDS):
        gone = s.past[before][2 - color][word] & ~s.past[slot][2 - color][word]
        if gone == 0:
            continue
        if taken != NO_POINT or gone & (gone - 1) != 0:
            return NO_POINT
        taken = 64 * word + lowest_bit(gone)
    if taken == NO_POINT:
        return NO_POINT
    around[0] = move - s.geo.stride
    around[1] = move - 1
    around[2] = move + 1
    around[3] = move + s.geo.stride
    for i in range(4):
        near = around[i]
        if near != taken and s.geo.action_of_point[near] >= 0 and near != PASS and not stands(s, slot, 3 - color, near):
            return NO_POINT
    return taken


cdef void past_colors(const GoState* s, int ago, uint8_t* colors) noexcept nogil:
    cdef int slot = (s.past_now - ago) & 7
    cdef int side, word
    cdef uint64_t rest
    memcpy(colors, s.geo.empty_board, s.geo.n_points)
    for side in range(2):
        for word in range(BIT_WORDS):
            rest = s.past[slot][side][word]
            while rest != 0:
                colors[64 * word + lowest_bit(rest)] = side + 1
                rest &= rest - 1
