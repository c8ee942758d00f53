"""Both sides' clocks: the controller's word, and our own count where it says nothing.

Newest words win: each command replaces what was known. What a move may take is worked out in engine.search.timing.
"""

from __future__ import annotations

from collections import deque
from statistics import median

from engine.search.timing import Budget, TimeControl, TimeLeft, after_move, as_told, at_start, budget

BLACK, WHITE = 1, 2
_ANSWERS = 7  # that are remembered


class Clock:
    """Both sides' time."""

    def __init__(self) -> None:
        self._control: TimeControl | None = None
        self._left: dict[int, TimeLeft] = {}
        self._late: deque[float] = deque([0.0] * 3, maxlen=_ANSWERS)  # seconds by which answers came after their limit

    @property
    def settings(self) -> TimeControl | None:
        """The settings in force; None before the controller gave any."""
        return self._control

    def left(self, color: int) -> TimeLeft | None:
        """Return what that side has left, None if there is no limit."""
        return self._left.get(color)

    def set(self, control: TimeControl) -> None:
        """Start both clocks anew."""
        self._control = control
        self.restart()

    def restart(self) -> None:
        """Give both sides their full time, as at the start of a game; the settings stay."""
        left = None if self._control is None else at_start(self._control)
        self._left = {} if left is None else {BLACK: left, WHITE: left}

    def set_left(self, color: int, seconds: float, count: int) -> None:
        """Take the controller's word for what a side has left."""
        left = as_told(self._control, seconds, count)
        if left is None:
            self._left.pop(color, None)
        else:
            self._left[color] = left

    def spend(self, color: int, seconds: float) -> None:
        """Take the time of one move from a side's clock; a word of the controller's replaces this guess."""
        left = self._left.get(color)
        if left is not None:
            self._left[color] = after_move(self._control, left, seconds)

    def answered(self, late: float) -> None:
        """Note by how many seconds a move came later than it was to come."""
        self._late.append(max(late, 0.0))

    def budget(self, color: int, *, moves_made: int, area: int, lag: float) -> Budget | None:
        """Return how long the next move of `color` may take; None without a limit, zeros if there is no time at all.

        Args:
            moves_made: moves of both sides so far.
            area: points of the board.
            lag: seconds to keep back at each move. What answers usually come late by is added, and for this move
                what the last ones came late by at most.
        """
        left = self._left.get(color)
        if left is None:
            return None
        usual = median(self._late)
        return budget(
            self._control, left, area=area, moves_made=moves_made, lag=lag + usual, margin=max(self._late) - usual
        )
