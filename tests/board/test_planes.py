"""Feature planes: every encoding against the slow oracle, symmetries, hand-made facts, and errors."""

import dataclasses

import ladder_oracle
import numpy as np
import planes_oracle as oracle
import pytest

from engine.board import planes
from engine.board.position import Position
from engine.board.rules import NAMED, Rules
from engine.errors import ConfigError

KATAGO = [name for name in planes.ENCODINGS if name.startswith("katago")]
RULES = [*NAMED.values(), Rules(scoring="TERRITORY", tax="ALL"), Rules(tax="SEKI", suicide=True, ko="SIMPLE")]
SIZES = [(5, 5), (5, 8), (6, 6), (7, 7), (9, 9), (9, 6), (11, 13), (13, 13), (19, 19)]


class Pair:
    """A position and the oracle's game, kept in step."""

    def __init__(self, rng, width, height, rules, komi):
        self.rng, self.area = rng, width * height
        self.position = Position(width, height, rules=rules, komi=komi)
        setup = []
        if rng.random() < 0.4:
            kinds = (1,) if rng.random() < 0.5 else (1, 2)
            actions = rng.permutation(self.area)[: int(rng.integers(1, 6))]
            setup = [(int(rng.choice(kinds)), int(a)) for a in actions]
            if not all(self.free(setup, a, width) for _, a in setup):
                setup = []
        first = int(rng.integers(1, 3))
        self.position.set_up(setup, to_play=first)
        self.game = oracle.Game(oracle.Record(width, height, self.position.rules, komi, setup, first))

    def free(self, setup, action, width):
        """Tell whether a point beside is left empty in its row, so that no set-up chain lacks a liberty."""
        taken = {a for _, a in setup}
        beside = [a for a in (action - 1, action + 1) if 0 <= a < self.area and a // width == action // width]
        return any(a not in taken for a in beside)

    def step(self, pass_rate, change_rate):
        """Play one random legal move or pass, now and then of the same side again."""
        color = self.position.to_play
        if self.rng.random() < change_rate:
            color = 3 - color
        legal = np.flatnonzero(self.position.legal_mask(color)[:-1])
        action = self.area if len(legal) == 0 or self.rng.random() < pass_rate else int(self.rng.choice(legal))
        self.play(action, color)

    def play(self, action, color):
        self.position.play(action, color, tolerant=True)
        self.game.play(color, action)

    def compare(self, encoding, color, **options):
        """Compare one encoding; False if the oracle cannot tell."""
        try:
            want = oracle.encode(self.game, encoding, color, **options)
        except ladder_oracle.Undecided:
            return False
        advantage = options.pop("advantage", 0.0)
        got = planes.encode_position(
            self.position, encoding, to_play=color, playout_doubling_advantage=advantage, **options
        )
        wrong = np.flatnonzero((np.abs(got[0] - want[0]) > 1e-7).any(axis=(1, 2)))
        assert got[0].shape == want[0].shape
        assert wrong.tolist() == [], f"planes {wrong} of {encoding}"
        np.testing.assert_allclose(got[1], want[1], rtol=0, atol=2e-6, err_msg=encoding)
        return True


def random_options(rng):
    """Options of an encoding, half of the time the usual ones."""
    if rng.random() < 0.5:
        return {}
    return {
        "max_history": int(rng.integers(0, 6)),
        "pass_alive_under_suicide": bool(rng.integers(2)),
        "draw_adjustment": float(rng.choice([-0.5, 0.0, 0.5])),
        "advantage": float(rng.choice([0.0, 1.0, -0.5])),
    }


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_random_games_agree_with_the_oracle(width, height):
    """All encodings at random moments of random games: every rule set, set-up stones, passes, either color to move."""
    rng = np.random.default_rng(1000 * width + height)
    compared = asked = 0
    for number in range(len(RULES) if width * height < 100 else 2):
        rules = RULES[(number + width) % len(RULES)]
        komi = float(rng.integers(-60, 60)) / 2 * (1 if rng.random() < 0.8 else 40)
        pair = Pair(rng, width, height, rules, komi)
        pass_rate, change_rate = float(rng.choice([0.02, 0.3])), float(rng.choice([0.0, 0.1]))
        for n in range(min(2 * width * height, 240)):
            pair.step(pass_rate, change_rate)
            if n < 4 or rng.random() < 0.04:
                color = pair.position.to_play if rng.random() < 0.8 else int(rng.integers(1, 3))
                symmetry = int(rng.integers(0, 8))
                for encoding in ("katago-v7", *rng.choice(list(planes.ENCODINGS), 2)):
                    options = random_options(rng) if encoding.startswith("katago") else {}
                    asked += 1
                    compared += pair.compare(str(encoding), color, symmetry=symmetry, **options)
    assert compared > 0.8 * asked


def test_suicides_and_forbidden_kos_of_a_tolerant_game_agree():
    """Moves that other rules would allow, under all rule sets on a crowded board."""
    rng = np.random.default_rng(77)
    compared = 0
    for rules in RULES:
        pair = Pair(rng, 5, 5, dataclasses.replace(rules, suicide=True, ko="SIMPLE"), 7.0)
        for _ in range(120):
            pair.step(0.05, 0.1)
        pair.position.set_rules(rules)
        pair.game = rebuilt(pair.game, pair.position.rules)
        compared += pair.compare("katago-v7", pair.position.to_play)
    assert compared > len(RULES) // 2


def rebuilt(game, rules):
    """The same game under other rules."""
    other = oracle.Game(dataclasses.replace(game.record, rules=rules))
    for color, action in game.moves:
        other.play(color, action)
    return other


def test_professional_games_agree_with_the_oracle(professional_games):
    compared = 0
    for number, game in enumerate(professional_games(8, 50)):
        pair = Pair(np.random.default_rng(number), 19, 19, RULES[number % len(RULES)], 6.5)
        pair.position.set_up([], to_play=1)
        pair.game = oracle.Game(oracle.Record(19, 19, pair.position.rules, 6.5))
        for n, action in enumerate(game):
            pair.play(action, pair.position.to_play)
            if n % 43 == number:
                compared += pair.compare("katago-v7", pair.position.to_play)
    assert compared > 15


@pytest.mark.parametrize("encoding", list(planes.ENCODINGS))
def test_symmetries_commute_with_encoding(encoding):
    """Encoding with a symmetry is encoding the mirrored game, and the plane of a stone goes where the table says."""
    rng = np.random.default_rng(3)
    game = Position(9, rules="aga", komi=7)
    mirrored = [Position(9, rules="aga", komi=7) for _ in range(8)]
    tables = [planes.symmetry_table(9, 9, k) for k in range(8)]
    for _ in range(120):
        legal = np.flatnonzero(game.legal_mask()[:-1])
        if len(legal) == 0:
            break
        action = int(rng.choice(legal))
        game.play(action)
        for k in range(8):
            mirrored[k].play(int(tables[k][action]))
    plain, globals_ = planes.encode_position(game, encoding)
    for k in range(8):
        turned, same = planes.encode_position(game, encoding, symmetry=k)
        np.testing.assert_array_equal(turned, planes.encode_position(mirrored[k], encoding)[0])
        np.testing.assert_array_equal(same, globals_)
        flat = planes.transform_ownership(plain.reshape(plain.shape[0], 81), 9, 9, k)
        np.testing.assert_array_equal(turned.reshape(plain.shape[0], 81), flat)


@pytest.mark.parametrize(("width", "height"), [(2, 2), (5, 5), (4, 7), (19, 19)])
def test_transforms_undo_each_other(width, height):
    rng = np.random.default_rng(1)
    policy = rng.random((3, width * height + 1)).astype(np.float32)
    for k in range(8):
        moved = planes.transform_policy(policy, width, height, k)
        back = planes.transform_policy(moved, width, height, k, inverse=True)
        np.testing.assert_array_equal(back, policy)
        w, h = (height, width) if k & 4 else (width, height)
        undone = planes.transform_policy(moved, w, h, planes.inverse_symmetry(k))
        np.testing.assert_array_equal(undone, policy)
        points = planes.transform_ownership(policy[:, :-1], width, height, k)
        np.testing.assert_array_equal(points, moved[:, :-1])
        image = policy[0, :-1].reshape(height, width)
        image = image[::-1] if k & 1 else image
        image = image[:, ::-1] if k & 2 else image
        image = image.T if k & 4 else image
        np.testing.assert_array_equal(points[0], image.reshape(-1))


@pytest.mark.parametrize("k", range(8))
def test_the_table_is_the_compiled_one(k):
    """The symmetry that planes are written with and the numpy table are the same."""
    position = Position(5, rules="chinese", komi=7)
    for action in range(25):
        position.set_up([(1, action)], to_play=1)
        plane = planes.encode_position(position, "katago-v7", symmetry=k)[0][1]
        assert int(plane.reshape(-1).argmax()) == planes.symmetry_table(5, 5, k)[action]


def test_hidden_history_and_friendly_passes():
    position = Position(9, rules="chinese-ogs", komi=7)
    position.play(40)
    position.play(81)
    _, globals_ = planes.encode_position(position, "katago-v7")
    assert globals_[0] == 0 and globals_[14] == 0  # friendlyPassOk: as if nothing had happened
    position.set_rules("tromp-taylor")
    spatial, globals_ = planes.encode_position(position, "katago-v7")
    assert globals_[0] == 1 and globals_[14] == 1 and spatial[10, 4, 4] == 1
    spatial, globals_ = planes.encode_position(position, "katago-v7", max_history=0)
    assert globals_[0] == 0 and globals_[14] == 0 and spatial[9:14].sum() == 0
    position.play(81)
    spatial, globals_ = planes.encode_position(position, "katago-v7")
    assert globals_[:5].tolist() == [1, 0, 0, 0, 0]  # over: the last move alone


def test_leela_zero_planes_repeat_through_a_pass_and_start_empty():
    position = Position(19, rules="tromp-taylor", komi=7.5)
    position.play(0)
    position.play(361)
    spatial, globals_ = planes.encode_position(position, "leelazero-18")
    assert globals_.shape == (0,)
    assert spatial[0, 0, 0] == spatial[1, 0, 0] == 1  # rows from the top; after the pass, and before it
    assert spatial[:, 0, 0].sum() == 3  # and Black to move
    assert spatial[16].all() and not spatial[17].any()


@pytest.mark.parametrize("encoding", list(planes.ENCODINGS))
def test_rows_of_a_batch_are_written_whole(encoding):
    """Whatever stood in the row before is gone, and the row next to it stays."""
    count, n_globals = planes.ENCODINGS[encoding]
    batch = np.full((3, count, 9, 9), 7, dtype=np.float32)
    globals_ = np.full((3, n_globals), 7, dtype=np.float32)
    position = Position(9, rules="japanese", komi=6.5)
    position.play(40)
    planes.encode_into(position, encoding, batch[1], globals_[1])
    spatial, want = planes.encode_position(position, encoding)
    np.testing.assert_array_equal(batch[1], spatial)
    np.testing.assert_array_equal(globals_[1], want)
    assert (batch[[0, 2]] == 7).all() and (globals_[[0, 2]] == 7).all()


def test_errors_name_what_is_wrong():
    position = Position(9)
    with pytest.raises(ConfigError, match="katago-v7"):
        planes.encode_position(position, "katago-v8")
    row, globals_ = np.zeros((22, 9, 9), dtype=np.float32), np.zeros(19, dtype=np.float32)
    with pytest.raises(ValueError, match="spatial"):
        planes.encode_into(position, "katago-v7", row[:21], globals_)
    with pytest.raises(ValueError, match="float32"):
        planes.encode_into(position, "katago-v7", row.astype(np.float64), globals_)
    with pytest.raises(ValueError, match="globals"):
        planes.encode_into(position, "katago-v7", row, globals_[:18])
    with pytest.raises(ValueError, match="to_play"):
        planes.encode_position(position, "katago-v7", to_play=3)
    with pytest.raises(ValueError, match="symmetry"):
        planes.encode_position(position, "katago-v7", symmetry=8)
