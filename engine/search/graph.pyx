"""The table of graph.pxd. Keys are hashes already; a key is never 0.

A node that goes leaves its key behind, without a node, until the table is built anew: when it grows, and when the tree
gets a new root.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from .arena cimport Arena


cdef inline Place* slot_of(const NodeTable* g, uint64_t key) noexcept nogil:
    """Return the slot that holds the key, or the empty one where it belongs."""
    cdef uint32_t slot = <uint32_t> (key >> 32) & (g.n_slots - 1)
    while g.slots[slot].key != 0 and g.slots[slot].key != key:
        slot = (slot + 1) & (g.n_slots - 1)
    return &g.slots[slot]


cdef uint32_t table_find(const NodeTable* g, uint64_t key) noexcept nogil:
    if g.n_slots == 0:
        return 0
    return slot_of(g, key).node


cdef int rebuild(NodeTable* g, uint32_t n_slots) noexcept nogil:
    """Move what has a node to new slots. Return -1 if there is no memory."""
    cdef NodeTable old = g[0]
    cdef uint32_t i
    g.slots = <Place*> calloc(n_slots, sizeof(Place))
    if g.slots == NULL:
        g[0] = old
        return -1
    g.n_slots = n_slots
    g.used = 0
    for i in range(old.n_slots):
        if old.slots[i].node != 0:
            slot_of(g, old.slots[i].key)[0] = old.slots[i]
            g.used += 1
    free(old.slots)
    return 0


cdef int table_enter(NodeTable* g, uint64_t key, uint32_t node, uint64_t most_bytes) noexcept nogil:
    cdef uint32_t more
    cdef Place* slot
    if <uint64_t> g.used * 4 >= <uint64_t> g.n_slots * 3:
        more = 256 if g.n_slots == 0 else 2 * g.n_slots
        if <uint64_t> more * sizeof(Place) > most_bytes or rebuild(g, more) < 0:
            return -1
    slot = slot_of(g, key)
    if slot.key == 0:
        g.used += 1
    slot.key = key
    slot.node = node
    return 0


cdef void table_remove(NodeTable* g, uint64_t key) noexcept nogil:
    if g.n_slots != 0:
        slot_of(g, key).node = 0


cdef void table_sweep(NodeTable* g, const Arena* a) noexcept nogil:
    cdef uint32_t i, node
    cdef uint32_t left = 0
    for i in range(g.n_slots):
        node = g.slots[i].node
        if node != 0 and not (a.marks[node >> 6] >> (node & 63)) & 1:
            g.slots[i].node = 0
        if g.slots[i].node != 0:
            left += 1
    if left == 0 or rebuild(g, slots_for(left)) < 0:
        table_clear(g)


cdef uint32_t slots_for(uint32_t count) noexcept nogil:
    cdef uint32_t n = 256
    while <uint64_t> count * 4 > <uint64_t> n * 3:
        n *= 2
    return n


cdef void table_clear(NodeTable* g) noexcept nogil:
    free(g.slots)
    memset(g, 0, sizeof(NodeTable))


cdef uint64_t table_bytes(const NodeTable* g) noexcept nogil:
    return g.n_slots * sizeof(Place)


def table_for_tests(steps, uint64_t most_bytes):
    """Carry out steps on a new table and return what each gave: ("find", key), ("enter", key, node), ("remove", key),
    ("sweep", nodes that stay), ("bytes",).
    """
    cdef NodeTable g
    cdef Arena a
    cdef uint64_t[1024] marks
    memset(&g, 0, sizeof(NodeTable))
    memset(&a, 0, sizeof(Arena))
    a.marks = &marks[0]
    answers = []
    for name, *given in steps:
        answer = None
        if name == "find":
            answer = table_find(&g, given[0])
        elif name == "enter":
            answer = table_enter(&g, given[0], given[1], most_bytes)
        elif name == "remove":
            table_remove(&g, given[0])
        elif name == "sweep":
            memset(&marks[0], 0, sizeof(marks))
            for node in given[0]:
                marks[node >> 6] |= <uint64_t> 1 << (node & 63)
            table_sweep(&g, &a)
        elif name == "bytes":
            answer = table_bytes(&g)
        answers.append(answer)
    table_clear(&g)
    return answers
