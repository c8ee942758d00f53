"""Clocks, and how long to think about a move. Knows seconds and stones, not the game; the player asks it first.

Time controls as GTP has them: absolute (main time alone), Canadian (`stones` moves in each overtime period) and
Japanese byo-yomi, which is Canadian with one stone. Times are seconds. The caller reports what it spent, so that a
controller that never sends `time_left` is served too; whatever `time_left` says is believed.
"""

from __future__ import annotations

from dataclasses import dataclass

LAG = 0.3  # s kept back from every limit for what happens outside the search …
LAG_SHARE = 0.3  # … but no more than this share of it
LEAST = 0.01  # s: where there is any time, never plan for less
# Moves that one side still has to play: half of the larger share of the board, and never fewer than FEWEST_MOVES.
OPENING_SHARE = 0.5  # of the points not yet played
FEWEST_LEFT = 0.2  # of the area
FEWEST_MOVES = 8.0
LONGEST_SHARE = 0.25  # of the main time on one move


@dataclass(frozen=True, slots=True)
class TimeControl:
    """What `time_settings MAIN OVERTIME STONES` agrees on.

    Args:
        main: seconds of main time.
        overtime: seconds of each period after it; 0 for absolute time.
        stones: moves in each period; 0 with overtime > 0 means no limit at all (GTP 2).
    """

    main: float
    overtime: float = 0.0
    stones: int = 0

    @property
    def unlimited(self) -> bool:
        return self.overtime > 0.0 and self.stones == 0


@dataclass(slots=True)
class Clock:
    """One side's clock.

    Args:
        control: the time control, or None before any was set: then there is no limit.
    """

    control: TimeControl | None = None
    main_left: float = 0.0
    period_left: float = 0.0
    stones_left: int = 0  # 0 = still in main time

    def set_control(self, control: TimeControl) -> None:
        """Start anew under this control. May be called before every move; the newest holds."""
        if control == self.control:
            return
        self.control = control
        self.restart()

    def restart(self) -> None:
        """Put the clock back to the beginning of a game."""
        if self.control is None:
            return
        self.main_left = self.control.main
        self.period_left = self.control.overtime
        self.stones_left = self.control.stones if self.main_left <= 0.0 and self.control.overtime > 0.0 else 0

    def set_left(self, seconds: float, stones: int) -> None:
        """Take over what `time_left` says: seconds of main time with stones 0, else of a period with that many stones.

        0 seconds and 0 stones mean that main time has just run out.
        """
        seconds = max(0.0, seconds)
        if self.control is None:
            self.control = TimeControl(seconds) if stones == 0 else TimeControl(0.0, seconds, stones)
        if stones > 0:
            self.main_left, self.period_left, self.stones_left = 0.0, seconds, stones
        elif seconds > 0.0 or self.control.overtime <= 0.0:
            self.main_left, self.period_left, self.stones_left = seconds, self.control.overtime, 0
        else:
            self.main_left = 0.0
            self.period_left, self.stones_left = self.control.overtime, self.control.stones

    def spend(self, seconds: float) -> None:
        """Count one move that took this long."""
        control = self.control
        if control is None or control.unlimited:
            return
        if self.stones_left == 0:
            self.main_left -= seconds
            if self.main_left > 0.0 or control.overtime <= 0.0:
                self.main_left = max(0.0, self.main_left)
                return
            seconds = -self.main_left
            self.main_left = 0.0
            self.period_left, self.stones_left = control.overtime, control.stones
        self.period_left -= seconds
        self.stones_left -= 1
        if self.stones_left <= 0:
            self.period_left, self.stones_left = control.overtime, control.stones

    def budget(self, moves_played: int, area: int, *, lag: float = LAG) -> float | None:
        """Return the seconds to think about the next move, or None for no limit. 0 means: play at once.

        Args:
            moves_played: by both sides so far.
            area: points of the board.
            lag: seconds to keep back.
        """
        control = self.control
        if control is None or control.unlimited:
            return None
        if self.stones_left > 0:
            return _less_lag(max(0.0, self.period_left) / self.stones_left, lag)
        own_moves = max(FEWEST_MOVES, 1.0 + 0.5 * max(OPENING_SHARE * (area - moves_played), FEWEST_LEFT * area))
        extra = control.overtime / control.stones if control.overtime > 0.0 else 0.0  # main time comes on top of it
        longest = max(LONGEST_SHARE * self.main_left, extra)
        return _less_lag(min(self.main_left / own_moves + extra, longest), lag)


def _less_lag(seconds: float, lag: float) -> float:
    """Return seconds less the lag; of a short time only a share is kept back, so that something is left. 0 stays 0."""
    return max(LEAST, seconds - min(lag, LAG_SHARE * seconds)) if seconds > 0.0 else 0.0
