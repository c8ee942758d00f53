"""Asks the net about one position, without search: what kata-raw-nn prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from engine.board.position import WHITE, Position
from engine.evaluator import Evaluator
from engine.judge.asking import evaluate_rows, legal_policy

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


@overload
def _first(values: FloatArray | None) -> float | None: ...
@overload
def _first(values: FloatArray | None, default: float) -> float: ...
def _first(values: FloatArray | None, default: float | None = None) -> float | None:
    return default if values is None else float(values[0])
