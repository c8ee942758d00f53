"""Evaluations kept by position: a two-way table of fixed slots inside a byte bound, and the key of a position."""

from libc.stdint cimport int16_t, uint8_t, uint16_t, uint32_t, uint64_t

from engine.board.geometry cimport Geometry
from engine.board.go cimport GoState

from .node cimport Node, Prior
from .tree cimport Estimate, Tree

ctypedef struct Slot:          # followed by Prior[area + 1] and, if the cache keeps them, float[2], int16_t[area]
    uint64_t key[2]
    float value                # as in Estimate
    float score_mean
    float score_stdev
    float lead
    uint32_t stamp             # time of the last use; 0 = empty
    uint16_t n_priors
    uint16_t has_ownership

ctypedef struct EvalCache:
    char* slots
    uint64_t n_buckets         # of two slots each; 0 = no cache
    uint64_t slot_bytes
    int area
    bint ownership
    bint errors                # what the net says of its own errors
    uint32_t clock
    uint64_t hits
    uint64_t probes

ctypedef struct KeyOptions:
    uint64_t salt              # whatever is the same for a whole search: size, rules, komi, encoding, net
    int history                # moves of history that the encoding shows
    int boards                 # earlier boards that the encoding shows
    bint ages                  # the encoding shows how old every stone is
    bint ignore_history        # leave all three out
    bint symmetric             # positions of few stones have one key in all symmetries (with ignore_history only)

cdef int cache_open(EvalCache* c, uint64_t bytes, int area, bint ownership, bint errors) noexcept nogil  # -1: no memory
cdef void cache_close(EvalCache* c) noexcept nogil
cdef Slot* cache_find(EvalCache* c, const uint64_t* key, bint ownership) noexcept nogil      # NULL = not there
# A node just evaluated, and a node to be filled with as many priors. turn: the symmetry that its key stands for.
cdef void cache_store(
    EvalCache* c, const uint64_t* key, Tree* t, Node* node, const Geometry* geo, int turn) noexcept nogil
cdef void cache_load(
    const EvalCache* c, const Slot* slot, Tree* t, Node* node, const Geometry* geo, int turn, Estimate* e
) noexcept nogil
# Fill the key; return the symmetry that takes the position to the one that the key is of.
cdef int position_key(
    const GoState* s, int to_play, const uint8_t* legal, const KeyOptions* options, int max_history, uint64_t* key
) noexcept nogil
cdef uint64_t mix_word(uint64_t h, uint64_t word) noexcept nogil
