"""Openings: seeded, legal, different, and sensible."""

import numpy as np
import pytest

from engine.board.position import Position
from engine.match.openings import canonical_key, line_weights, make_openings


@pytest.mark.parametrize(("width", "height"), [(9, 9), (19, 19), (13, 9), (5, 5)])
def test_openings_are_legal_and_all_different(width, height):
    openings = make_openings(50, 4, width, height, seed=3)
    keys = set()
    for actions in openings:
        assert len(actions) == 4
        position = Position(width, height)
        for action in actions:
            position.play(action)
        keys.add(canonical_key(position.board()))
    assert len(keys) == 50


def test_a_seed_gives_the_same_openings_whatever_the_count():
    assert make_openings(20, 4, 9, 9, seed=1) == make_openings(30, 4, 9, 9, seed=1)[:20]
    assert make_openings(20, 4, 9, 9, seed=1) != make_openings(20, 4, 9, 9, seed=2)


def test_openings_keep_off_the_edge_and_apart():
    lines = []
    touching = 0
    for actions in make_openings(100, 6, 19, 19, seed=5):
        points = [divmod(action, 19) for action in actions]
        lines += [min(y, x, 18 - y, 18 - x) for y, x in points]
        touching += sum(abs(a - c) + abs(b - d) == 1 for (a, b) in points for (c, d) in points) > 0
    assert min(lines) >= 1 and np.mean([line in (2, 3, 4) for line in lines]) > 0.9
    assert touching < 30


def test_tiny_boards_and_no_plies():
    assert make_openings(3, 0, 9, 9, seed=1) == [[], [], []]
    assert len(make_openings(10, 2, 2, 2, seed=1)) == 10
    assert (line_weights(2, 25) > 0).all()


def test_canonical_key_ignores_rotations_and_reflections():
    board = np.zeros((5, 5), dtype=np.uint8)
    board[0, 1], board[3, 3] = 1, 2
    other = board.copy()
    other[0, 1] = 2
    assert len({canonical_key(b) for b in (board, board.T, np.rot90(board), np.flipud(board))}) == 1
    assert canonical_key(board) != canonical_key(other)
