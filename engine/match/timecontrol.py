"""Time controls of a match: what engines are told, and the clocks that the match keeps.

`--time S` gives every move S seconds; `MAIN+PERIOD/MOVES` is Canadian overtime as GTP has it. A side that oversteps by
more than the margin loses on time; the margin pays for pipes and a busy machine.

GTP has whole seconds: an engine is told a period rounded up and the time left rounded down, so one that is to play in
half a second learns of a second, of which none is left. KataGo and Keisei are told fractions.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from engine.errors import ConfigError

FRACTIONS = "kata-time_settings"
"""An engine that knows this command reads fractions of a second in all commands of its clock."""
_NUMBER = r"(\d{1,6}(?:\.\d{1,3})?)"
_CONTROL = re.compile(rf"{_NUMBER}(?:\+{_NUMBER}/(\d{{1,4}}))?", re.ASCII)


@dataclass(frozen=True)
class TimeControl:
    """Main time, then periods of so many seconds for so many moves. No period: the main time is all there is."""

    main: float
    period: float = 0.0
    moves: int = 0

    @property
    def text(self) -> str:
        """How people and options write it."""
        if not self.main and self.moves == 1:
            return f"{self.period:g}"
        return f"{self.main:g}+{self.period:g}/{self.moves}"

    def gtp(self, *, fractions: bool = False) -> str:
        """Return the arguments of time_settings; whole seconds, as GTP has them, unless the engine takes fractions."""
        if fractions:
            return f"{self.main:g} {self.period:g} {self.moves}"
        period = max(math.ceil(self.period), 1) if self.moves else 0
        return f"{math.ceil(self.main)} {period} {self.moves}"


def parse_time(text: str) -> TimeControl:
    """Return the time control of "S" (seconds a move), "MAIN+0/0" or "MAIN+PERIOD/MOVES". Raises ConfigError."""
    match = _CONTROL.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"not a time control: {text} (seconds a move, or MAIN+PERIOD/MOVES)")
    if match[2] is None:
        control = TimeControl(0.0, float(match[1]), 1)
    else:
        control = TimeControl(float(match[1]), float(match[2]), int(match[3]))
    if (control.period > 0) != (control.moves > 0) or not (control.main or control.period):
        raise ConfigError(f"not a time control: {text}")
    return control


class Clock:
    """One side's time."""

    def __init__(self, control: TimeControl) -> None:
        self._control = control
        self.seconds = control.main if control.main > 0 else control.period
        self.moves = 0 if control.main > 0 else control.moves  # left in this period; 0: still main time

    def spend(self, seconds: float) -> float:
        """Take off the time of one move; return the seconds by which it was overstepped."""
        self.seconds -= seconds
        if self.moves == 0:
            if self.seconds >= 0:
                return 0.0
            if not self._control.moves:
                over, self.seconds = -self.seconds, 0.0
                return over
            self.seconds += self._control.period  # the move ends in overtime and is its first
            self.moves = self._control.moves
        self.moves -= 1
        over = max(-self.seconds, 0.0)
        if self.moves == 0:
            self.seconds, self.moves = self._control.period, self._control.moves
        self.seconds = max(self.seconds, 0.0)
        return over

    def gtp(self, *, fractions: bool = False) -> str:
        """Return the arguments of time_left; whole seconds unless the engine takes fractions."""
        return f"{self.seconds:.3f} {self.moves}" if fractions else f"{int(self.seconds)} {self.moves}"
