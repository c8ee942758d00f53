"""The padded board of one size. Row 0 is the top row; a point is (y+1)*stride + x + 1, stride = width + 1.

One wall column serves both sides. Neighbours of a point are at +1, -1, +stride, -stride; diagonals at the sums.
Geometries are made once per size, shared and never freed.
"""

from .types cimport MAX_ACTIONS, MAX_POINTS, int16_t, uint8_t

ctypedef struct Geometry:
    int width
    int height
    int area                                # width * height; also the action index of pass
    int stride                              # width + 1
    int n_points                            # (height + 2) * stride + 1, walls included
    int16_t point_of_action[MAX_ACTIONS]    # action -> point; action area -> PASS
    int16_t action_of_point[MAX_POINTS]     # point -> action; PASS (0) -> area; other walls -> -1
    uint8_t empty_board[MAX_POINTS]         # WALL off the board, EMPTY on it
    int16_t symmetry[8][MAX_ACTIONS]        # action -> action under each dihedral symmetry; see geometry.pyx
    int n_symmetries                        # 8 on a square board, 4 on a rectangle (symmetries 0..3: no transpose)

cdef const Geometry* get_geometry(int width, int height) except NULL
