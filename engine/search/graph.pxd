"""Nodes by position, so that several ways to one position share its node (setting `graph`)."""

from libc.stdint cimport uint32_t, uint64_t

from .arena cimport Arena

ctypedef struct Place:
    uint64_t key               # 0 = nothing was ever here
    uint32_t node              # 0 = its node is gone
    uint32_t spare

ctypedef struct NodeTable:
    Place* slots               # open addressing
    uint32_t n_slots           # a power of two, or 0: no memory held
    uint32_t used              # slots with a key

cdef uint32_t table_find(const NodeTable* g, uint64_t key) noexcept nogil            # 0 = no node
# The key has no node. -1: there is no memory for it within most_bytes, and nothing happens.
cdef int table_enter(NodeTable* g, uint64_t key, uint32_t node, uint64_t most_bytes) noexcept nogil
cdef void table_remove(NodeTable* g, uint64_t key) noexcept nogil
cdef void table_sweep(NodeTable* g, const Arena* a) noexcept nogil       # during a sweep: nodes without a mark go
cdef void table_clear(NodeTable* g) noexcept nogil
cdef uint64_t table_bytes(const NodeTable* g) noexcept nogil
