"""DarkForest's planes and the patent's: every size against the slow oracle, and facts written by hand."""

import math

import numpy as np
import planes_oracle as oracle
import pytest

from engine.board import planes
from engine.board.position import Position
from engine.board.rules import NAMED
from engine.errors import ConfigError

ENCODINGS = ("darkforest-25", "patent-17", "judgment-18")
SIZES = [(n, n) for n in range(7, 20)] + [(2, 2), (3, 9), (13, 9), (19, 7), (24, 25)]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_size_agrees_with_the_oracle_under_every_symmetry(width, height):
    rng = np.random.default_rng(100 * width + height)
    position = Position(width, height, rules="japanese", komi=6.5)
    stones = [(1 + n % 2, int(a)) for n, a in enumerate(rng.choice(width * height, 3, replace=False))]
    setup = stones if width > 3 else []
    position.set_up(setup, to_play=2)
    game = oracle.Game(oracle.Record(width, height, NAMED["japanese"], 6.5, setup, 2))
    for n in range(width * height):
        color = position.to_play if rng.random() < 0.95 else int(rng.integers(1, 3))
        legal = np.flatnonzero(position.legal_mask(color)[:-1])
        action = int(rng.choice(legal)) if len(legal) and rng.random() < 0.97 else width * height
        position.play(action, color)
        game.play(color, action)
        if n in (3, width * height // 3, width * height - 1):
            for encoding in ENCODINGS:
                compare(position, game, encoding, 1 + n % 2)


def compare(position, game, encoding, side):
    """Compare one encoding in every symmetry of the board."""
    want = oracle.encode(game, encoding, side)[0]
    for symmetry in range(8 if position.width == position.height else 4):
        got, globals_ = planes.encode_position(position, encoding, to_play=side, symmetry=symmetry)
        turned = want[:, ::-1] if symmetry & 1 else want
        turned = turned[:, :, ::-1] if symmetry & 2 else turned
        turned = turned.transpose(0, 2, 1) if symmetry & 4 else turned
        assert globals_.shape == (0,)
        np.testing.assert_allclose(got, turned, rtol=0, atol=1e-7, err_msg=f"{encoding} in symmetry {symmetry}")


def test_darkforest_planes_of_a_small_position():
    position = Position(5, rules="chinese", komi=7)
    for action in (6, 8, 11, 13):  # Black b4 and b3, White d4 and d3
        position.play(action)
    found, _ = planes.encode_position(position, "darkforest-25")
    assert found[0:2].sum() == found[3:5].sum() == 0  # every chain has more than two liberties
    assert np.argwhere(found[2]).tolist() == np.argwhere(found[7]).tolist() == [[1, 1], [2, 1]]
    assert np.argwhere(found[5]).tolist() == np.argwhere(found[8]).tolist() == [[1, 3], [2, 3]]
    assert found[6].sum() == 0 and found[9].sum() == 21
    assert found[10, 1, 1] == pytest.approx(math.exp(-0.3)) and found[10, 2, 1] == pytest.approx(math.exp(-0.1))
    assert found[11, 1, 3] == pytest.approx(math.exp(-0.2)) and found[11, 2, 3] == 1  # the stone just played
    assert found[12].sum() == 16 and found[12, 1:4, 1:4].sum() == 0
    assert found[13, 2, 2] == 1 and found[13, 2, 3] == pytest.approx(math.exp(-0.5))
    assert found[13, 0, 0] == pytest.approx(math.exp(-4))
    assert found[14, :, :2].all() and found[15, :, 3:].all() and found[14:16, :, 2].sum() == 0  # column c: as near
    assert found[16:25].all()
    mine, _ = planes.encode_position(position, "darkforest-25", to_play=2)
    swap = [3, 4, 5, 0, 1, 2, 6, 8, 7, 9, 11, 10, 12, 13, 15, 14, *range(16, 25)]
    np.testing.assert_array_equal(mine, found[swap])


def test_a_ko_is_shown_to_the_side_it_binds():
    position = Position(5, rules="chinese", komi=7)
    for color, action in ((1, 1), (2, 2), (1, 5), (2, 8), (1, 11), (2, 12), (1, 7), (2, 6)):
        position.play(action, color)
    ko = position.ko_action
    assert ko == 7
    assert np.flatnonzero(planes.encode_position(position, "darkforest-25", to_play=1)[0][6]).tolist() == [ko]
    assert planes.encode_position(position, "darkforest-25", to_play=2)[0][6].sum() == 0


def test_stones_age_through_passes_and_set_up_stones_from_the_start():
    position = Position(9)
    position.set_up([(1, 40)], to_play=2)
    position.play(0)
    position.play(81)
    found, _ = planes.encode_position(position, "darkforest-25", to_play=1)
    assert found[10, 4, 4] == pytest.approx(math.exp(-0.2)) and found[11, 0, 0] == pytest.approx(math.exp(-0.1))
    for _ in range(80):
        position.play(81)
        position.play(81)
    found, _ = planes.encode_position(position, "darkforest-25", to_play=1)
    assert found[10:12].sum() == 0  # below one part in 10 million
    assert planes.encode_position(Position(9), "darkforest-25")[0][13:16].sum() == pytest.approx(
        sum(math.exp(-0.5 * (x * x + y * y)) for x in range(-4, 5) for y in range(-4, 5)), abs=1e-5
    )


def test_an_undone_move_leaves_the_ages_as_they_were():
    position = Position(9)
    for action in (0, 1, 9, 10, 40):  # the fourth move takes nothing; the corner stone dies at 10
        position.play(action)
    before = planes.encode_position(position, "darkforest-25")[0]
    position.play(41)
    position.undo()
    np.testing.assert_array_equal(planes.encode_position(position, "darkforest-25")[0], before)
    np.testing.assert_array_equal(planes.encode_position(position.copy(), "darkforest-25")[0], before)


@pytest.mark.parametrize("encoding", ["patent-17", "judgment-18"])
def test_patent_planes_name_colors_and_repeat_through_a_pass(encoding):
    position = Position(7)
    for action in (0, 1, 49):
        position.play(action)
    found, _ = planes.encode_position(position, encoding)
    assert position.to_play == 2
    assert found[:3, 0, 0].all() and found[3:8].sum() == 0  # now, before the pass, and before White's move
    assert found[8:10, 0, 1].all() and found[10:16].sum() == 0
    assert not found[16].any() and (encoding == "patent-17" or found[17].all())
    found, _ = planes.encode_position(position, encoding, to_play=1)
    assert found[:3, 0, 0].all() and found[16].all() and (encoding == "patent-17" or not found[17].any())


@pytest.mark.parametrize("pair", [("darkforest-25", "katago-v7"), ("katago-v5", "patent-17"), ("patent-17",) * 2])
def test_a_pair_of_encodings_is_one_after_the_other(pair):
    position = Position(9, 7, rules="aga", komi=7)
    for action in (10, 20, 21, 63, 30):
        position.play(action)
    for symmetry in range(4):
        both = planes.encode_position(position, "+".join(pair), symmetry=symmetry)
        parts = [planes.encode_position(position, name, symmetry=symmetry) for name in pair]
        for i in range(2):
            np.testing.assert_array_equal(both[i], np.concatenate([part[i] for part in parts]))
    for name in ("darkforest-25+", "+katago-v7", "darkforest-25+katago-v7+katago-v7", "darkforest-26+katago-v7"):
        with pytest.raises(ConfigError, match="unknown encoding"):
            planes.encode_position(position, name)
