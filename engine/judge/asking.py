"""Asks an evaluator about positions without a search: rows of (position, side to move, symmetry), turned back.

Whoever wants a net's plain word comes here: the judge for ownership, the player for kata-raw-nn.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.board.planes import encode_into
from engine.board.position import BLACK, WHITE, Position
from engine.board.symmetry import transform_ownership, transform_policy
from engine.evaluator import Evaluation, Evaluator
from engine.judge.types import Opinion

FloatArray = NDArray[np.float32]
Row = tuple[Position, int, int]


def evaluate_rows(evaluator: Evaluator, rows: list[Row], *, ownership: bool) -> Evaluation:
    """Evaluate (position, side to move, symmetry) rows of one size, all or none of them transposed.

    Policy and ownership come back in the board's own orientation, still in the view of the side to move.
    """
    width, height = rows[0][0].width, rows[0][0].height
    sides = (height, width) if rows[0][2] & 4 else (width, height)
    spatial, globals_ = evaluator.allocate(len(rows), *sides)
    suicide = bool(getattr(evaluator, "pass_alive_under_suicide", False))
    for index, (position, color, symmetry) in enumerate(rows):
        encode_into(
            position, evaluator.encoding, spatial[index], globals_[index],
            to_play=color, symmetry=symmetry, pass_alive_under_suicide=suicide,
        )  # fmt: skip
    evaluation = evaluator.evaluate(spatial, globals_, ownership=ownership)
    policy = np.stack([
        transform_policy(logits, width, height, symmetry, inverse=True)
        for logits, (_, _, symmetry) in zip(evaluation.policy_logits, rows, strict=True)
    ])  # fmt: skip
    symmetries = [symmetry for _, _, symmetry in rows]
    owner, later = (
        None if maps is None else _turned_back(maps, width, height, symmetries)
        for maps in (evaluation.ownership, evaluation.later_logits)
    )
    return dataclasses.replace(evaluation, policy_logits=policy, ownership=owner, later_logits=later)


def _turned_back(maps: FloatArray, width: int, height: int, symmetries: list[int]) -> FloatArray:
    """Return point maps [B, …, P] in the board's own orientation, each from its symmetry."""
    return np.stack([
        transform_ownership(values, width, height, symmetry, inverse=True)
        for values, symmetry in zip(maps, symmetries, strict=True)
    ])  # fmt: skip


def legal_policy(logits: FloatArray, legal: NDArray[np.uint8]) -> FloatArray:
    """Return the softmax over the legal actions, NaN for the others. Both arguments are [A]."""
    allowed = legal.astype(bool)
    shifted = np.exp(logits[allowed].astype(np.float64) - float(logits[allowed].max()))
    policy = np.full(logits.shape, np.nan, dtype=np.float32)
    policy[allowed] = shifted / shifted.sum()
    return policy


class NetOpinion:
    """The opinion of a policy/value net, the mean over both sides to move and several symmetries.

    Args:
        evaluator: the net; one without ownership has no opinion.
        symmetries: 1..4 of the symmetries that transpose nothing, so that rectangles batch too.
    """

    def __init__(self, evaluator: Evaluator, *, symmetries: int = 2) -> None:
        self.name = evaluator.name
        self._evaluator = evaluator
        self._symmetries = (0, 3, 1, 2)[:symmetries]

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether the net takes boards of this size."""
        return self._evaluator.supports_size(width, height)

    def opinion(self, position: Position) -> Opinion | None:
        """Return what the net thinks of a position."""
        rows = [(position, color, symmetry) for color in (BLACK, WHITE) for symmetry in self._symmetries]
        parts = self._evaluate(rows)
        if any(part.ownership is None for part in parts):
            return None
        signs = np.array([1.0 if color == BLACK else -1.0 for _, color, _ in rows], dtype=np.float32)
        now = np.array([color == position.to_play for _, color, _ in rows])
        owner = (np.concatenate([part.ownership for part in parts if part.ownership is not None])
                 * signs[:, None]).mean(axis=0)  # fmt: skip
        logits = np.concatenate([part.policy_logits for part in parts])
        policy = {
            color: np.nan_to_num(legal_policy(logits[signs == sign].mean(axis=0), position.legal_mask(color)))
            for color, sign in ((BLACK, 1.0), (WHITE, -1.0))
        }
        value = float((np.concatenate([part.value for part in parts]) * signs)[now].mean())
        return Opinion(
            owner=owner.reshape(position.height, position.width).astype(np.float32),
            winrate=(value + 1.0) / 2.0,
            score_mean=_mean([part.lead for part in parts], signs, now),
            score_stdev=_mean([part.score_stdev for part in parts], np.ones_like(signs), now),
            policy=policy,
            name=self.name,
        )

    def _evaluate(self, rows: list[Row]) -> list[Evaluation]:
        step = max(1, min(self._evaluator.max_batch, len(rows)))
        return [
            evaluate_rows(self._evaluator, rows[start : start + step], ownership=True)
            for start in range(0, len(rows), step)
        ]


class GivenOpinion:
    """One opinion for whatever is asked: an ownership map from elsewhere (another engine, a file, a test).

    Args:
        opinion: an Opinion, or ownership alone, [H, W] in [-1, 1], Black positive.
    """

    def __init__(self, opinion: Opinion | NDArray[np.floating[Any]], name: str = "given") -> None:
        self.name = name
        self._opinion = opinion if isinstance(opinion, Opinion) else Opinion(opinion.astype(np.float32), name=name)

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether the map has that size."""
        return self._opinion.owner.shape == (height, width)

    def opinion(self, position: Position) -> Opinion | None:
        """Return the opinion. Raises ValueError if the position has another size."""
        if not self.supports_size(position.width, position.height):
            raise ValueError(f"an opinion of shape {self._opinion.owner.shape} for {position.width}x{position.height}")
        return self._opinion


def _mean(parts: list[FloatArray | None], signs: FloatArray, now: NDArray[np.bool_]) -> float | None:
    values = [part for part in parts if part is not None]
    if len(values) != len(parts):
        return None
    return float((np.concatenate(values) * signs)[now].mean())
