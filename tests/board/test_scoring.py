"""Areas and scores: hand-made positions, and random ones against the slow oracle."""

import numpy as np
import pytest
import scoring_oracle as oracle

from engine.board import scoring
from engine.board.position import Position

COLORS = {".": 0, "X": 1, "O": 2}
SIZES = [(2, 2), (2, 5), (3, 3), (5, 4), (4, 7), (6, 6), (7, 7), (9, 9), (3, 12), (13, 8)]


def board_of(text):
    """Read rows of `.`, `X`, `O` (blanks ignored) as a [H, W] array."""
    return np.array([[COLORS[c] for c in row] for row in text.split()], dtype=np.uint8)


def position_of(text, rules="chinese-ogs", komi=0.0):
    """Make a position with these stones, none of which may lack a liberty."""
    board = board_of(text)
    position = Position(board.shape[1], board.shape[0], rules=rules, komi=komi)
    position.set_up([(int(color), action) for action, color in enumerate(board.reshape(-1)) if color])
    return position


def random_position(rng, width, height, rules="tromp-taylor"):
    """Play random legal moves, mostly not into own single-point eyes, for a random length."""
    position = Position(width, height, rules=rules, komi=0.0)
    fill_eyes = rng.random() < 0.3
    for _ in range(int(rng.integers(1, 3 * width * height))):
        legal = np.flatnonzero(position.legal_mask()[:-1])
        if not fill_eyes:
            board = position.board()
            me = position.to_play
            legal = [a for a in legal if not own_eye(board, divmod(int(a), width), me)]
        if len(legal) == 0:
            break
        position.play(int(rng.choice(legal)))
    return position


def own_eye(board, point, color):
    """Tell whether every neighbour of the point is of that color."""
    return all(board[q] == color for q in oracle.neighbours(board, point))


def check_against_oracle(position):
    """Compare every area function with the oracle under both suicide rules."""
    board = position.board()
    for suicide in (False, True):
        np.testing.assert_array_equal(scoring.pass_alive(position, suicide), oracle.pass_alive(board, suicide))
        np.testing.assert_array_equal(scoring.area(position, suicide), oracle.full_area(board, suicide))
        for territories, stones in ((False, False), (False, True), (True, False), (True, True)):
            got, difference = scoring.independent_life(
                position, suicide, keep_territories=territories, keep_stones=stones
            )
            want, want_difference = oracle.independent_life(board, suicide, territories, stones)
            np.testing.assert_array_equal(got, want)
            assert difference == want_difference
    got, difference = scoring.tromp_taylor(position)
    want, want_difference = oracle.tromp_taylor(board)
    np.testing.assert_array_equal(got, want)
    assert difference == want_difference


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_areas_agree_with_the_oracle(width, height):
    rng = np.random.default_rng(width * 100 + height)
    for _ in range(40 if width * height < 50 else 15):
        check_against_oracle(random_position(rng, width, height))
