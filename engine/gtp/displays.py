"""Writes what can be shown on a board the way GoGui reads it: numbers, short texts or drawing commands by point."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from engine.board.vertex import format_vertex
from engine.judge.text import result_text
from engine.judge.types import Judgment, Status
from engine.search.result import FloatArray


def numbers(values: NDArray[np.floating]) -> str:
    """Write a map [H, W] as rows of numbers, the top row first (GoGui's dboard)."""
    return "\n".join(" ".join(f"{value:.3f}" for value in row) for row in values.tolist())


def percentages(policy: FloatArray, width: int, height: int) -> str:
    """Write a policy [A] as rows of whole percentages (GoGui's sboard); what is below one is left blank."""
    rows = policy[:-1].reshape(height, width).tolist()
    return "\n".join(" ".join(_percent(value) for value in row) for row in rows)


def judgment_drawing(judgment: Judgment) -> str:
    """Draw a judgment: each side's territory, a cross on dead stones, a square on stones in seki, the score as text."""

    def names(actions: Iterable[int]) -> str:
        return " ".join(format_vertex(action, judgment.width, judgment.height) for action in actions)

    territory = judgment.territory.ravel()
    parts = {
        "BLACK": np.flatnonzero(territory > 0).tolist(),
        "WHITE": np.flatnonzero(territory < 0).tolist(),
        "MARK": [stone for chain in judgment.chains if chain.status is Status.DEAD for stone in chain.stones],
        "SQUARE": [stone for chain in judgment.chains if chain.status is Status.SEKI for stone in chain.stones],
    }
    lines = [f"{word} {names(actions)}" for word, actions in parts.items() if actions]
    return "\n".join([*lines, f"TEXT {result_text(judgment.score)}"])


def _percent(value: float) -> str:
    return f"{100 * value:.0f}" if value >= 0.01 else '""'
