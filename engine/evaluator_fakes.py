"""Evaluators for tests that need no net and no torch: uniform, hashed from the input bits, recording, and in two steps.

HashEvaluator uses integer arithmetic only, and every number it gives is exact in float32, so that a search tree built
on it is the same on every machine. None of them knows rules; none belongs in play.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .evaluator import ENCODING_SHAPES, Evaluation, Evaluator, FloatArray

UintArray = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class UniformEvaluator:
    """Give every action the same logit, every position the same value, and nobody any point.

    Args:
        encoding: name of the encoding asked for.
        max_batch: largest batch taken.
        value: what every position is worth to the player to move, in [-1, 1].
    """

    name = "uniform"

    def __init__(self, encoding: str = "katago-v7", *, max_batch: int = 64, value: float = 0.0) -> None:
        self.encoding = encoding
        self.max_batch = max_batch
        self._value = value
        self._planes, self._globals = ENCODING_SHAPES[encoding]

    def supports_size(self, width: int, height: int) -> bool:
        return True

    def allocate(self, batch: int, width: int, height: int) -> tuple[FloatArray, FloatArray]:
        return (
            np.zeros((batch, self._planes, height, width), dtype=np.float32),
            np.zeros((batch, self._globals), dtype=np.float32),
        )

    def evaluate(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> Evaluation:
        batch, points = _check(self, spatial, globals_, self._planes, self._globals)
        zeros = np.zeros(batch, dtype=np.float32)
        return Evaluation(
            policy_logits=np.zeros((batch, points + 1), dtype=np.float32),
            value=np.full(batch, self._value, dtype=np.float32),
            no_result=zeros,
            ownership=np.zeros((batch, points), dtype=np.float32) if ownership else None,
            lead=zeros.copy(),
            score_mean=zeros.copy(),
            score_stdev=np.full(batch, 10.0, dtype=np.float32),
        )


class HashEvaluator(UniformEvaluator):
    """Answer with numbers hashed from the bits of the inputs: different for any two inputs, the same everywhere.

    Logits are multiples of 2^-16 in [0, spread), value and ownership multiples of 2^-23 in [-1, 1), lead multiples of
    1/8 in [-32, 32), errors multiples of 2^-24 in [0, 1) and of 1/8 in [0, 16). A row's answer depends on that row and
    the board size alone.

    Args:
        seed: another seed, another "net".
        spread: range of the policy logits; 0 makes the policy uniform.
        errors: say how wrong value and score may be.
    """

    def __init__(
        self, encoding: str = "katago-v7", *, max_batch: int = 64, seed: int = 0, spread: int = 4, errors: bool = False
    ) -> None:
        super().__init__(encoding, max_batch=max_batch)
        self.name = f"hash-{seed}"
        self._seed = seed
        self._spread = spread
        self._errors = errors
        self._weights: dict[int, UintArray] = {}

    def evaluate(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> Evaluation:
        batch, points = _check(self, spatial, globals_, self._planes, self._globals)
        key = self._row_hash(spatial, globals_)
        policy = _draw(key, 1, points + 1) >> np.uint64(48)
        lead = (_draw(key, 2, 1)[:, 0] >> np.uint64(55)).astype(np.float32) / np.float32(8) - np.float32(32)
        value_error = score_error = None
        if self._errors:
            value_error = (_draw(key, 5, 1)[:, 0] >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)
            score_error = (_draw(key, 6, 1)[:, 0] >> np.uint64(57)).astype(np.float32) / np.float32(8)
        return Evaluation(
            policy_logits=policy.astype(np.float32) * np.float32(self._spread / 65536.0),
            value=_signed(_draw(key, 3, 1)[:, 0]),
            no_result=np.zeros(batch, dtype=np.float32),
            ownership=_signed(_draw(key, 4, points)) if ownership else None,
            lead=lead,
            score_mean=lead.copy(),
            score_stdev=np.full(batch, 8.0, dtype=np.float32),
            shortterm_value_error=value_error,
            shortterm_score_error=score_error,
        )

    def _row_hash(self, spatial: FloatArray, globals_: FloatArray) -> UintArray:
        batch, _, height, width = spatial.shape
        rows = np.concatenate([spatial.reshape(batch, -1), globals_], axis=1)
        bits = (rows + np.float32(0)).view(np.uint32).astype(np.uint64)  # -0 becomes 0
        weights = self._weights.get(bits.shape[1])
        if weights is None:
            weights = _mix(np.arange(1, bits.shape[1] + 1, dtype=np.uint64) * _GOLDEN) | np.uint64(1)
            self._weights[bits.shape[1]] = weights
        size = (self._seed * 0x10001 + height * 64 + width) * int(_GOLDEN) & 0xFFFFFFFFFFFFFFFF
        return _mix(_mix(bits * weights).sum(axis=1, dtype=np.uint64) + np.uint64(size))


@dataclass(frozen=True, slots=True)
class Call:
    """One batch that a RecordingEvaluator saw (copies)."""

    spatial: FloatArray
    globals: FloatArray
    ownership: bool
    evaluation: Evaluation


class RecordingEvaluator:
    """Pass batches on to another evaluator and keep a copy of each with its answer in `calls`."""

    def __init__(self, inner: Evaluator) -> None:
        self.inner = inner
        self.encoding = inner.encoding
        self.max_batch = inner.max_batch
        self.name = f"recording {inner.name}"
        self.calls: list[Call] = []

    def supports_size(self, width: int, height: int) -> bool:
        return self.inner.supports_size(width, height)

    def allocate(self, batch: int, width: int, height: int) -> tuple[FloatArray, FloatArray]:
        return self.inner.allocate(batch, width, height)

    def evaluate(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> Evaluation:
        evaluation = self.inner.evaluate(spatial, globals_, ownership=ownership)
        self.calls.append(Call(spatial.copy(), globals_.copy(), ownership, evaluation))
        return evaluation


class TwoStepEvaluator(RecordingEvaluator):
    """An AsyncEvaluator over a plain one. It evaluates when the result is asked for, never before.

    So a caller that changes its arrays while a batch is in flight gets wrong answers here as it might on a GPU.
    Raises RuntimeError for more than `depth` batches in flight and for results taken out of order.
    """

    def __init__(self, inner: Evaluator, *, depth: int = 2) -> None:
        super().__init__(inner)
        self.depth = depth
        self._next_ticket = 0
        self._waiting: list[tuple[int, FloatArray, FloatArray, bool]] = []

    def submit(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> int:
        if len(self._waiting) >= self.depth:
            raise RuntimeError(f"more than {self.depth} batches in flight")
        ticket = self._next_ticket
        self._next_ticket += 1
        self._waiting.append((ticket, spatial, globals_, ownership))
        return ticket

    def result(self, ticket: int) -> Evaluation:
        if not self._waiting or self._waiting[0][0] != ticket:
            raise RuntimeError(f"result {ticket} taken out of order")
        _, spatial, globals_, ownership = self._waiting.pop(0)
        return self.evaluate(spatial, globals_, ownership=ownership)


def _check(
    evaluator: UniformEvaluator, spatial: FloatArray, globals_: FloatArray, planes: int, n_globals: int
) -> tuple[int, int]:
    """Return (B, P). Raises ValueError where the inputs do not fit the encoding: a fake is stricter than a net."""
    batch, found_planes, height, width = spatial.shape
    if found_planes != planes or globals_.shape != (batch, n_globals):
        raise ValueError(f"inputs {spatial.shape}, {globals_.shape} do not fit {evaluator.encoding}")
    if spatial.dtype != np.float32 or globals_.dtype != np.float32:
        raise ValueError("inputs must be float32")
    if not 1 <= batch <= evaluator.max_batch:
        raise ValueError(f"batch of {batch}, allowed 1 to {evaluator.max_batch}")
    return batch, height * width


def _mix(x: UintArray) -> UintArray:
    """Scramble 64-bit words (the finaliser of SplitMix64: Steele, Lea, Flood 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _draw(key: UintArray, stream: int, count: int) -> UintArray:
    """Return [B, count] hashed words of one stream."""
    steps = np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN + np.uint64(stream << 56)
    return _mix(_mix(key)[:, None] + steps[None, :])


def _signed(words: UintArray) -> FloatArray:
    """Map words to float32 in [-1, 1), multiples of 2^-23."""
    return (words >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)
