"""The table of bias.pxd: patterns with their errors, grown as nodes come, never beyond its share of a tree's memory.

A net that misjudges a local shape does so in every position of the tree that has it. What the search below one such
position found, less what the net had said there, is taken off the net's word in the others, also where the rest of the
board differs. Source: subtree value bias correction, KataGo's methods (Wu).
"""

import array

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from engine.board.go cimport GoState, go_in_atari
from engine.board.types cimport EMPTY, PASS, WALL

cdef enum:
    REACH = 2                  # points around the move


cdef inline uint64_t mix(uint64_t h, uint64_t word) noexcept nogil:
    h = (h ^ word) * <uint64_t> 0xBF58476D1CE4E5B9
    h = (h ^ (h >> 32)) * <uint64_t> 0x94D049BB133111EB
    return h ^ (h >> 29)


cdef uint64_t pattern_key(const GoState* s, int point, int color) noexcept nogil:
    cdef int width = s.geo.width, height = s.geo.height
    cdef uint64_t key = mix(<uint64_t> 0x9E3779B97F4A7C15, (<uint64_t> color << 32) | <uint64_t> point)
    cdef uint64_t cells = 0
    cdef int last = -1
    cdef int action, x, y, i, j, at, cell
    if s.n_moves > 0:
        last = s.recent_move[(s.n_moves - 1) & 7]
    key = mix(key, (<uint64_t> <uint32_t> (last + 1) << 32) | <uint64_t> <uint32_t> (s.ko_point + 1))
    if point == PASS:
        return key
    action = s.geo.action_of_point[point]
    x = action % width
    y = action // width
    for j in range(y - REACH, y + REACH + 1):
        for i in range(x - REACH, x + REACH + 1):
            cell = WALL
            if 0 <= i < width and 0 <= j < height:
                at = s.geo.point_of_action[j * width + i]
                cell = s.color[at]
                if cell != EMPTY and go_in_atari(s, at):
                    cell += 4
            cells = cells * 8 + cell
            if j == y and i == x:
                key = mix(key, cells)
                cells = 0
    return mix(key, cells)


cdef int grow(BiasTable* b, uint64_t most_bytes) noexcept nogil:
    """Double the room. Return -1 if there is no memory or it would be more than most_bytes."""
    cdef uint32_t cap = 256 if b.cap == 0 else 2 * b.cap
    cdef Bias* items
    cdef uint32_t* slots
    if cap * (sizeof(Bias) + 2 * sizeof(uint32_t)) > most_bytes:
        return -1
    items = <Bias*> realloc(b.items, cap * sizeof(Bias))
    if items == NULL:
        return -1
    b.items = items
    slots = <uint32_t*> calloc(2 * cap, sizeof(uint32_t))
    if slots == NULL:
        return -1
    free(b.slots)
    b.slots = slots
    b.cap = cap
    b.n_slots = 2 * cap
    if b.n == 0:
        memset(b.items, 0, sizeof(Bias))
        b.n = 1
    file_all(b)
    return 0


cdef void file_all(BiasTable* b) noexcept nogil:
    cdef uint32_t number
    for number in range(1, b.n):
        b.slots[slot_of(b, b.items[number].key)] = number


cdef uint32_t slot_of(const BiasTable* b, uint64_t key) noexcept nogil:
    """Return the slot that holds the key, or the empty one where it belongs."""
    cdef uint32_t slot = <uint32_t> key & (b.n_slots - 1)
    while b.slots[slot] != 0 and b.items[b.slots[slot]].key != key:
        slot = (slot + 1) & (b.n_slots - 1)
    return slot


cdef uint32_t bias_number(BiasTable* b, uint64_t key, uint64_t most_bytes) noexcept nogil:
    cdef uint32_t slot
    if b.n_slots != 0:
        slot = slot_of(b, key)
        if b.slots[slot] != 0:
            return b.slots[slot]
    if b.n == b.cap and grow(b, most_bytes) < 0:
        return 0
    slot = slot_of(b, key)
    b.slots[slot] = b.n
    memset(&b.items[b.n], 0, sizeof(Bias))
    b.items[b.n].key = key
    b.n += 1
    return b.n - 1


cdef void bias_clear(BiasTable* b) noexcept nogil:
    free(b.items)
    free(b.slots)
    memset(b, 0, sizeof(BiasTable))


cdef uint64_t bias_bytes(const BiasTable* b) noexcept nogil:
    return b.cap * sizeof(Bias) + b.n_slots * sizeof(uint32_t)


cdef void bias_fade(BiasTable* b, double share) noexcept nogil:
    cdef uint32_t number
    for number in range(1, b.n):
        b.items[number].error_sum *= share
        b.items[number].weight_sum *= share


cdef void bias_compact(BiasTable* b, uint32_t* keep) noexcept nogil:
    cdef uint32_t number, n = 1
    if b.n == 0:
        return
    for number in range(1, b.n):
        if keep[number]:
            b.items[n] = b.items[number]
            keep[number] = n
            n += 1
    b.n = n
    memset(b.slots, 0, b.n_slots * sizeof(uint32_t))
    file_all(b)


def table_for_tests(steps, uint64_t most_bytes):
    """Carry out steps on a new table and return what each gave: ("number", key), ("add", number, error, weight),
    ("mean", number), ("fade", share), ("keep", numbers) with their new numbers as answer, ("bytes",).
    """
    cdef BiasTable b
    cdef uint32_t[:] keep
    memset(&b, 0, sizeof(BiasTable))
    answers = []
    for name, *given in steps:
        answer = None
        if name == "number":
            answer = bias_number(&b, given[0], most_bytes)
        elif name == "add":
            bias_add(&b, given[0], given[1], given[2])
        elif name == "mean":
            answer = bias_mean(&b, given[0])
        elif name == "fade":
            bias_fade(&b, given[0])
        elif name == "keep":
            keep = array.array("I", [1 if i in given[0] else 0 for i in range(max(1, b.n))])
            bias_compact(&b, &keep[0])
            answer = {number: keep[number] for number in given[0]}
        elif name == "bytes":
            answer = bias_bytes(&b)
        answers.append(answer)
    bias_clear(&b)
    return answers
