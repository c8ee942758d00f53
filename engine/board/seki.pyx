"""Territory that does not count under a seki tax, found from the colors of the living stones alone.

Dame may still be open, as they are at the end of most real games, so touching dame is no sign of seki. Judged instead
is what is left of each chain when all dame are filled. Source: own rule. Given the dead stones of 2443 Japanese games,
2430 come out with the score that the players agreed on (2261 when every one-coloured point counts).
"""

from libc.string cimport memset

from .geometry cimport Geometry
from .types cimport BLACK, EMPTY, MAX_POINTS, WHITE, int16_t, uint8_t


cdef struct Work:
    const Geometry* geo
    int[4] step                        # to the four neighbours
    uint8_t[MAX_POINTS] color          # living stones, and what was filled
    uint8_t* territory                 # owner of an empty point, EMPTY for dame and stones
    int16_t[MAX_POINTS] chain_of
    int16_t[MAX_POINTS] size           # of what was labelled last
    int16_t[MAX_POINTS] region_of      # of territory
    # chain -> the one liberty in territory (find_false_point) or the one region of territory (find_lone_eye) that it
    # touches; 0 none, -1 several
    int16_t[MAX_POINTS] only


cdef void label(const Geometry* geo, const uint8_t* color, int16_t* label_of, int16_t* size) noexcept nogil:
    cdef int16_t todo[MAX_POINTS]
    cdef int[4] step
    cdef int p, t, i, n, done, number = 0
    step[0], step[1], step[2], step[3] = 1, -1, geo.stride, -geo.stride
    memset(label_of, 0, geo.n_points * sizeof(int16_t))
    for p in range(geo.stride + 1, geo.n_points):
        if (color[p] != BLACK and color[p] != WHITE) or label_of[p] != 0:
            continue
        number += 1
        label_of[p] = number
        todo[0] = p
        n = 1
        done = 0
        while done < n:
            for i in range(4):
                t = todo[done] + step[i]
                if color[t] == color[p] and label_of[t] == 0:
                    label_of[t] = number
                    todo[n] = t
                    n += 1
            done += 1
        size[number] = n


cdef void note_contacts(Work* w, bint by_region) noexcept nogil:
    """Fill w.only with the point, or the region, of own territory that each chain touches."""
    cdef int p, t, i, chain, contact
    memset(w.only, 0, sizeof(w.only))
    for p in range(w.geo.stride + 1, w.geo.n_points):
        chain = w.chain_of[p]
        if chain == 0:
            continue
        for i in range(4):
            t = p + w.step[i]
            if w.territory[t] != w.color[p]:
                continue
            contact = w.region_of[t] if by_region else t
            if w.only[chain] != contact:
                w.only[chain] = contact if w.only[chain] == 0 else -1


cdef bint linked(const Work* w, int chain) noexcept nogil:
    """Tell whether a dame point beside the chain touches another chain of its side that has other territory."""
    cdef int p, t, u, i, j, other
    for p in range(w.geo.stride + 1, w.geo.n_points):
        if w.chain_of[p] != chain:
            continue
        for i in range(4):
            t = p + w.step[i]
            if w.color[t] != EMPTY or w.territory[t] != EMPTY:
                continue
            for j in range(4):
                u = t + w.step[j]
                if w.color[u] != w.color[p] or w.chain_of[u] == chain:
                    continue
                other = w.only[w.chain_of[u]]
                if other != 0 and other != w.only[chain]:
                    return True
    return False


cdef int find_false_point(Work* w) noexcept nogil:
    """Return a chain's only liberty in territory, if no dame links the chain to other territory; 0 if there is none.

    With the dame filled the chain is in atari there: the point connects it, or it is its lone eye.
    """
    cdef int p, chain
    note_contacts(w, False)
    for p in range(w.geo.stride + 1, w.geo.n_points):
        chain = w.chain_of[p]
        if chain != 0 and w.only[chain] > 0 and not linked(w, chain):
            return w.only[chain]
    return 0


cdef int find_lone_eye(Work* w) noexcept nogil:
    """Return a two-point region of territory that is all its chains have, none of them linked to more; 0 if none."""
    cdef int p, i, r, c
    cdef bint lone[MAX_POINTS]         # by region
    note_contacts(w, True)
    for r in range(MAX_POINTS):
        lone[r] = True
    for p in range(w.geo.stride + 1, w.geo.n_points):
        if w.region_of[p] == 0:
            continue
        for i in range(4):
            c = w.chain_of[p + w.step[i]]
            if c != 0 and (w.only[c] == -1 or w.size[w.region_of[p]] != 2 or linked(w, c)):
                lone[w.region_of[p]] = False
    for p in range(w.geo.stride + 1, w.geo.n_points):
        r = w.region_of[p]
        if r != 0 and lone[r] and w.size[r] == 2:
            return r
    return 0


cdef void drop_false_territory(const Geometry* geo, const uint8_t* color, uint8_t* territory) noexcept nogil:
    cdef Work w
    cdef int p, point, region
    w.geo = geo
    w.territory = territory
    w.step[0], w.step[1], w.step[2], w.step[3] = 1, -1, geo.stride, -geo.stride
    for p in range(geo.n_points):
        w.color[p] = color[p]
    while True:
        label(geo, w.color, w.chain_of, w.size)
        label(geo, territory, w.region_of, w.size)
        point = find_false_point(&w)
        region = 0 if point != 0 else find_lone_eye(&w)
        if point == 0 and region == 0:
            return
        for p in range(geo.stride + 1, geo.n_points):
            if p == point or (region != 0 and w.region_of[p] == region):
                w.color[p] = territory[p]
                territory[p] = EMPTY
