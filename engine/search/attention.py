"""When a search with a clock should end: earlier if the move cannot change any more, later if it is unclear.

Pure functions of what a search has found so far and of a Budget (timing.py). The player asks while the search runs.
A move is chosen by the visits of its edge, so these count here; the position after it has more where other orders of
moves lead there.
"""

from __future__ import annotations

from dataclasses import dataclass

from .result import MoveInfo, SearchResult
from .timing import Budget

EASY = 0.75  # share of the soft limit for a move about which nothing is unclear
DOUBT = 1.5  # shares more for one about which everything is
LEAST_PLAYOUTS = 24  # before which nothing is decided
CLOSE = 0.04  # winrate within which two moves are as good as each other
FALL = 0.08  # loss of winrate since the last own move that makes a move fully unclear


@dataclass(frozen=True, slots=True)
class Doubts:
    """What makes a move unclear, each in [0, 1]."""

    rival: float = 0.0  # another move was tried as often and as good a value
    surprise: float = 0.0  # the net had expected another move
    falling: float = 0.0  # the position is worth less than it was thought to be
    unstable: float = 0.0  # the best move is not the one visited most

    @property
    def total(self) -> float:
        """All of it in [0, 1]."""
        return min(1.0, 0.45 * self.rival + 0.35 * self.surprise + 0.6 * self.falling + 0.4 * self.unstable)


def doubts(result: SearchResult, before: float | None = None) -> Doubts:
    """Return what is unclear about the move that a search would choose now.

    Args:
        before: the winrate that the side expected after its last move; None if it is not known.
    """
    falling = 0.0 if before is None else _share(before - result.winrate, FALL)
    if len(result.moves) < 2 or not result.judged:
        return Doubts(falling=falling)
    best = result.moves[0]
    rival = max(result.moves[1:], key=lambda move: move.edge_visits)
    near = 1.0 - _share(abs(best.winrate - rival.winrate), CLOSE)
    close = near * min(1.0, rival.edge_visits / max(1, best.edge_visits))
    expected = max(float(result.raw.policy.max()), 1e-6)
    surprise = 1.0 - min(1.0, float(result.raw.policy[best.action]) / expected)
    return Doubts(close, surprise, falling, float(result.best_action != result.most_visited))


def wanted(budget: Budget, doubt: float) -> float:
    """Return the seconds that a move should be thought about, given how unclear it is, in [0, 1]."""
    if not budget.saves:  # what is left over of a period is lost; a second period is opened for unclear moves alone
        return budget.hard if doubt >= 0.5 else budget.soft
    return min(budget.hard, budget.soft * (EASY + DOUBT * doubt))


def is_decided(result: SearchResult, playouts_left: float) -> bool:
    """Tell whether so many more playouts cannot change the move that is chosen.

    No other move can be visited as often, and none that a confidence bound might choose is as good.
    """
    if result.best_action != result.most_visited:
        return False
    best = result.moves[0]
    return not any(_may_overtake(move, best, playouts_left) for move in result.moves[1:])


def should_stop(result: SearchResult, budget: Budget, elapsed: float, before: float | None = None) -> bool:
    """Tell whether a running search has found enough.

    Args:
        result: what it has found so far; `stats.playouts` and `stats.elapsed` tell how fast it is.
        elapsed: seconds thought so far.
        before: the winrate that the side expected after its last move.
    """
    aim = wanted(budget, doubts(result, before).total)
    if elapsed >= aim:
        return True
    stats = result.stats
    if not budget.saves or stats.playouts < LEAST_PLAYOUTS or stats.elapsed <= 0.0:
        return False
    return is_decided(result, (aim - elapsed) * stats.playouts / stats.elapsed)


def _may_overtake(move: MoveInfo, best: MoveInfo, playouts_left: float) -> bool:
    if move.proven == "loss":
        return False
    if move.edge_visits + playouts_left >= best.edge_visits:
        return True
    return move.edge_visits + playouts_left >= 0.15 * best.edge_visits and move.winrate > best.winrate - CLOSE / 4


def _share(value: float, whole: float) -> float:
    return min(1.0, max(0.0, value / whole))
