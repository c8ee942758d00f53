"""Asks the net about one position, without search: what kata-raw-nn prints, the ownership that judgments rest on."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from engine.board.planes import encode_into
from engine.board.position import BLACK, WHITE, Position
from engine.board.symmetry import transform_ownership, transform_policy
from engine.evaluator import Evaluation, Evaluator

FloatArray = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RawOutput:
    """The net's opinion of a position under one symmetry, turned back to the board, White positive where signed."""

    symmetry: int
    shape: tuple[int, int]  # height, width
    white_win: float
    white_loss: float
    no_result: float
    white_lead: float | None
    white_score_mean: float | None
    white_score_mean_sq: float | None
    var_time_left: float
    shortterm_value_error: float
    shortterm_score_error: float
    policy: FloatArray  # [A], over the legal actions, NaN for the others
    white_ownership: FloatArray | None  # [H, W]


def raw_output(evaluator: Evaluator, position: Position, color: int, symmetry: int) -> RawOutput:
    """Evaluate a position for `color` to move.

    Args:
        symmetry: 0..7 as the planes number them.
    """
    evaluation = _evaluate(evaluator, [(position, color, symmetry)], ownership=True)
    sign = 1.0 if color == WHITE else -1.0
    value = float(evaluation.value[0])
    none = 0.0 if evaluation.no_result is None else float(evaluation.no_result[0])
    win, loss = (1.0 - none + value) / 2.0, (1.0 - none - value) / 2.0
    mean, deviation = _first(evaluation.score_mean), _first(evaluation.score_stdev)
    lead = _first(evaluation.lead)
    square = None if mean is None or deviation is None else mean * mean + deviation * deviation
    ownership = None
    if evaluation.ownership is not None:
        ownership = sign * evaluation.ownership[0].reshape(position.height, position.width)
    return RawOutput(
        symmetry=symmetry,
        shape=(position.height, position.width),
        white_win=win if color == WHITE else loss,
        white_loss=loss if color == WHITE else win,
        no_result=none,
        white_lead=None if lead is None else sign * lead,
        white_score_mean=None if mean is None else sign * mean,
        white_score_mean_sq=square,
        var_time_left=_first(evaluation.var_time_left, -1.0),
        shortterm_value_error=_first(evaluation.shortterm_value_error, -1.0),
        shortterm_score_error=_first(evaluation.shortterm_score_error, -1.0),
        policy=legal_policy(evaluation.policy_logits[0], position.legal_mask(color)),
        white_ownership=ownership,
    )


def ownership_of(evaluator: Evaluator, position: Position, *, symmetries: int = 4) -> FloatArray | None:
    """Return the mean ownership [H, W], Black positive, over both sides to move and several symmetries.

    None if the net has no ownership.
    """
    chosen = range(symmetries)  # 0..3 transpose nothing, so that rectangles batch too
    total = np.zeros((position.height, position.width), dtype=np.float64)
    rows = [(position, color, symmetry) for color in (BLACK, WHITE) for symmetry in chosen]
    step = max(1, min(evaluator.max_batch, len(rows)))
    for start in range(0, len(rows), step):
        batch = rows[start : start + step]
        evaluation = _evaluate(evaluator, batch, ownership=True)
        if evaluation.ownership is None:
            return None
        for (_, color, _), values in zip(batch, evaluation.ownership, strict=True):
            total += (1.0 if color == BLACK else -1.0) * values.reshape(total.shape)
    return (total / len(rows)).astype(np.float32)


def legal_policy(logits: FloatArray, legal: NDArray[np.uint8]) -> FloatArray:
    """Return the softmax over the legal actions, NaN for the others. Both arguments are [A]."""
    allowed = legal.astype(bool)
    shifted = np.exp(logits[allowed].astype(np.float64) - float(logits[allowed].max()))
    policy = np.full(logits.shape, np.nan, dtype=np.float32)
    policy[allowed] = shifted / shifted.sum()
    return policy


def _evaluate(evaluator: Evaluator, rows: list[tuple[Position, int, int]], *, ownership: bool) -> Evaluation:
    """Evaluate (position, side to move, symmetry) rows of one size, all or none of them transposed.

    Policy and ownership come back in the board's own orientation.
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
    owner = None
    if evaluation.ownership is not None:
        owner = np.stack([
            transform_ownership(values, width, height, symmetry, inverse=True)
            for values, (_, _, symmetry) in zip(evaluation.ownership, rows, strict=True)
        ])  # fmt: skip
    return dataclasses.replace(evaluation, policy_logits=policy, ownership=owner)


@overload
def _first(values: FloatArray | None) -> float | None: ...
@overload
def _first(values: FloatArray | None, default: float) -> float: ...
def _first(values: FloatArray | None, default: float | None = None) -> float | None:
    return default if values is None else float(values[0])
