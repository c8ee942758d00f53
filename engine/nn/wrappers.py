"""Evaluators over evaluators. Here: averaging the answers for several symmetries of each position.

A single symmetry, fixed or random, is the search's business: it encodes the position turned (EncodeOptions.symmetry)
and turns the answer back. This wrapper turns arrays at the seam, so that it works under any search.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..board.symmetry import transform_ownership, transform_policy
from ..evaluator import Evaluation, Evaluator, FloatArray

ORDER = (0, 3, 1, 2, 4, 5, 6, 7)  # by two, four, eight: the half turn, the flips, the transposes


class SymmetryAverage:
    """Evaluate each position in several symmetries and average probabilities, values and ownership.

    Policy logits become the logarithm of the mean probability over all actions, illegal ones included, since nobody
    below the search knows which are legal. On rectangles transposes are left out.

    Args:
        inner: the evaluator that does the work, in batches of at most its own max_batch.
        count: symmetries a position, 1 to 8.
    """

    def __init__(self, inner: Evaluator, count: int = 8) -> None:
        if not 1 <= count <= 8:
            raise ValueError(f"{count} symmetries; there are 1 to 8")
        self._inner = inner
        self._count = count
        self.encoding = inner.encoding
        self.max_batch = inner.max_batch
        self.name = f"{inner.name}, {count} symmetries"

    def supports_size(self, width: int, height: int) -> bool:
        return self._inner.supports_size(width, height)

    def allocate(self, batch: int, width: int, height: int) -> tuple[FloatArray, FloatArray]:
        return self._inner.allocate(batch, width, height)

    def evaluate(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> Evaluation:
        """Evaluate as engine.evaluator.Evaluator does; costs as much as `count` batches."""
        height, width = spatial.shape[2:]
        symmetries = [s for s in ORDER[: self._count] if height == width or s < 4]
        answers = []
        for symmetry in symmetries:
            answer = self._inner.evaluate(turn_planes(spatial, symmetry), globals_, ownership=ownership)
            answers.append(_turn_back(answer, width, height, symmetry))
        return average(answers)


def turn_planes(spatial: FloatArray, symmetry: int) -> FloatArray:
    """Return planes [..., H, W] in a symmetry: rows flipped (1), columns flipped (2), then transposed (4)."""
    if symmetry & 1:
        spatial = spatial[..., ::-1, :]
    if symmetry & 2:
        spatial = spatial[..., ::-1]
    if symmetry & 4:
        spatial = spatial.swapaxes(-1, -2)
    return np.ascontiguousarray(spatial)


def average(answers: list[Evaluation]) -> Evaluation:
    """Return the mean of evaluations of the same positions, in the same orientation."""
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(Evaluation):
        arrays = [getattr(answer, field.name) for answer in answers]
        fields[field.name] = None if arrays[0] is None else np.mean(arrays, axis=0, dtype=np.float32)
    policy = np.mean([_softmax(answer.policy_logits) for answer in answers], axis=0)
    fields["policy_logits"] = np.log(np.maximum(policy, 1e-30)).astype(np.float32)
    if answers[0].score_stdev is not None and answers[0].score_mean is not None:
        moments = [np.stack([a.score_mean, a.score_stdev]) for a in answers if a.score_mean is not None]  # type: ignore
        square = np.mean([np.square(m).sum(axis=0) for m in moments], axis=0)
        fields["score_stdev"] = np.sqrt(np.maximum(square - np.square(fields["score_mean"]), 0)).astype(np.float32)
    return Evaluation(**fields)


def _turn_back(answer: Evaluation, width: int, height: int, symmetry: int) -> Evaluation:
    ownership = answer.ownership
    if ownership is not None:
        ownership = transform_ownership(ownership, width, height, symmetry, inverse=True)
    policy = transform_policy(answer.policy_logits, width, height, symmetry, inverse=True)
    later = answer.later_logits
    if later is not None:
        later = transform_ownership(later, width, height, symmetry, inverse=True)
    return dataclasses.replace(answer, policy_logits=policy, ownership=ownership, later_logits=later)


def _softmax(logits: FloatArray) -> FloatArray:
    exp: FloatArray = np.exp(logits - logits.max(axis=-1, keepdims=True))
    exp /= exp.sum(axis=-1, keepdims=True, dtype=np.float32)
    return exp
