"""The evaluation cache of cache.pxd.

A key is 128 bits over everything an encoding reads: stones, side to move, ko, pass and button state, the points closed
to the side to move (superko), recent moves and boards, prisoners and handicap, and a salt for rules, komi, encoding and
net. Sorted priors are kept as the tree keeps them, so a hit gives the same node as an evaluation would.

Without a seed, positions of few stones that are symmetric to each other share one evaluation: the key, and what is
kept, are of the symmetry in which the hash of the stones is least, and the net sees the position so.
"""

from libc.stdint cimport int16_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from engine.board.geometry cimport Geometry
from engine.board.go cimport GoState, go_handicap, go_situation_key
from engine.board.types cimport BLACK, EMPTY, NO_POINT, PAST, SCORING_TERRITORY, WHITE
from engine.board.zobrist cimport zobrist_stone

from .node cimport NODE_OWNERSHIP, Node, Prior, node_ownership, node_priors, node_weight
from .tree cimport Estimate, Tree

cdef enum:
    SYMMETRIC_STONES = 16      # positions of more are hardly ever symmetric to another one of the same tree


cdef int cache_open(EvalCache* c, uint64_t bytes, int area, bint ownership, bint errors) noexcept nogil:
    memset(c, 0, sizeof(EvalCache))
    c.area = area
    c.ownership = ownership
    c.errors = errors
    c.slot_bytes = sizeof(Slot) + (area + 1) * sizeof(Prior) + (area * 2 if ownership else 0)
    c.slot_bytes += 2 * sizeof(float) if errors else 0
    c.slot_bytes = (c.slot_bytes + 15) // 16 * 16
    if bytes < 2 * c.slot_bytes:
        return 0
    c.n_buckets = bytes // (2 * c.slot_bytes)
    c.slots = <char*> calloc(c.n_buckets, 2 * c.slot_bytes)
    if c.slots == NULL:
        c.n_buckets = 0
        return -1
    return 0


cdef void cache_close(EvalCache* c) noexcept nogil:
    free(c.slots)
    memset(c, 0, sizeof(EvalCache))


cdef inline Slot* slot_at(const EvalCache* c, uint64_t bucket, int way) noexcept nogil:
    return <Slot*> (c.slots + (2 * bucket + way) * c.slot_bytes)


cdef inline Prior* slot_priors(const Slot* slot) noexcept nogil:
    return <Prior*> (<char*> slot + sizeof(Slot))


cdef inline float* slot_errors(const EvalCache* c, const Slot* slot) noexcept nogil:
    return <float*> (slot_priors(slot) + c.area + 1)


cdef inline int16_t* slot_owners(const EvalCache* c, const Slot* slot) noexcept nogil:
    return <int16_t*> (slot_errors(c, slot) + (2 if c.errors else 0))


cdef inline bint same_key(const Slot* slot, const uint64_t* key) noexcept nogil:
    return slot.stamp != 0 and slot.key[0] == key[0] and slot.key[1] == key[1]


cdef Slot* cache_find(EvalCache* c, const uint64_t* key, bint ownership) noexcept nogil:
    cdef Slot* slot
    cdef int way
    if c.n_buckets == 0:
        return NULL
    c.probes += 1
    for way in range(2):
        slot = slot_at(c, key[0] % c.n_buckets, way)
        if same_key(slot, key) and (slot.has_ownership or not ownership):
            c.clock += 1
            slot.stamp = c.clock
            c.hits += 1
            return slot
    return NULL


cdef inline int inverse(int symmetry) noexcept nogil:
    """A quarter turn's inverse is the other one, all other symmetries are their own."""
    return 11 - symmetry if symmetry == 5 or symmetry == 6 else symmetry


cdef void turn_priors(Prior* priors, int n, const int16_t* table) noexcept nogil:
    cdef int i
    for i in range(n):
        priors[i].action = table[priors[i].action]


cdef void turn_owners(int16_t* owners, const int16_t* source, int area, const int16_t* table) noexcept nogil:
    cdef int action
    for action in range(area):
        owners[table[action]] = source[action]


cdef void cache_store(
    EvalCache* c, const uint64_t* key, Tree* t, Node* node, const Geometry* geo, int turn
) noexcept nogil:
    cdef Slot* slot
    cdef Slot* other
    cdef Prior* priors
    if c.n_buckets == 0:
        return
    slot = slot_at(c, key[0] % c.n_buckets, 0)
    other = slot_at(c, key[0] % c.n_buckets, 1)
    if not same_key(slot, key) and (same_key(other, key) or other.stamp < slot.stamp):
        slot = other
    c.clock += 1
    slot.stamp = c.clock
    slot.key[0] = key[0]
    slot.key[1] = key[1]
    slot.value = node.value
    slot.score_mean = node.score_mean
    slot.score_stdev = node.score_stdev
    slot.lead = node.lead
    slot.n_priors = node.n_priors
    slot.has_ownership = 1 if c.ownership and node.flags & NODE_OWNERSHIP else 0
    priors = slot_priors(slot)
    if c.errors:
        slot_errors(c, slot)[0] = node_weight(node).value_error
        slot_errors(c, slot)[1] = node_weight(node).score_error
    memcpy(priors, node_priors(node), node.n_priors * sizeof(Prior))
    turn_priors(priors, node.n_priors, &geo.symmetry[turn][0])
    if slot.has_ownership:
        turn_owners(slot_owners(c, slot), node_ownership(node), c.area, &geo.symmetry[turn][0])


cdef void cache_load(
    const EvalCache* c, const Slot* slot, Tree* t, Node* node, const Geometry* geo, int turn, Estimate* e
) noexcept nogil:
    cdef const int16_t* table = &geo.symmetry[inverse(turn)][0]
    e.value = slot.value
    e.score_mean = slot.score_mean
    e.score_stdev = slot.score_stdev
    e.lead = slot.lead
    e.value_error = slot_errors(c, slot)[0] if c.errors else -1.0
    e.score_error = slot_errors(c, slot)[1] if c.errors else -1.0
    memcpy(node_priors(node), slot_priors(slot), node.n_priors * sizeof(Prior))
    turn_priors(node_priors(node), node.n_priors, table)
    if node.flags & NODE_OWNERSHIP:
        turn_owners(node_ownership(node), slot_owners(c, slot), t.area, table)


cdef uint64_t mix_word(uint64_t h, uint64_t word) noexcept nogil:
    h = (h ^ word) * <uint64_t> 0xBF58476D1CE4E5B9
    h = (h ^ (h >> 32)) * <uint64_t> 0x94D049BB133111EB
    return h ^ (h >> 29)


cdef inline void feed(uint64_t* key, uint64_t word) noexcept nogil:
    key[0] = mix_word(key[0], word)
    key[1] = mix_word(key[1] + <uint64_t> 0x9E3779B97F4A7C15, word)


cdef void feed_ages(const GoState* s, uint64_t* key) noexcept nogil:
    cdef int action, point
    for action in range(s.geo.area):
        point = s.geo.point_of_action[action]
        if s.color[point] != EMPTY:
            feed(key, s.n_moves - s.placed_at[point])


cdef int least_turn(const GoState* s, uint64_t* least) noexcept nogil:
    """Return the symmetry in which the hash of the stones is least, and the hash; 0 and the hash for many stones."""
    cdef const Geometry* geo = s.geo
    cdef uint64_t[8] hashes
    cdef int action, color, symmetry
    cdef int best = 0
    cdef int stones = 0
    memset(&hashes[0], 0, sizeof(hashes))
    for action in range(geo.area):
        color = s.color[geo.point_of_action[action]]
        if color == EMPTY:
            continue
        stones += 1
        if stones > SYMMETRIC_STONES:
            least[0] = s.hash
            return 0
        for symmetry in range(geo.n_symmetries):
            hashes[symmetry] ^= zobrist_stone[geo.point_of_action[geo.symmetry[symmetry][action]]][color]
    for symmetry in range(1, geo.n_symmetries):
        if hashes[symmetry] < hashes[best]:
            best = symmetry
    least[0] = hashes[best]
    return best


cdef uint64_t turned_situation(const GoState* s, int to_play, int turn, uint64_t stones) noexcept nogil:
    """Return go_situation_key of the turned position, whose stones have that hash."""
    cdef const Geometry* geo = s.geo
    cdef uint64_t key = go_situation_key(s, to_play) ^ s.hash ^ stones
    cdef int there
    if s.ko_point != NO_POINT and s.ko_color == to_play:
        there = geo.point_of_action[geo.symmetry[turn][geo.action_of_point[s.ko_point]]]
        key ^= zobrist_stone[s.ko_point][3] ^ zobrist_stone[there][3]
    return key


cdef int position_key(
    const GoState* s, int to_play, const uint8_t* legal, const KeyOptions* options, int max_history, uint64_t* key
) noexcept nogil:
    cdef int area = s.geo.area
    cdef int action, i, w, slot
    cdef int words = (s.geo.n_points + 63) // 64
    cdef int turn = 0
    cdef uint64_t stones = s.hash
    cdef const int16_t* back
    if options.symmetric and options.ignore_history:
        turn = least_turn(s, &stones)
    back = &s.geo.symmetry[inverse(turn)][0]
    key[0] = options.salt
    key[1] = ~options.salt
    feed(key, turned_situation(s, to_play, turn, stones))
    feed(key, (<uint64_t> go_handicap(s) << 16) | (max_history << 2) | (2 if s.ended else 0))
    if s.rules.scoring == SCORING_TERRITORY:
        feed(key, (<uint64_t> (s.prisoners[BLACK] - s.prisoners[WHITE] + 65536) << 32)
             | <uint64_t> (s.placed[BLACK] - s.placed[WHITE] + 65536))
    for action in range(area):
        if not legal[back[action]] and s.color[s.geo.point_of_action[back[action]]] == EMPTY:
            feed(key, action)
    if options.ignore_history:
        return turn
    if options.ages:
        feed_ages(s, key)
    for i in range(options.history if options.history < max_history else max_history):
        if i >= s.n_moves:
            break
        slot = (s.n_moves - 1 - i) & 7
        feed(key, (<uint64_t> s.recent_color[slot] << 16) | <uint64_t> <int> s.recent_move[slot] + 1)
    for i in range(1, options.boards + 1):
        if i >= s.n_past:
            break
        slot = (s.past_now - i) & (PAST - 1)
        feed(key, 0x5151)
        for w in range(words):
            feed(key, s.past[slot][0][w])
            feed(key, s.past[slot][1][w])
    return turn
