"""Reads a small closed region to the end: can the attacker capture a chain, whoever moves first?

A region is up to 64 points, empty or with stones that may die, closed in by walls and by stones that cannot be
captured. Both sides may pass; two passes end the reading. Kos are fought without threats from outside; on wish a ko that
was taken stays barred until its loser passes (Japanese rules of 1989, article 7, paragraph 2), so that threats from the
region do not count either. A position that comes back counts for the defender. The answer is exact unless the limit of
nodes or MOST_DEPTH moves ran out (kos and captures that go round and round), and then it is "not known".
Board: bit sets over the region's points. Method: depth-first and/or search, deepened step by step, with a table.
"""

from libc.stdint cimport int8_t, int16_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static int kv_lowest(unsigned long long v) { unsigned long i; _BitScanForward64(&i, v); return (int)i; }
    static int kv_count(unsigned long long v) { int n = 0; while (v) { v &= v - 1; n++; } return n; }
    #else
    static int kv_lowest(unsigned long long v) { return __builtin_ctzll(v); }
    static int kv_count(unsigned long long v) { return __builtin_popcountll(v); }
    #endif
    """
    int kv_lowest(uint64_t) noexcept nogil
    int kv_count(uint64_t) noexcept nogil

cdef enum:
    CAPTURED = 1
    UNKNOWN = 0
    SAFE = -1
    TABLE = 1 << 17
    MOST_DEPTH = 60
    PASS = 64

cdef struct Entry:
    uint64_t defender
    uint64_t attacker
    uint64_t[2] barred
    int8_t to_move           # 1 defender, 2 attacker; 0 free
    int8_t passes
    int8_t result
    int16_t depth            # of an UNKNOWN

cdef struct Reader:
    int n
    uint64_t[64] near        # neighbours inside the region
    uint64_t inside          # all points
    uint64_t[2] firm         # points beside safe stones, of the defender (0) and the attacker (1)
    uint64_t target          # the stones asked about
    uint64_t price           # attacking stones that must not be lost for it
    bint pass_for_ko
    bint kos                 # whether a ko was taken anywhere in the search
    uint64_t[MOST_DEPTH + 2] past_defender
    uint64_t[MOST_DEPTH + 2] past_attacker
    uint64_t[2 * (MOST_DEPTH + 2)] past_barred
    long nodes
    long limit
    int root_move
    Entry* table


cdef inline uint64_t around(const Reader* r, uint64_t points) noexcept nogil:
    """Return the neighbours of the points, themselves included where they touch each other."""
    cdef uint64_t found = 0
    while points:
        found |= r.near[kv_lowest(points)]
        points &= points - 1
    return found


cdef inline uint64_t chain_at(const Reader* r, uint64_t stones, uint64_t start) noexcept nogil:
    cdef uint64_t chain = start, edge = start
    while edge:
        edge = around(r, edge) & stones & ~chain
        chain |= edge
    return chain


cdef int play(const Reader* r, uint64_t* side, int who, int point, uint64_t* ko) noexcept nogil:
    """Play a stone; return 0 and change nothing if that is suicide.

    The ko, a set of one point or none, is not checked.
    """
    cdef uint64_t stone = <uint64_t>1 << point
    cdef uint64_t mine = side[who] | stone, theirs = side[1 - who]
    cdef uint64_t taken = 0, left = r.near[point] & theirs, chain, empty
    while left:
        chain = chain_at(r, theirs, left & (~left + 1))
        left &= ~chain
        if chain & r.firm[1 - who]:
            continue
        if around(r, chain) & r.inside & ~(mine | theirs) == 0:
            taken |= chain
    theirs &= ~taken
    empty = r.inside & ~(mine | theirs)
    chain = chain_at(r, mine, stone)
    if not (chain & r.firm[who]) and around(r, chain) & empty == 0:
        return 0
    ko[0] = 0
    if kv_count(taken) == 1 and chain == stone and not (chain & r.firm[who]) and kv_count(r.near[point] & empty) == 1:
        ko[0] = taken
    side[who] = mine
    side[1 - who] = theirs
    return 1


cdef bint lives(const Reader* r, const uint64_t* side) noexcept nogil:
    """Tell whether a target stone stands and is safe at once: tied to safe stones, or with two eyes in one chain."""
    cdef uint64_t left = side[0] & r.target, chain, empty = r.inside & ~(side[0] | side[1]), eyes
    cdef int count, p
    while left:
        chain = chain_at(r, side[0], left & (~left + 1))
        left &= ~chain
        if chain & r.firm[0]:
            return True
        count = 0
        eyes = around(r, chain) & empty
        while eyes:
            p = kv_lowest(eyes)
            eyes &= eyes - 1
            if r.near[p] & ~chain == 0 and not ((<uint64_t>1 << p) & r.firm[1]):
                count += 1
        if count >= 2:
            return True
    return False


cdef int at_the_end(const Reader* r, const uint64_t* side) noexcept nogil:
    """Judge a position in which both passed: SAFE if a target stone stands, its point is the defender's now, or the
    defender took the price."""
    cdef uint64_t region, edge, occupied = side[0] | side[1]
    if side[0] & (r.target | r.price):
        return SAFE
    region = r.target & ~occupied
    region &= ~region + 1                  # one empty point of the target, if there is any
    if region == 0:
        return CAPTURED
    edge = region
    while edge:
        edge = around(r, edge) & r.inside & ~occupied & ~region
        region |= edge
    if around(r, region) & side[1] or region & r.firm[1]:
        return CAPTURED
    return SAFE


cdef bint gone_for_good(const Reader* r, const uint64_t* side) noexcept nogil:
    """Tell whether the target was captured and nothing can come of it any more.

    That is so where every attacking chain on and around the room that it left is tied to safe stones (nothing can be
    taken back); and wherever six or more were taken: play under the stones is with fewer.
    """
    cdef uint64_t room, edge, wall, chain
    if side[0] & r.target or r.price:
        return False
    if kv_count(r.target) >= 6:
        return True
    room = r.target & ~side[1]
    edge = room
    while edge:
        edge = around(r, edge) & r.inside & ~side[1] & ~room
        room |= edge
    if room & r.firm[0]:
        return False                       # the defender connects to safe stones there
    wall = (around(r, room | r.target) | r.target) & side[1]
    if wall == 0:
        return False                       # those who took it are gone themselves
    while wall:
        chain = chain_at(r, side[1], wall & (~wall + 1))
        wall &= ~chain
        if not (chain & r.firm[1]):
            return False
    return True


cdef inline uint64_t slot_of(
    uint64_t defender, uint64_t attacker, int to_move, uint64_t barred, int passes
) noexcept nogil:
    cdef uint64_t h = defender * <uint64_t>0x9E3779B97F4A7C15
    h ^= (attacker + <uint64_t>0xD1B54A32D192ED03) * <uint64_t>0xC2B2AE3D27D4EB4F
    h ^= <uint64_t>to_move * 1315423911 + barred * <uint64_t>0xA24BAED4963EE407 + <uint64_t>passes * 50331653
    h ^= h >> 29
    h *= <uint64_t>0xBF58476D1CE4E5B9
    return (h >> 40) & (TABLE - 1)


cdef uint64_t sorted_group(const Reader* r, const uint64_t* side, int stage, uint64_t empty) noexcept nogil:
    """Return the empty points of a stage of the move ordering.

    The stages: liberties of the target, points beside stones, others.
    """
    cdef uint64_t targets = 0, left = side[0] & r.target, chain
    while left:
        chain = chain_at(r, side[0], left & (~left + 1))
        left &= ~chain
        targets |= chain
    cdef uint64_t first = around(r, targets) & empty
    cdef uint64_t second = around(r, side[0] | side[1]) & empty & ~first
    if stage == 0:
        return first
    return second if stage == 1 else empty & ~first & ~second


cdef inline bint was_here(
    const Reader* r, uint64_t defender, uint64_t attacker, const uint64_t* barred, int ply
) noexcept nogil:
    """Tell whether the same position with the same side to move came up on the way to here."""
    cdef int i
    for i in range(ply - 2, -1, -2):
        if (r.past_defender[i] == defender and r.past_attacker[i] == attacker
                and r.past_barred[2 * i] == barred[0] and r.past_barred[2 * i + 1] == barred[1]):
            return True
    return False


cdef inline bint is_known(
    const Entry* entry, uint64_t defender, uint64_t attacker, const uint64_t* barred, int who, int passes
) noexcept nogil:
    return (entry.to_move == who + 1 and entry.passes == passes and entry.defender == defender
            and entry.attacker == attacker and entry.barred[0] == barred[0] and entry.barred[1] == barred[1])


cdef inline void bars_after(
    const Reader* r, const uint64_t* barred, int who, uint64_t ko, uint64_t stones, uint64_t* after
) noexcept nogil:
    """Fill in what is barred once `who` played, taking in a ko (a set of one point) or not."""
    after[0] = after[1] = 0
    if r.pass_for_ko:
        after[0] = barred[0] & ~stones
        after[1] = barred[1] & ~stones
    after[1 - who] |= ko


cdef int search(
    Reader* r, uint64_t defender, uint64_t attacker, int who, const uint64_t* barred, int passes, int depth, int ply
) noexcept nogil:
    """Return CAPTURED, SAFE, or UNKNOWN where depth or nodes ran out. barred: what each side may not retake now."""
    cdef uint64_t[2] side
    cdef uint64_t[2] after
    cdef uint64_t[2] bars
    cdef Entry* entry
    cdef uint64_t moves, empty, ko, slot
    cdef int stage, p, value, best, good
    side[0] = defender
    side[1] = attacker
    if passes >= 2:
        return at_the_end(r, side)
    if passes == 0 and lives(r, side):
        return SAFE
    if gone_for_good(r, side):
        return CAPTURED
    if passes == 0 and was_here(r, defender, attacker, barred, ply):
        return SAFE
    r.nodes += 1
    if r.nodes > r.limit or depth <= 0 or ply >= MOST_DEPTH:
        return UNKNOWN
    slot = slot_of(defender, attacker, who, barred[0] ^ barred[1] << 1, passes)
    entry = &r.table[slot]
    if ply > 0 and is_known(entry, defender, attacker, barred, who, passes):
        if entry.result != UNKNOWN or entry.depth >= depth:
            return entry.result
    r.past_defender[ply] = defender
    r.past_attacker[ply] = attacker
    r.past_barred[2 * ply] = barred[0]
    r.past_barred[2 * ply + 1] = barred[1]
    good = CAPTURED if who == 1 else SAFE
    best = -good
    empty = r.inside & ~(defender | attacker)
    for stage in range(4):
        # The attacker passes only to let a ko rest or when the target is gone: else the defender passes too and stands.
        if stage == 3 and who == 1 and barred[1] == 0 and side[0] & r.target:
            break
        moves = sorted_group(r, side, stage, empty & ~barred[who]) if stage < 3 else 1
        while moves:
            p = kv_lowest(moves)
            moves &= moves - 1
            if stage == 3:
                bars_after(r, barred, who, 0, 0, bars)
                bars[who] = 0
                value = search(r, defender, attacker, 1 - who, bars, passes + 1, depth - 1, ply + 1)
                p = PASS
            else:
                after[0] = defender
                after[1] = attacker
                if not play(r, after, who, p, &ko):
                    continue
                r.kos |= ko != 0
                bars_after(r, barred, who, ko, after[0] | after[1], bars)
                value = search(r, after[0], after[1], 1 - who, bars, 0, depth - 1, ply + 1)
            if value == good:
                best = good
                if ply == 0:
                    r.root_move = p
                break
            if value == UNKNOWN:
                best = UNKNOWN
        if best == good:
            break
    if r.nodes <= r.limit:
        entry = &r.table[slot]
        entry.defender = defender
        entry.attacker = attacker
        entry.to_move = who + 1
        entry.barred[0] = barred[0]
        entry.barred[1] = barred[1]
        entry.passes = passes
        entry.result = best
        entry.depth = depth
    return best


cdef uint64_t as_set(points) except? 0:
    """Return a bit set of indices."""
    cdef uint64_t found = 0
    for point in points:
        found |= <uint64_t>1 << <int>point
    return found


cdef int deepen(Reader* r, uint64_t defender, uint64_t attacker, int who, const uint64_t* barred) noexcept nogil:
    """Search deeper and deeper; return CAPTURED, SAFE, or UNKNOWN where the limit of nodes ran out."""
    cdef int depth = 4, result = UNKNOWN
    memset(r.table, 0, TABLE * sizeof(Entry))
    r.root_move = PASS
    while depth <= MOST_DEPTH and r.nodes <= r.limit:
        result = search(r, defender, attacker, who, barred, 0, depth, 0)
        if result != UNKNOWN:
            break
        depth += 4
    return result


def read_region(
    neighbours, defender, attacker, firm_defender, firm_attacker, target, *, attacker_first, ko, limit, price=(),
    pass_for_ko=False,
):
    """Read whether the target is captured.

    Args:
        neighbours: for each point of the region (64 at most) the indices of its neighbours inside it.
        defender, attacker: indices of the stones.
        firm_defender, firm_attacker: indices of the points beside safe stones of that side.
        target: indices of the defender's stones asked about.
        attacker_first: who moves first.
        ko: index of the point that the first to move may not take, or None.
        limit: nodes.
        price: indices of attacking stones; where a defending stone stands on one in the end, the target counts as safe.
        pass_for_ko: a taken ko stays barred until its loser passes, else for one move.

    Returns:
        (1 captured, -1 safe, 0 not known; index of the first move that does it for the side that moves first, -1 for
        a pass, None if it does not get what it wants; nodes used; whether a ko came up).

    Raises ValueError if the region is too large.
    """
    cdef Reader r
    cdef int i, result = UNKNOWN
    cdef uint64_t d, a
    cdef uint64_t[2] barred
    r.n = len(neighbours)
    if r.n > 64:
        raise ValueError(f"a region of {r.n} points")
    r.inside = 0
    for i in range(r.n):
        r.near[i] = as_set(neighbours[i])
        r.inside |= <uint64_t>1 << i
    d, a = as_set(defender), as_set(attacker)
    r.firm[0], r.firm[1] = as_set(firm_defender), as_set(firm_attacker)
    r.target, r.price = as_set(target), as_set(price)
    cdef int who = 1 if attacker_first else 0
    barred[0] = barred[1] = 0
    if ko is not None:
        barred[who] = as_set([ko])
    r.nodes = 0
    r.limit = limit
    r.pass_for_ko, r.kos = pass_for_ko, False
    r.table = <Entry*>malloc(TABLE * sizeof(Entry))
    if r.table == NULL:
        raise MemoryError()
    try:
        with nogil:
            result = deepen(&r, d, a, who, barred)
    finally:
        free(r.table)
    wanted = CAPTURED if who == 1 else SAFE
    move = None
    if result == wanted:
        move = -1 if r.root_move == PASS else r.root_move
    return result, move, r.nodes, bool(r.kos)
