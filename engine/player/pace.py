"""Asks a running search from time to time whether it has found enough for its clock."""

from __future__ import annotations

from dataclasses import dataclass

from engine.search.attention import should_stop
from engine.search.result import SearchResult
from engine.search.timing import Budget

_ASKED = 24  # times in an ordinary move
_SHORTEST, _LONGEST = 0.02, 0.5  # seconds between two times


@dataclass(frozen=True, slots=True)
class Pace:
    """How a move may use its budget.

    Args:
        budget: seconds from the start of the search.
        before: winrate that the side expected after its last move, None if not known.
    """

    budget: Budget
    before: float | None = None

    @property
    def interval(self) -> float:
        """Seconds between two questions."""
        return min(max(self.budget.soft / _ASKED, _SHORTEST), _LONGEST)

    def enough(self, result: SearchResult) -> bool:
        """Tell whether a search that has got so far should end."""
        return should_stop(result, self.budget, result.stats.elapsed, self.before)
