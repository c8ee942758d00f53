"""Geometry tables: made once per board size under the GIL, then shared read-only by everything compiled."""

from libc.stdlib cimport calloc
from libc.string cimport memset

from .types cimport EMPTY, MAX_SIZE, MIN_SIZE, PASS, WALL

from engine.errors import UnsupportedBoardSize

cdef Geometry* known[MAX_SIZE + 1][MAX_SIZE + 1]
memset(known, 0, sizeof(known))


cdef const Geometry* get_geometry(int width, int height) except NULL:
    """Return the geometry of one size. Raises UnsupportedBoardSize outside 2..25 on either side."""
    if width < MIN_SIZE or height < MIN_SIZE or width > MAX_SIZE or height > MAX_SIZE:
        raise UnsupportedBoardSize(f"unsupported board size: {width}x{height} (2x2 to 25x25)")
    if known[width][height] == NULL:
        known[width][height] = make_geometry(width, height)
    return known[width][height]


cdef Geometry* make_geometry(int width, int height) except NULL:
    cdef Geometry* geo = <Geometry*>calloc(1, sizeof(Geometry))
    cdef int x, y, point, symmetry
    if geo == NULL:
        raise MemoryError()
    geo.width = width
    geo.height = height
    geo.area = width * height
    geo.stride = width + 1
    geo.n_points = (height + 2) * geo.stride + 1
    geo.n_symmetries = 8 if width == height else 4
    memset(geo.empty_board, WALL, sizeof(geo.empty_board))
    memset(geo.action_of_point, 0xFF, sizeof(geo.action_of_point))
    for y in range(height):
        for x in range(width):
            point = (y + 1) * geo.stride + x + 1
            geo.empty_board[point] = EMPTY
            geo.point_of_action[y * width + x] = point
            geo.action_of_point[point] = y * width + x
            for symmetry in range(8):
                geo.symmetry[symmetry][y * width + x] = moved(geo, x, y, symmetry)
    geo.point_of_action[geo.area] = PASS
    geo.action_of_point[PASS] = geo.area
    for symmetry in range(8):
        geo.symmetry[symmetry][geo.area] = geo.area
    return geo


cdef int moved(const Geometry* geo, int x, int y, int symmetry) noexcept nogil:
    # Flip rows (1), flip columns (2), then transpose (4); a transposed rectangle is height wide.
    if symmetry & 1:
        y = geo.height - 1 - y
    if symmetry & 2:
        x = geo.width - 1 - x
    if symmetry & 4:
        return x * geo.height + y
    return y * geo.width + x


def symmetry_tables(int width, int height):
    """Return the symmetries of a board as a list of action lists: table[s][action] is where that action goes.

    Symmetry bits: 1 = flip rows, 2 = flip columns, 4 = transpose; flips come first. A rectangle has only 0..3.
    """
    cdef const Geometry* geo = get_geometry(width, height)
    cdef int symmetry, action
    return [[geo.symmetry[symmetry][action] for action in range(geo.area + 1)] for symmetry in range(geo.n_symmetries)]
