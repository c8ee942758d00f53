"""The test evaluators: the same numbers everywhere, rows independent of their neighbours, order of tickets kept."""

import numpy as np
import pytest

from engine.evaluator import ENCODING_SHAPES, AsyncEvaluator, Evaluator
from engine.evaluator_fakes import (
    HashEvaluator,
    RecordingEvaluator,
    TwoStepEvaluator,
    UniformEvaluator,
)


def _inputs(evaluator, batch, width=9, height=7, seed=0):
    rng = np.random.default_rng(seed)
    spatial, globals_ = evaluator.allocate(batch, width, height)
    spatial[:] = rng.integers(0, 2, spatial.shape)
    globals_[:] = rng.integers(0, 9, globals_.shape) / 4
    return spatial, globals_


@pytest.mark.parametrize("encoding", sorted(ENCODING_SHAPES))
def test_shapes_and_protocol(encoding):
    for evaluator in (UniformEvaluator(encoding), HashEvaluator(encoding)):
        assert isinstance(evaluator, Evaluator)
        out = evaluator.evaluate(*_inputs(evaluator, 3), ownership=True)
        assert out.policy_logits.shape == (3, 64) and out.ownership.shape == (3, 63)
        for array in (out.policy_logits, out.value, out.ownership, out.lead, out.score_mean, out.score_stdev):
            assert array.dtype == np.float32 and array.flags.c_contiguous
        assert np.abs(out.value).max() <= 1 and np.abs(out.ownership).max() <= 1


def test_hash_is_pinned():
    """The numbers themselves: a change here changes every golden tree."""
    evaluator = HashEvaluator()
    spatial, globals_ = evaluator.allocate(1, 5, 4)
    spatial[0, 0] = 1
    globals_[0, 5] = 0.375
    out = evaluator.evaluate(spatial, globals_, ownership=True)
    assert (out.value * 2**23).astype(int).tolist() == PINNED_VALUE
    assert (out.policy_logits[0, :4] * 2**14).astype(int).tolist() == PINNED_POLICY
    assert (out.ownership[0, :2] * 2**23).astype(int).tolist() == PINNED_OWNERSHIP
    assert (out.lead * 8).astype(int).tolist() == PINNED_LEAD


def test_hash_rows_are_independent_and_sensitive():
    evaluator = HashEvaluator(seed=3)
    spatial, globals_ = _inputs(evaluator, 6)
    whole = evaluator.evaluate(spatial, globals_, ownership=True)
    for row in range(6):
        alone = evaluator.evaluate(spatial[row : row + 1], globals_[row : row + 1], ownership=True)
        assert np.array_equal(alone.policy_logits[0], whole.policy_logits[row])
        assert alone.value[0] == whole.value[row]
    values = {float(whole.value[0])}
    for plane, y, x in [(0, 0, 0), (1, 3, 4), (21, 6, 8)]:
        changed = spatial[:1].copy()
        changed[0, plane, y, x] = 1 - changed[0, plane, y, x]
        values.add(float(evaluator.evaluate(changed, globals_[:1]).value[0]))
    changed_globals = globals_[:1].copy()
    changed_globals[0, 5] += 0.5
    values.add(float(evaluator.evaluate(spatial[:1], changed_globals).value[0]))
    values.add(float(HashEvaluator(seed=4).evaluate(spatial[:1], globals_[:1]).value[0]))
    assert len(values) == 6


def test_hash_is_spread_out():
    evaluator = HashEvaluator(max_batch=512)
    out = evaluator.evaluate(*_inputs(evaluator, 512), ownership=True)
    assert abs(float(out.value.mean())) < 0.1 and 0.5 < float(out.value.std()) < 0.65
    assert 1.9 < float(out.policy_logits.mean()) < 2.1 and float(out.policy_logits.max()) < 4
    assert abs(float(out.ownership.mean())) < 0.02


def test_negative_zero_is_zero():
    evaluator = HashEvaluator()
    spatial, globals_ = _inputs(evaluator, 1)
    other = np.where(spatial == 0, np.float32(-0.0), spatial)
    assert evaluator.evaluate(spatial, globals_).value == evaluator.evaluate(other, globals_).value


def test_recording_keeps_copies():
    evaluator = RecordingEvaluator(HashEvaluator())
    spatial, globals_ = _inputs(evaluator, 2)
    evaluator.evaluate(spatial, globals_)
    spatial[:] = 0
    assert len(evaluator.calls) == 1 and evaluator.calls[0].spatial.any()


def test_two_steps():
    evaluator = TwoStepEvaluator(HashEvaluator())
    assert isinstance(evaluator, AsyncEvaluator)
    a, b = _inputs(evaluator, 2, seed=1), _inputs(evaluator, 2, seed=2)
    first, second = evaluator.submit(*a), evaluator.submit(*b)
    with pytest.raises(RuntimeError):
        evaluator.submit(*a)
    with pytest.raises(RuntimeError):
        evaluator.result(second)
    assert np.array_equal(evaluator.result(first).value, HashEvaluator().evaluate(*a).value)
    assert np.array_equal(evaluator.result(second).value, HashEvaluator().evaluate(*b).value)


@pytest.mark.parametrize("batch", [0, 65])
def test_wrong_batches(batch):
    evaluator = HashEvaluator()
    with pytest.raises(ValueError):
        evaluator.evaluate(np.zeros((batch, 22, 9, 9), np.float32), np.zeros((batch, 19), np.float32))


PINNED_VALUE = [8108672]
PINNED_POLICY = [18175, 33036, 26277, 64599]
PINNED_OWNERSHIP = [5546523, 2960399]
PINNED_LEAD = [61]
