"""All nodes of a subtree."""

from libc.stdint cimport uint32_t

from .tree cimport Tree

ctypedef struct Stack:
    uint32_t* items
    size_t n
    size_t cap

# List the subtree, parents before children; with `graph` each node's place is 1 + its index until end_list.
cdef int list_nodes(const Tree* t, uint32_t root, Stack* out) noexcept nogil   # -1 = no memory; end_list either way
cdef void end_list(const Tree* t, Stack* nodes) noexcept nogil
