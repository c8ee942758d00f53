"""Chunks, free lists and the sweep of arena.pxd. Knows nothing of nodes.

Allocation takes a block of exactly the right size, else splits a larger one, else takes a new chunk. Freed blocks are
not joined at once; the sweep after each change of root does that for all of them, from a bit map of what stays.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memset

ctypedef struct FreeBlock:
    uint32_t next
    uint32_t units


cdef void arena_init(Arena* a, uint64_t limit_bytes) noexcept nogil:
    memset(a, 0, sizeof(Arena))
    a.limit_bytes = limit_bytes


cdef void arena_clear(Arena* a) noexcept nogil:
    cdef uint64_t limit = a.limit_bytes
    cdef uint32_t i
    for i in range(a.n_chunks):
        free(a.chunks[i])
    free(a.chunks)
    free(a.marks)
    arena_init(a, limit)


cdef uint64_t arena_bytes(const Arena* a) noexcept nogil:
    return <uint64_t> a.live_chunks * CHUNK_UNITS * UNIT + <uint64_t> a.cap_chunks * sizeof(void*)


cdef void push_free(Arena* a, uint32_t index, uint32_t units) noexcept nogil:
    cdef FreeBlock* block = <FreeBlock*> arena_at(a, index)
    cdef uint32_t cls = units if units < N_CLASSES - 1 else N_CLASSES - 1
    block.units = units
    block.next = a.free_head[cls]
    a.free_head[cls] = index
    a.class_bits[cls >> 6] |= (<uint64_t> 1) << (cls & 63)


cdef int next_class(const Arena* a, uint32_t units) noexcept nogil:
    """Return the first class of at least that many units with a free block, or -1."""
    cdef uint32_t word = units >> 6
    cdef uint64_t bits = a.class_bits[word] & ((~<uint64_t> 0) << (units & 63))
    cdef int bit = 0
    while bits == 0:
        word += 1
        if word == N_CLASSES // 64:
            return -1
        bits = a.class_bits[word]
    while not (bits & 0xFF):
        bits >>= 8
        bit += 8
    while not (bits & 1):
        bits >>= 1
        bit += 1
    return <int> (word * 64) + bit


cdef int add_chunk(Arena* a) noexcept nogil:
    """Take one more chunk and put it in the free lists. Return -1 if limit or system refuse."""
    cdef uint32_t number = a.first_gap
    cdef uint32_t cap
    cdef char** table
    cdef char* chunk
    if (<uint64_t> a.live_chunks + 1) * CHUNK_UNITS * UNIT + <uint64_t> a.cap_chunks * sizeof(void*) > a.limit_bytes:
        return -1
    if a.live_chunks < a.n_chunks:
        while a.chunks[number] != NULL:
            number += 1
        a.first_gap = number + 1
    else:
        number = a.n_chunks
        if number >= 1 << (32 - CHUNK_BITS):
            return -1
        if number == a.cap_chunks:
            cap = 64 if a.cap_chunks == 0 else 2 * a.cap_chunks
            table = <char**> realloc(a.chunks, cap * sizeof(char*))
            if table == NULL:
                return -1
            a.chunks = table
            a.cap_chunks = cap
    chunk = <char*> malloc(<size_t> CHUNK_UNITS * UNIT)
    if number == a.n_chunks:
        a.chunks[number] = chunk
        if chunk == NULL:
            return -1
        a.n_chunks += 1
    elif chunk == NULL:
        a.first_gap = number
        return -1
    a.chunks[number] = chunk
    a.live_chunks += 1
    if number == 0:
        push_free(a, 1, CHUNK_UNITS - 1)  # unit 0 stays out
    else:
        push_free(a, number << CHUNK_BITS, CHUNK_UNITS)
    return 0


cdef uint32_t arena_alloc(Arena* a, uint32_t units) noexcept nogil:
    cdef int cls = next_class(a, units)
    cdef uint32_t index, rest
    cdef FreeBlock* block
    if cls < 0:
        if add_chunk(a) < 0:
            return 0
        cls = N_CLASSES - 1
    index = a.free_head[cls]
    block = <FreeBlock*> arena_at(a, index)
    a.free_head[cls] = block.next
    if block.next == 0:
        a.class_bits[cls >> 6] &= ~((<uint64_t> 1) << (cls & 63))
    rest = block.units - units
    if rest:
        push_free(a, index + units, rest)
    a.used_units += units
    return index


cdef void arena_free(Arena* a, uint32_t index, uint32_t units) noexcept nogil:
    a.used_units -= units
    push_free(a, index, units)


cdef int arena_sweep_begin(Arena* a) noexcept nogil:
    a.marks = <uint64_t*> calloc(<size_t> a.n_chunks * (CHUNK_UNITS // 64) + 1, sizeof(uint64_t))
    if a.marks == NULL:
        return -1
    a.used_units = 0
    return 0


cdef void arena_mark(Arena* a, uint32_t index, uint32_t units) noexcept nogil:
    cdef uint32_t i
    a.used_units += units
    for i in range(index, index + units):
        a.marks[i >> 6] |= (<uint64_t> 1) << (i & 63)


cdef uint32_t run_length(const Arena* a, uint32_t start, uint32_t end) noexcept nogil:
    """Count the unmarked units from start on, up to end."""
    cdef uint32_t i = start
    while i < end:
        if (i & 63) == 0 and a.marks[i >> 6] == 0 and i + 64 <= end:
            i += 64
        elif a.marks[i >> 6] >> (i & 63) & 1:
            break
        else:
            i += 1
    return i - start


cdef void arena_sweep_end(Arena* a) noexcept nogil:
    cdef uint32_t number, i, end, run
    memset(a.free_head, 0, sizeof(a.free_head))
    memset(a.class_bits, 0, sizeof(a.class_bits))
    for number in range(a.n_chunks):
        if a.chunks[number] == NULL:
            continue
        i = number << CHUNK_BITS
        end = i + (CHUNK_UNITS)
        if number == 0:
            i = 1
        run = run_length(a, i, end)
        if i + run == end:
            free(a.chunks[number])
            a.chunks[number] = NULL
            a.live_chunks -= 1
            if number < a.first_gap:
                a.first_gap = number
            continue
        while i < end:
            run = run_length(a, i, end)
            if run:
                push_free(a, i, run)
                i += run
            else:
                i += 1
    free(a.marks)
    a.marks = NULL
