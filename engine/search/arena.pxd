"""The memory of one tree: chunks of 16-byte units, named by 32-bit indices, with free lists by size.

A block is a run of units inside one chunk. Unit 0 is never handed out, so index 0 says "none". Chunks never move, so a
pointer stays good until its block is freed. The byte limit counts whole chunks, which is what the process really holds.
"""

from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    UNIT = 16                  # bytes
    CHUNK_BITS = 12
    CHUNK_UNITS = 1 << 12      # 64 KiB a chunk
    N_CLASSES = 1024           # free lists for 1..1022 units exactly; the last one holds 1023 units or more

ctypedef struct Arena:
    char** chunks              # by chunk number; NULL where a chunk was given back
    uint32_t n_chunks          # chunk numbers in use or given back
    uint32_t cap_chunks        # length of `chunks`
    uint32_t live_chunks       # chunks really held
    uint32_t first_gap         # no chunk number below it was given back
    uint64_t limit_bytes
    uint64_t used_units        # units handed out
    uint32_t free_head[1024]   # first free block of a class, 0 = none
    uint64_t class_bits[16]    # bit set: that class has a free block
    uint64_t* marks            # during a sweep: one bit a unit, else NULL

cdef inline void* arena_at(const Arena* a, uint32_t index) noexcept nogil:
    return <void*> (a.chunks[index >> CHUNK_BITS] + <size_t> (index & (CHUNK_UNITS - 1)) * UNIT)

cdef void arena_init(Arena* a, uint64_t limit_bytes) noexcept nogil    # a may hold anything; nothing is allocated
cdef void arena_clear(Arena* a) noexcept nogil                         # gives everything back; the arena stays usable
cdef uint64_t arena_bytes(const Arena* a) noexcept nogil               # held now, tables included
cdef uint32_t arena_alloc(Arena* a, uint32_t units) noexcept nogil     # 1..1022 units, not zeroed; 0 = no memory
cdef void arena_free(Arena* a, uint32_t index, uint32_t units) noexcept nogil
# Garbage collection: begin, mark every block that stays, end. Free neighbours join; wholly free chunks go back.
cdef int arena_sweep_begin(Arena* a) noexcept nogil                    # -1: no memory for the marks, nothing changed
cdef void arena_mark(Arena* a, uint32_t index, uint32_t units) noexcept nogil
cdef void arena_sweep_end(Arena* a) noexcept nogil
