"""Areas: hand-made positions, and random ones against the slow oracle."""

import numpy as np
import pytest
import scoring_oracle as oracle

from engine.board import scoring
from engine.board.position import Position

COLORS = {".": 0, "X": 1, "O": 2}
SIZES = [(2, 2), (2, 5), (3, 3), (5, 4), (4, 7), (6, 6), (7, 7), (9, 9), (3, 12), (13, 8)]

# name, stones, pass-alive owners without suicide, the same with suicide (None: no difference)
PASS_ALIVE = [
    ("empty", "... ... ...", "... ... ...", None),
    ("one stone", "... .X. ...", "... ... ...", None),
    ("two eyes in the corner", ".X.XO XXXXO OOOOO ..... .....", "XXXX. XXXX. ..... ..... .....", None),
    ("a second eye that is open", ".X.O. XXXO. OOO.. ..... .....", "..... ..... ..... ..... .....", None),
    ("a false eye", ".X.XO XXX.O OOXXO ..OOO .....", "..... ..... ..... ..... .....", None),
    ("two chains that share two eyes", ".XO.. X.X.. .XX.. XX... .....", "XX... XXX.. XXX.. XX... .....", None),
    ("one big eye", "....XO ....XO XXXXXO OOOOOO ......", "...... ...... ...... ...... ......", None),
    ("a small eye, and a big one with a point away from the stones", "..X.XO ..XXXO XXXOOO OOO... ......",
     "...... ...... ...... ...... ......", None),
    ("both eyes touched everywhere", ".X.XO .XXXO XXOOO OOO.. .....", "XXXX. XXXX. XX... ..... .....", None),
    ("a dead stone in an eye", ".X.OXO XXXXXO OOOOOO ......", "XXXXX. XXXXX. ...... ......", None),
    ("an eye with a stone away from the wall", "O.X.XO .XXXXO XXOOOO OO.... ......",
     "XXXXX. XXXXX. XX.... ...... ......", "...... ...... ...... ...... ......"),
    ("shared liberties", "X.O XXO X.O", "... ... ...", None),
    ("an eye each and shared liberties", ".X.O. XX.OO", "..... .....", None),
    ("a chain with one eye beside a living group", "..XO.O X.XOOO XXXO.O OOOOOO",
     "...OOO ...OOO ...OOO OOOOOO", None),
    ("all of the board", ".X.X. XXXXX .....", "XXXXX XXXXX XXXXX", None),
]  # fmt: skip


def board_of(text):
    """Read rows of `.`, `X`, `O`, separated by blanks, as a [H, W] array."""
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
        for territories, stones in ((False, False), (False, True), (True, False)):
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
    for _ in range(25 if width * height < 50 else 6):
        check_against_oracle(random_position(rng, width, height))


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [*SIZES, (19, 19), (25, 25), (2, 25)])
def test_areas_agree_with_the_oracle_on_many(width, height):
    rng = np.random.default_rng(width * 1000 + height)
    for _ in range(max(6000 // (width * height), 8)):
        check_against_oracle(random_position(rng, width, height))


@pytest.mark.parametrize(("name", "stones", "owners", "with_suicide"), PASS_ALIVE, ids=[case[0] for case in PASS_ALIVE])
def test_pass_alive_by_hand(name, stones, owners, with_suicide):
    for suicide, want in ((False, owners), (True, with_suicide or owners)):
        np.testing.assert_array_equal(scoring.pass_alive(position_of(stones), suicide), board_of(want))
        np.testing.assert_array_equal(oracle.pass_alive(board_of(stones), suicide), board_of(want))


def test_pass_alive_follows_the_rules_of_the_position():
    stones = "O.X.XO .XXXXO XXOOOO OO.... ......"
    assert scoring.pass_alive(position_of(stones, "chinese")).any()
    assert not scoring.pass_alive(position_of(stones, "tromp-taylor")).any()


def test_pass_alive_chains_survive_any_number_of_opponent_moves():
    """Benson's theorem: the opponent moves at random, the owner passes, and no pass-alive stone is ever captured."""
    rng = np.random.default_rng(7)
    found = 0
    for trial in range(60):
        position = random_position(rng, 6, 5, rules="new-zealand" if trial % 2 else "chinese")
        owners = scoring.pass_alive(position)
        board = position.board()
        for color in (1, 2):
            stones = (owners == color) & (board == color)
            found += bool(stones.any())
            attacked = position.copy()
            for _ in range(80):
                legal = np.flatnonzero(attacked.legal_mask(3 - color)[:-1])
                if len(legal) == 0:
                    break
                attacked.play(int(rng.choice(legal)), 3 - color)
                attacked.play(attacked.area, color)
            assert (attacked.board()[stones] == color).all()
    assert found > 10


def test_area_of_a_finished_board():
    area = scoring.area(position_of("..XO. XXXOO OOO.. .....", "chinese"))
    np.testing.assert_array_equal(area, board_of("XXXOO XXXOO OOOOO OOOOO"))


def test_independent_life_leaves_seki_out():
    owners, difference = scoring.independent_life(position_of(".X.O. XX.OO"))
    assert not owners.any() and difference == 0
    owners, difference = scoring.independent_life(position_of(".X.O. XX.OO"), keep_stones=True)
    np.testing.assert_array_equal(owners, board_of(".X.O. XX.OO"))
    owners, difference = scoring.independent_life(position_of(".X.O. XX.OO"), keep_territories=True)
    np.testing.assert_array_equal(owners, board_of("X...O ....."))
