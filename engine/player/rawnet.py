"""Asks the net about one position, without search: what kata-raw-nn and keisei-next_moves print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from engine.board.position import EMPTY, WHITE, Position
from engine.evaluator import Evaluator
from engine.judge.asking import evaluate_rows, legal_policy

FloatArray = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RawOutput:
    """The net's opinion of a position under one symmetry, turned back to the board, White positive where signed."""

    symmetry: int
    judged: bool  # False: the net gives a policy alone, and winning chances mean nothing
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
    evaluation = evaluate_rows(evaluator, [(position, color, symmetry)], ownership=True)
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
        judged=not getattr(evaluator, "policy_only", False),
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


def next_moves(evaluator: Evaluator, position: Position, color: int) -> list[list[tuple[int, float]]]:
    """Return what a net expects of the next moves, `color`'s first: for each all its (action, probability), best first.

    The first is over the legal moves. The others, of nets that predict so far, are over points that are empty now.
    """
    evaluation = evaluate_rows(evaluator, [(position, color, 0)], ownership=False)
    policies = [np.nan_to_num(legal_policy(evaluation.policy_logits[0], position.legal_mask(color)))]
    if evaluation.later_logits is not None:
        empty = (position.board().ravel() == EMPTY).astype(np.uint8)
        if empty.any():
            policies += [np.nan_to_num(legal_policy(logits, empty)) for logits in evaluation.later_logits[0]]
    orders = [np.argsort(-policy, kind="stable").tolist() for policy in policies]
    return [
        [(action, float(policy[action])) for action in order if policy[action] > 0]
        for policy, order in zip(policies, orders, strict=True)
    ]


@overload
def _first(values: FloatArray | None) -> float | None: ...
@overload
def _first(values: FloatArray | None, default: float) -> float: ...
def _first(values: FloatArray | None, default: float | None = None) -> float | None:
    return default if values is None else float(values[0])
