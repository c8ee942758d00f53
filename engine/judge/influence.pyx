"""The influence of stones on empty points: what each stone radiates along shortest ways over empty points.

A way steps to any of the eight neighbours, diagonal steps are longer, and stones block it. A stone's influence is
64 exp(-k (d - 1)) at distance d, Black's positive, White's negative, and the influences of all stones add up.
Source: the influence function of the paper in docs/judge.md, whose constants are unreadable there; those that come
nearest to its table are the defaults in influence_judge.py.
"""

from libc.math cimport exp

import numpy as np

cdef enum:
    MAX_AREA = 625
    QUEUE = 8192            # a power of two above 8 * MAX_AREA: a point waits once, so the ring never fills


cdef void spread(
    const unsigned char* board, int width, int height, int start, double diagonal, double reach, double* distance
) noexcept nogil:
    """Write the shortest distance from a stone to every empty point, reach or more where it is not nearer than that."""
    cdef int[QUEUE] queue
    cdef bint[MAX_AREA] waits
    cdef int head = 0, tail = 0, at, x, y, dx, dy, to
    cdef double d
    for at in range(width * height):
        distance[at] = reach
        waits[at] = False
    distance[start] = 0.0
    queue[0] = start
    tail = 1
    waits[start] = True
    while head != tail:
        at = queue[head]
        head = (head + 1) & (QUEUE - 1)
        waits[at] = False
        y = at // width
        x = at - y * width
        for dy in range(-1, 2):
            if y + dy < 0 or y + dy >= height:
                continue
            for dx in range(-1, 2):
                if (dx == 0 and dy == 0) or x + dx < 0 or x + dx >= width:
                    continue
                to = (y + dy) * width + x + dx
                if board[to] != 0:
                    continue
                d = distance[at] + (diagonal if dx != 0 and dy != 0 else 1.0)
                if d < distance[to] - 1e-9:
                    distance[to] = d
                    if not waits[to]:
                        waits[to] = True
                        queue[tail] = to
                        tail = (tail + 1) & (QUEUE - 1)


def influence_map(board, double k, double diagonal, double strength):
    """Return the summed influence on the empty points, 0 on stones.

    Args:
        board: uint8 [H, W], 0 empty, 1 Black, 2 White; 625 points at most.
        k: decay by distance.
        diagonal: length of a diagonal step.
        strength: of a stone at distance 1.

    Returns float64 [H, W], Black positive. Raises ValueError if the board is too large.
    """
    cdef const unsigned char[:, ::1] cells = np.ascontiguousarray(board, dtype=np.uint8)
    cdef int height = cells.shape[0], width = cells.shape[1], at, start
    if width * height > MAX_AREA or width * height == 0:
        raise ValueError(f"a board of {width}x{height} points")
    out = np.zeros((height, width), dtype=np.float64)
    cdef double[:, ::1] total_view = out
    cdef double* total = &total_view[0, 0]
    cdef const unsigned char* flat = &cells[0, 0]
    cdef double[MAX_AREA] distance
    cdef double sign
    cdef double reach = 1000.0
    with nogil:
        for start in range(width * height):
            if flat[start] == 0:
                continue
            sign = strength if flat[start] == 1 else -strength
            spread(flat, width, height, start, diagonal, reach, distance)
            for at in range(width * height):
                if flat[at] == 0 and distance[at] < reach:
                    total[at] += sign * exp(-k * (distance[at] - 1.0))
    return out
