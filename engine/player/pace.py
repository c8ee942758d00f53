"""The time of one move while it runs: what is left of it, and whether a running search has found enough."""

from __future__ import annotations

import time
from dataclasses import dataclass

from engine.player.settings import PlayerSettings
from engine.search.attention import doubts, should_stop, wanted
from engine.search.result import SearchResult
from engine.search.root import Limits
from engine.search.timing import Budget

_ASKED = 24  # times in an ordinary move
_SHORTEST, _LONGEST = 0.02, 0.5  # seconds between two times
_TRAVEL_MOST = 0.25  # of an ordinary move that is kept for the return of the search's last batch


@dataclass(slots=True)
class Pace:
    """How a move may use its budget.

    Args:
        budget: seconds from the start of the search.
        before: winrate that the side expected after its last move, None if not known.
    """

    budget: Budget
    before: float | None = None
    aim: float | None = None  # seconds at which the search should have ended, once time has ended it

    def begin_later(self, seconds: float) -> None:
        """Say that the search begins so many seconds after the time from which its budget counts."""
        soft, hard = (max(limit - seconds, 0.0) for limit in (self.budget.soft, self.budget.hard))
        self.budget = Budget(soft, hard, self.budget.saves)

    @property
    def interval(self) -> float:
        """Seconds between two questions."""
        return min(max(self.budget.soft / _ASKED, _SHORTEST), _LONGEST)

    def enough(self, result: SearchResult) -> bool:
        """Tell whether a search that has got so far should end."""
        elapsed = result.stats.elapsed + min(result.stats.travel, _TRAVEL_MOST * self.budget.soft)
        if not should_stop(result, self.budget, elapsed, self.before):
            return False
        aim = wanted(self.budget, doubts(result, self.before).total)
        if elapsed >= aim and self.aim is None:
            self.aim = aim
        return True


class Turn:
    """One move being thought about, from now on.

    Args:
        budget: what it may take; None without clock and longest time.
        settings: limits of visits, and whether the pace may change.
        before: winrate that the side expected after its last move, None if not known.
    """

    def __init__(self, budget: Budget | None, settings: PlayerSettings, before: float | None = None) -> None:
        self.begun = time.monotonic()
        self._budget = budget
        self._settings = settings
        self._before = before
        self._late = 0.0

    def searched(self, result: SearchResult, limits: Limits, pace: Pace | None) -> None:
        """Note how much later than wanted a search has ended."""
        ends = [seconds for seconds in (limits.seconds, None if pace is None else pace.aim) if seconds is not None]
        if ends:
            self._late = max(self._late, result.stats.elapsed - min(ends))

    def late(self) -> float:
        """Return by how many seconds the move has been late so far, its search or the whole of it."""
        if self._budget is None:
            return 0.0
        longest = self._budget.hard if self._settings.attentive else self._budget.soft
        return max(self._late, time.monotonic() - self.begun - longest)

    @property
    def unlimited(self) -> bool:
        """True if no clock runs."""
        return self._budget is None

    def rest(self) -> Budget | None:
        """Return what is left of the budget."""
        if self._budget is None:
            return None
        gone = time.monotonic() - self.begun
        soft, hard = max(self._budget.soft - gone, 0.0), max(self._budget.hard - gone, 0.0)
        return Budget(soft, hard if self._settings.attentive else soft, self._budget.saves)

    def has(self, seconds: float) -> bool:
        """Tell whether so much time is left."""
        rest = self.rest()
        return rest is None or rest.hard >= seconds

    def search(self, kept: float = 0.0) -> tuple[Limits, Pace | None]:
        """Return the limits of a search that begins now.

        Args:
            kept: seconds wanted for what comes after it; they are kept if they are less than half of the rest.
        """
        settings, rest = self._settings, self.rest()
        if rest is not None and kept < 0.5 * rest.hard:
            hard = rest.hard - kept
            rest = Budget(min(rest.soft, hard), hard, rest.saves)
        if rest is None:
            return Limits(visits=settings.visits or settings.default_visits), None
        if rest.hard <= 0.0:
            return Limits(visits=1), None
        pace = Pace(rest, self._before) if settings.attentive else None
        return Limits(visits=settings.visits, seconds=rest.hard), pace
