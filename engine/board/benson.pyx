"""Benson's unconditional life on bare colors, one side at a time.

A region of a side is a connected set of points without its stones that holds an empty point. It is vital for a chain
if each of its empty points (each of its points, where suicide is legal) touches the chain. Chains with fewer than two
vital regions are given up, and with them every region that they border, until nothing changes.
Source: D. B. Benson, "Life in the game of Go", Information Sciences 10 (1976); the territory: docs/nets.md §2.3.
"""

from libc.string cimport memset

from .geometry cimport Geometry
from .types cimport EMPTY, MAX_POINTS, WALL, int16_t, uint8_t


cdef struct Work:
    const Geometry* geo
    const uint8_t* color
    int owner
    int[4] step                       # to the four neighbours
    uint8_t[MAX_POINTS] mine          # 1: a stone of the owner that is not yet in a chain
    uint8_t[MAX_POINTS] other         # 1: another point of the board that is not yet in a region
    # Chains of the owner, numbered from 1. The stones of chain c are stones[chain_start[c]:chain_start[c + 1]].
    int n_chains
    int16_t[MAX_POINTS] chain_of      # point -> chain, 0 elsewhere
    int16_t[MAX_POINTS] chain_start
    int16_t[MAX_POINTS] stones
    int16_t[MAX_POINTS] eyes          # chain -> number of its vital regions that are still sound
    bint[MAX_POINTS] alive            # by chain
    # Regions, numbered from 1. The points of region r are points[region_start[r]:region_start[r + 1]].
    int n_regions
    int16_t[MAX_POINTS] region_of     # point -> region, 0 elsewhere
    int16_t[MAX_POINTS] region_start
    int16_t[MAX_POINTS] points
    int16_t[4 * MAX_POINTS] vital     # region r is vital for the chains vital[4 * r : 4 * r + n_vital[r]]
    int16_t[MAX_POINTS] n_vital
    int16_t[MAX_POINTS] inner         # region -> points of it that touch no stone of the owner
    bint[MAX_POINTS] holds_opponent   # by region
    bint[MAX_POINTS] sound            # by region: borders living chains only


cdef void split(Work* w) noexcept nogil:
    cdef int p
    for p in range(w.geo.n_points):
        w.mine[p] = w.color[p] == w.owner
        w.other[p] = (w.color[p] != w.owner) & (w.color[p] != WALL)


cdef inline int gather(uint8_t* waiting, int16_t* found, int n, int p, int stride) noexcept nogil:
    """Append the neighbours of p that wait to found[n:], take their marks, and return the new n.

    Perf: no branches, since which neighbours wait cannot be predicted: both sides of a finished 19x19 board took 24 us
    with them and take 14 us now (EPYC, November 2026).
    """
    found[n] = p + 1
    n += waiting[p + 1]
    waiting[p + 1] = 0
    found[n] = p - 1
    n += waiting[p - 1]
    waiting[p - 1] = 0
    found[n] = p + stride
    n += waiting[p + stride]
    waiting[p + stride] = 0
    found[n] = p - stride
    n += waiting[p - stride]
    waiting[p - stride] = 0
    return n


cdef void find_chains(Work* w) noexcept nogil:
    cdef int p, done, n = 0
    cdef int stride = w.geo.stride
    memset(w.chain_of, 0, w.geo.n_points * sizeof(int16_t))
    w.n_chains = 0
    for p in range(stride + 1, w.geo.n_points):
        if not w.mine[p]:
            continue
        w.n_chains += 1
        w.chain_start[w.n_chains] = n
        w.eyes[w.n_chains] = 0
        w.alive[w.n_chains] = True
        w.mine[p] = 0
        w.stones[n] = p
        done = n
        n += 1
        while done < n:
            w.chain_of[w.stones[done]] = w.n_chains
            n = gather(w.mine, w.stones, n, w.stones[done], stride)
            done += 1
    w.chain_start[w.n_chains + 1] = n


cdef void keep_vital(Work* w, int r, int point) noexcept nogil:
    """Drop from region r's vital list the chains that do not touch the point."""
    cdef int j, i, c, kept = 0
    for j in range(w.n_vital[r]):
        c = w.vital[4 * r + j]
        for i in range(4):
            if w.chain_of[point + w.step[i]] == c:
                w.vital[4 * r + kept] = c
                kept += 1
                break
    w.n_vital[r] = kept


cdef void start_region(Work* w, int r, int point) noexcept nogil:
    """Set up region r from an empty point; only the chains that touch it (four at most) can be vital."""
    cdef int i, j, c
    w.sound[r] = True
    w.n_vital[r] = 0
    for i in range(4):
        c = w.chain_of[point + w.step[i]]
        if c == 0:
            continue
        for j in range(w.n_vital[r]):
            if w.vital[4 * r + j] == c:
                break
        else:
            w.vital[4 * r + w.n_vital[r]] = c
            w.n_vital[r] += 1


cdef void find_regions(Work* w, bint suicide) noexcept nogil:
    cdef const uint8_t* color = w.color
    cdef int owner = w.owner
    cdef int stride = w.geo.stride
    cdef int p, q, j, r, inner, stones, done, n = 0
    memset(w.region_of, 0, w.geo.n_points * sizeof(int16_t))
    w.n_regions = 0
    for p in range(stride + 1, w.geo.n_points):
        if color[p] != EMPTY or not w.other[p]:
            continue
        w.n_regions += 1
        r = w.n_regions
        start_region(w, r, p)
        w.region_start[r] = n
        w.other[p] = 0
        w.points[n] = p
        done = n
        n += 1
        inner = 0
        stones = 0
        while done < n:
            q = w.points[done]
            done += 1
            w.region_of[q] = r
            n = gather(w.other, w.points, n, q, stride)
            inner += not ((color[q + 1] == owner) | (color[q - 1] == owner)
                          | (color[q + stride] == owner) | (color[q - stride] == owner))
            stones += color[q] != EMPTY
            if w.n_vital[r] > 0 and (suicide or color[q] == EMPTY):
                keep_vital(w, r, q)
        w.inner[r] = inner
        w.holds_opponent[r] = stones > 0
        for j in range(w.n_vital[r]):
            w.eyes[w.vital[4 * r + j]] += 1
    w.region_start[w.n_regions + 1] = n


cdef void give_up_chains(Work* w) noexcept nogil:
    cdef int c, k, i, j, r
    cdef bint changed = True
    while changed:
        changed = False
        for c in range(1, w.n_chains + 1):
            if not w.alive[c] or w.eyes[c] >= 2:
                continue
            w.alive[c] = False
            changed = True
            for k in range(w.chain_start[c], w.chain_start[c + 1]):
                for i in range(4):
                    r = w.region_of[w.stones[k] + w.step[i]]
                    if r != 0 and w.sound[r]:
                        w.sound[r] = False
                        for j in range(w.n_vital[r]):
                            w.eyes[w.vital[4 * r + j]] -= 1


cdef void mark_owned(
    const Geometry* geo, const uint8_t* color, int owner, bint suicide, bint unsafe_big, uint8_t* out
) noexcept nogil:
    cdef Work w
    cdef int c, r, k
    w.geo = geo
    w.color = color
    w.owner = owner
    w.step[0], w.step[1], w.step[2], w.step[3] = 1, -1, geo.stride, -geo.stride
    split(&w)
    find_chains(&w)
    if w.n_chains == 0:
        return                        # the one region is the whole board, and nobody's
    find_regions(&w, suicide)
    give_up_chains(&w)
    for c in range(1, w.n_chains + 1):
        if w.alive[c]:
            for k in range(w.chain_start[c], w.chain_start[c + 1]):
                out[w.stones[k]] = owner
    for r in range(1, w.n_regions + 1):
        if w.sound[r] and (w.inner[r] <= 1 or not w.holds_opponent[r]):
            for k in range(w.region_start[r], w.region_start[r + 1]):
                out[w.points[k]] = owner
        elif unsafe_big and not w.holds_opponent[r]:
            for k in range(w.region_start[r], w.region_start[r + 1]):
                if out[w.points[k]] == EMPTY:
                    out[w.points[k]] = owner
