"""Averaging over symmetries: against a loop by hand, on squares and rectangles; and the metadata row."""

import numpy as np
import pytest

from engine.board.planes import encode_position
from engine.board.position import Position
from engine.board.symmetry import transform_ownership, transform_policy
from engine.errors import ConfigError
from engine.evaluator import Evaluator
from engine.evaluator_fakes import HashEvaluator, UniformEvaluator
from engine.nn.metadata_row import inverse_rank, profile_row
from engine.nn.wrappers import SymmetryAverage, turn_planes


def position(width, height):
    board = Position(width, height, rules="chinese")
    for action in (3, 11, 7, 0, 14):
        board.play(action)
    return board


@pytest.mark.parametrize("symmetry", range(8))
def test_turned_planes_are_those_of_the_encoder(symmetry):
    board = position(5, 5)
    plain, _ = encode_position(board, "katago-v7")
    turned, _ = encode_position(board, "katago-v7", symmetry=symmetry)
    # ladder planes and areas are the same whatever the orientation
    assert np.array_equal(turn_planes(plain, symmetry), turned)


@pytest.mark.parametrize(("width", "height", "symmetries"), [(5, 5, range(8)), (4, 5, range(4))])
def test_average(width, height, symmetries):
    inner = HashEvaluator()
    wrapped = SymmetryAverage(inner)
    assert isinstance(wrapped, Evaluator)
    boards = [position(width, height), Position(width, height, rules="chinese")]
    encoded = [encode_position(b, "katago-v7") for b in boards]
    spatial, globals_ = (np.stack(arrays) for arrays in zip(*encoded, strict=True))
    found = wrapped.evaluate(spatial, globals_, ownership=True)
    policy, values, ownership = [], [], []
    for s in symmetries:
        turned = np.stack([encode_position(b, "katago-v7", symmetry=s)[0] for b in boards])
        out = inner.evaluate(turned, globals_, ownership=True)
        chances = np.exp(out.policy_logits) / np.exp(out.policy_logits).sum(axis=1, keepdims=True)
        policy.append(transform_policy(chances, width, height, s, inverse=True))
        ownership.append(transform_ownership(out.ownership, width, height, s, inverse=True))
        values.append(out.value)
    np.testing.assert_allclose(np.exp(found.policy_logits), np.mean(policy, axis=0), rtol=1e-4)
    np.testing.assert_allclose(found.value, np.mean(values, axis=0), atol=1e-6)
    np.testing.assert_allclose(found.ownership, np.mean(ownership, axis=0), atol=1e-6)
    assert found.value[0] != inner.evaluate(spatial, globals_).value[0]


def test_average_of_the_same_is_the_same():
    inner = UniformEvaluator(value=0.25)
    out = SymmetryAverage(inner, 2).evaluate(*inner.allocate(3, 9, 9))
    assert np.allclose(out.value, 0.25) and np.allclose(out.score_stdev, 10.0)
    assert np.allclose(out.policy_logits, out.policy_logits[0, 0])
    with pytest.raises(ValueError, match="symmetries"):
        SymmetryAverage(inner, 9)


def test_profiles():
    assert [inverse_rank(r) for r in ("9d", "1d", "1k", "20k")] == [1, 9, 10, 29]
    row = profile_row("rank_1k", 19, 19)
    assert row.shape == (192,) and row.dtype == np.float32
    assert row[:6].tolist() == [1, 1, 0, 0, 0, 0]
    assert row[6:40].tolist() == [1] * 10 + [0] * 24 == row[40:74].tolist()
    assert row[75:82].tolist() == [0, 0, 0, 0, 1, 0, 0] and row[86] == 0
    assert np.allclose(row[87:151:2] ** 2 + row[88:151:2] ** 2, 1)
    assert np.flatnonzero(row[151:167]).tolist() == [1]
    assert not np.array_equal(row, profile_row("preaz_1k", 19, 19))
    assert np.isclose(profile_row("rank_1k", 9, 9)[86], 0.5 * np.log(81 / 361))
    for bad in ("rank_10d", "rank_21k", "rank_5", "pro_9d", ""):
        with pytest.raises(ConfigError):
            profile_row(bad, 19, 19)
