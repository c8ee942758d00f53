"""Symmetry tables: each is a permutation that keeps neighbours, pass stays, flips and transposes do as they say."""

import numpy as np
import pytest

from engine.board.geometry import symmetry_tables


@pytest.mark.parametrize(("width", "height"), [(2, 2), (5, 5), (9, 9), (19, 19), (5, 7), (7, 2)])
def test_symmetries_are_those_of_numpy(width, height):
    tables = symmetry_tables(width, height)
    assert len(tables) == (8 if width == height else 4)
    assert len({tuple(table) for table in tables}) == len(tables)
    grid = np.arange(width * height).reshape(height, width)
    for symmetry, table in enumerate(tables):
        assert sorted(table) == list(range(width * height + 1))
        assert table[-1] == width * height
        turned = grid
        if symmetry & 1:
            turned = turned[::-1]
        if symmetry & 2:
            turned = turned[:, ::-1]
        if symmetry & 4:
            turned = turned.T
        # turned.ravel()[target] is the action that came there
        assert all(turned.ravel()[table[action]] == action for action in range(width * height))
