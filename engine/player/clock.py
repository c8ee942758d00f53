"""The game clock as GTP tells it, and how much of it a move may use.

GTP knows main time and Canadian overtime: `stones` moves in each period of `period` seconds. Byo-yomi and Fischer
clocks arrive as overtime of one stone, so main time before overtime is a reserve to be spread over the game, never to
be spent on one move. Newest words win: each command replaces what was known. Where the controller never says what is
left, the clock runs by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

BLACK, WHITE = 1, 2

_OWN_MOVES = 0.36  # expected moves of one side in a whole game, by board points (130 on 19x19, 29 on 9x9)
_LEAST_MOVES = 0.07  # never count on fewer than this (25 on 19x19, 6 on 9x9)


@dataclass(frozen=True, slots=True)
class TimeSettings:
    """What time_settings said, in seconds and stones.

    `period` > 0 with `stones` 0 means no limit at all; all three 0 means no time: play at once.
    """

    main: float
    period: float
    stones: int

    @property
    def unlimited(self) -> bool:
        """True for GTP's "no limit": a period with no stones to play in it."""
        return self.period > 0 and self.stones == 0


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """What one side has left: main time if `stones` is 0, else a period with so many moves to make in it."""

    seconds: float
    stones: int


class Clock:
    """Both sides' time."""

    def __init__(self) -> None:
        self._settings: TimeSettings | None = None
        self._left: dict[int, TimeLeft] = {}

    @property
    def settings(self) -> TimeSettings | None:
        """The settings in force; None before the controller gave any."""
        return self._settings

    def left(self, color: int) -> TimeLeft | None:
        """Return what that side has left, None if there is no limit."""
        return self._left.get(color)

    def set(self, settings: TimeSettings) -> None:
        """Start both clocks anew."""
        self._settings = settings
        self.restart()

    def restart(self) -> None:
        """Give both sides their full time, as at the start of a game; the settings stay."""
        settings = self._settings
        self._left = {}
        if settings is not None and not settings.unlimited:
            for color in (BLACK, WHITE):
                self._left[color] = self._with_overtime(TimeLeft(settings.main, 0))

    def set_left(self, color: int, seconds: float, stones: int) -> None:
        """Take the controller's word for what a side has left."""
        self._left[color] = self._with_overtime(TimeLeft(max(seconds, 0.0), stones))

    def spend(self, color: int, seconds: float) -> None:
        """Take the time of one move from a side's clock; a word of the controller's replaces this guess."""
        left = self._left.get(color)
        if left is None:
            return
        rest = left.seconds - seconds
        settings = self._settings
        if left.stones > 1 and rest > 0:
            self._left[color] = TimeLeft(rest, left.stones - 1)
        elif left.stones > 0 and settings is not None and settings.period > 0:
            self._left[color] = TimeLeft(settings.period, settings.stones)  # the period is played, or lost
        elif rest <= 0 and settings is not None and settings.period > 0 and settings.stones > 0:
            self._left[color] = TimeLeft(settings.period, settings.stones)
        else:
            self._left[color] = replace(left, seconds=max(rest, 0.0))

    def budget(self, color: int, *, moves_made: int, area: int, lag: float) -> float | None:
        """Return the seconds the next move of `color` may take; None without a limit, 0 if there is no time at all.

        Args:
            moves_made: moves of both sides so far.
            area: points of the board.
            lag: seconds to keep back.
        """
        left = self._left.get(color)
        if left is None:
            return None
        if left.stones > 0:
            return max(left.seconds / left.stones - lag, 0.0)
        settings = self._settings
        period = 0.0
        if settings is not None and settings.stones > 0:
            period = settings.period / settings.stones
        moves = max(area * _OWN_MOVES - moves_made / 2, area * _LEAST_MOVES, 2.0)
        share = left.seconds / moves + period
        most = left.seconds if period == 0.0 else left.seconds + period
        return max(min(share, most) - lag, 0.0)

    def _with_overtime(self, left: TimeLeft) -> TimeLeft:
        """Main time that is used up means that the first period runs, where there is one."""
        settings = self._settings
        if left.seconds <= 0 and left.stones == 0 and settings and settings.period > 0 and settings.stones > 0:
            return TimeLeft(settings.period, settings.stones)
        return left
