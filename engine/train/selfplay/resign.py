"""When a side may give up: a threshold that keeps wrong resignations rare, learned from games played to the end.

A share of the games is always played out. Of each such game it is known how low its loser, and how low a side that did
not lose, had thought its own chances; from the last of them follows the highest threshold at which no more than the
share asked for of the resignations would have been wrong. Source: Silver et al. 2017, Methods, "Self-play".
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .game import PlayedGame

HIGHEST = -0.9  # of a threshold, in values of [-1, 1]: 5 % to win
LEAST_RESIGNATIONS = 20  # would-be resignations that a threshold must rest on
WINDOW = 500  # games played to the end that count

Lows = tuple[float, float]
"""Of one game played to the end: the lowest value of a side that did not lose, and of the side that lost.

1 where there was no such value.
"""


def lows_of(game: PlayedGame) -> Lows:
    """Return how low the sides of a game thought their chances were."""
    kept, lost = 1.0, 1.0
    for turn in game.turns:
        if game.outcome(turn.color) < 0:
            lost = min(lost, turn.value)
        else:
            kept = min(kept, turn.value)
    return round(kept, 4), round(lost, 4)


def judge(lows: Sequence[Lows], threshold: float) -> tuple[int, int]:
    """Return (resignations, wrong ones) that a threshold would have given; a game in which both sides fell counts as
    wrong, whoever fell first."""
    wrong = sum(kept < threshold for kept, _ in lows)
    return sum(min(pair) < threshold for pair in lows), wrong


def learn_threshold(lows: Sequence[Lows], wrong_share: float) -> float | None:
    """Return the highest threshold with at most that share of wrong resignations; None: too little is known.

    Args:
        lows: of games played to the end, oldest first; the last WINDOW of them count.
        wrong_share: of the resignations, at most.
    """
    recent = list(lows)[-WINDOW:]
    candidates = sorted({kept for kept, _ in recent if kept < HIGHEST} | {HIGHEST}, reverse=True)
    for threshold in candidates:
        resigned, wrong = judge(recent, threshold)
        if resigned < LEAST_RESIGNATIONS:
            return None
        if wrong <= wrong_share * resigned:
            return threshold
    return None


def as_figures(lows: Sequence[Lows], threshold: float | None) -> dict[str, object]:
    """Return what the manifest says of a part's games played to the end."""
    resigned, wrong = (0, 0) if threshold is None or math.isinf(threshold) else judge(lows, threshold)
    return {"threshold": threshold, "would_resign": resigned, "wrongly": wrong, "lows": [list(pair) for pair in lows]}
