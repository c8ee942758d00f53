"""Time controls, what a side has left under them, and how long a move may be thought about.

Pure functions of plain data; nothing here looks at a clock. A `TimeControl` is what a controller said, a `TimeLeft`
what one side has left, a `Budget` what the next move may take: `soft` seconds for an ordinary move, never more than
`hard`. The lag is kept back for every move that may still come. Which moves are not ordinary is in attention.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

SYSTEMS = ("none", "absolute", "byoyomi", "canadian", "fischer", "fischer-capped")

_OWN_MOVES = 0.36  # expected moves of one side in a whole game, by board points (130 on 19x19, 29 on 9x9)
_LEAST_MOVES = 0.07  # never count on fewer than this (25 on 19x19, 6 on 9x9)
_LONG_GAME = 0.6  # moves of one side for which lag is kept back (217 on 19x19, 49 on 9x9)
_LONG_REST = 0.15  # and never for fewer than this
_LONGEST = 4.0  # times the ordinary share that a move may take
_PART = 0.3  # of the reserve that a move may take
_RESERVE_LEAST = 0.35  # of the share at the start that every later move keeps
_CANADIAN_LONGEST = 2.5  # times the ordinary share, inside a Canadian period
_CANADIAN_LEAST = 0.65  # of the average that every later move keeps there
_BANK_SHARE, _BANK_SECONDS = 0.3, 1.0  # of a Fischer increment, and at most: what is never taken from the bank
_MARGIN = 0.25  # of the time there is: the most that late answers of the past take from a move
_SPARE_SHARE, _SPARE_SECONDS = 0.08, 0.15  # kept back of a period beside the lag where overstepping costs another one
_LAST_LAG, _LAST_SHARE, _LAST_SECONDS = 2.0, 0.2, 0.25  # kept back where overstepping loses the game: so many times
# the lag, and this share of the period up to so many seconds


@dataclass(frozen=True, slots=True)
class TimeControl:
    """How a game is timed. Seconds; what a system does not have stays at its default.

    `main` is the main time, `count` periods of byo-yomi or moves in a Canadian period of `period` seconds each,
    `increment` what every move adds. `most_main` and `most_move` are the limits of fischer-capped.
    """

    system: str = "none"
    main: float = 0.0
    period: float = 0.0
    count: int = 0
    increment: float = 0.0
    most_main: float = math.inf
    most_move: float = math.inf

    def __post_init__(self) -> None:
        if self.system not in SYSTEMS:
            raise ValueError(f"no time system: {self.system}")

    @property
    def unlimited(self) -> bool:
        """True if moves may take any time."""
        return self.system == "none"

    @property
    def overtime(self) -> bool:
        """True if there are periods after the main time."""
        return self.system in ("byoyomi", "canadian")


def gtp_control(main: float, period: float, stones: int) -> TimeControl:
    """Return what time_settings MAIN PERIOD STONES means.

    "0 1 0" (a period without stones) is no limit, "0 0 0" no time at all, "T 0 0" absolute.
    """
    if period > 0 and stones == 0:
        return TimeControl()
    if period > 0:
        return TimeControl("canadian", main, period, stones)
    return TimeControl("absolute", main)


def overtime_control(system: str, main: float, period: float, count: int) -> TimeControl:
    """Return byo-yomi or Canadian overtime; without a period or a count the main time is all there is."""
    if period <= 0 or count <= 0:
        return TimeControl("absolute", main)
    return TimeControl(system, main, period, count)


def fischer_control(
    main: float, increment: float, most_main: float = math.inf, most_move: float = math.inf
) -> TimeControl:
    """Return a Fischer clock; limits make it fischer-capped: of the main time kept, and of one move."""
    capped = most_main < math.inf or most_move < math.inf
    system = "fischer-capped" if capped else "fischer"
    return TimeControl(system, min(main, most_main), increment=increment, most_main=most_main, most_move=most_move)


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """What one side has left: main time if `count` is 0; else of a period, and moves in it (Canadian) or periods."""

    seconds: float
    count: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """Seconds that a move may be thought about, the lag taken off. `saves`: what is left over can be used later."""

    soft: float
    hard: float
    saves: bool = True


def at_start(control: TimeControl) -> TimeLeft | None:
    """Return what each side has before its first move; None without a limit."""
    return None if control.unlimited else _entered(control, TimeLeft(control.main))


def as_told(control: TimeControl | None, seconds: float, count: int) -> TimeLeft | None:
    """Return what a controller's time_left means under a control (None: it never gave one).

    0 seconds and 0 moves means that overtime begins. Where there is no limit, 0 says nothing.
    """
    left = TimeLeft(max(seconds, 0.0), max(count, 0))
    if control is None:
        return left
    if control.unlimited:
        return left if seconds > 0 else None
    if not control.overtime:
        return TimeLeft(left.seconds)
    return _entered(control, left)


def after_move(control: TimeControl | None, left: TimeLeft, seconds: float) -> TimeLeft:
    """Return what is left after a move of so many seconds, as far as one can know without being told."""
    rest = left.seconds - seconds
    if control is None or not control.overtime:
        if control is not None:
            rest = min(max(rest, 0.0) + control.increment, max(control.most_main, left.seconds))
        return TimeLeft(max(rest, 0.0), max(left.count - 1, 0))
    if left.count == 0:
        if rest > 0:
            return TimeLeft(rest)
        left, seconds = TimeLeft(control.period, control.count), -rest  # the move ends in overtime and is its first
        if seconds == 0.0:
            return left
        rest = left.seconds - seconds
    if control.system == "byoyomi":
        lost = 0 if rest >= 0 else math.ceil(-rest / control.period)
        return TimeLeft(control.period, max(left.count - lost, 1))
    if left.count > 1 and rest > 0:
        return TimeLeft(rest, left.count - 1)
    if told_as_canadian(control, left):
        return TimeLeft(max(rest, 0.0) + control.period, 1)
    return TimeLeft(control.period, control.count)  # the period is played, or lost


def _entered(control: TimeControl, left: TimeLeft) -> TimeLeft:
    """Main time that is used up means that the first period runs, where there is one."""
    if left.seconds <= 0 and left.count == 0 and control.overtime:
        return TimeLeft(control.period, control.count)
    return left


def expected_moves(area: int, moves_made: int) -> float:
    """Return how many moves a side should count on still to make, of which each gets its share."""
    return max(area * _OWN_MOVES - moves_made / 2, area * _LEAST_MOVES, 2.0)


def most_moves(area: int, moves_made: int) -> float:
    """Return how many moves a side must at worst have time for."""
    return max(area * _LONG_GAME - moves_made / 2, area * _LONG_REST, 4.0)


def budget(
    control: TimeControl | None, left: TimeLeft, *, area: int, moves_made: int, lag: float, margin: float = 0.0
) -> Budget:
    """Return how long the next move may be thought about.

    Args:
        control: None if the controller never said; then `left` alone counts.
        area: points of the board.
        moves_made: by both sides.
        lag: seconds that every move costs beyond the thought, on the way and by a late answer.
        margin: seconds more that this move may come late; no more than a quarter of the time is kept back for that.
    """
    moves, most = expected_moves(area, moves_made), most_moves(area, moves_made)
    end = left.seconds  # seconds from now that must not be overstepped
    if control is None or not control.overtime:
        if left.count > 0:  # a period of a control that we were not told
            found = _inside_canadian(left.seconds, left.count, lag)
        else:
            each = control.main / (area * _OWN_MOVES) if control else 0.0
            found = _from_reserve(control or TimeControl("absolute"), left.seconds, moves, most, lag, each)
            end = min(end, control.most_move) if control else end
    elif left.count == 0:
        found = _before_overtime(control, left.seconds, moves, lag)
        end += control.period / (1 if control.system == "byoyomi" else control.count)
    elif control.system == "byoyomi":
        found = _in_period(control, left, lag)
        end += control.period if left.count > 2 else 0.0
    elif told_as_canadian(control, left):
        bank = TimeControl("fischer", increment=control.period)
        found = _from_reserve(bank, left.seconds, moves, most, lag)
    else:
        found = _inside_canadian(left.seconds, left.count, lag, control.period / control.count)
    hard = max(min(max(found.hard, found.soft), end - lag - min(margin, _MARGIN * end)), 0.0)
    return replace(found, soft=max(min(found.soft, hard), 0.0), hard=hard)


def told_as_canadian(control: TimeControl, left: TimeLeft) -> bool:
    """Tell whether a Fischer clock hides behind Canadian overtime of one move: more is left than a period has."""
    return control.system == "canadian" and left.count == 1 and left.seconds > control.period * 1.01


def _from_reserve(
    control: TimeControl, seconds: float, moves: float, most: float, lag: float, each: float = 0.0
) -> Budget:
    """Absolute time and Fischer's: a share of the reserve, and what the move brings back.

    However unclear moves are, those that follow keep a part of what was meant for `each` at the start.
    """
    back = control.increment
    gain = max(back - lag, 0.0)
    usable = max(seconds - lag - max(lag - back, 0.0) * most, 0.0)
    soft = usable / moves + gain
    left_over = usable - (moves - 1.0) * _RESERVE_LEAST * each + gain
    hard = max(min(_LONGEST * soft, _PART * usable + gain, left_over), soft)
    over = seconds - lag - soft + back - control.most_main
    if over > 0:  # the cap would take it
        soft, hard = soft + over, hard + over
    limit = max(0.9 * usable - min(_BANK_SHARE * back, _BANK_SECONDS), 0.0)
    return Budget(min(soft, limit), min(hard, limit), saves=seconds + back <= control.most_main)


def _before_overtime(control: TimeControl, seconds: float, moves: float, lag: float) -> Budget:
    """Main time before periods: each move may take what a move in overtime may, and a share of the reserve."""
    each = control.period if control.system == "byoyomi" else control.period / control.count
    gain = max(each - lag, 0.0)
    share = max(seconds - lag, 0.0) / moves
    return Budget(share + gain, _LONGEST * share + 1.5 * gain)


def _in_period(control: TimeControl, left: TimeLeft, lag: float) -> Budget:
    """Byo-yomi: the whole period. With periods to spare an unclear move may take a second one, and then all of it.

    The last but one is not overstepped lightly: from then on every move has to keep back much more.
    """
    seconds = min(left.seconds, control.period)
    kept = lag + min(_SPARE_SHARE * seconds, _SPARE_SECONDS)
    soft = seconds - (kept if left.count > 1 else _kept_at_last(seconds, lag))
    spare = control.period if left.count > 2 else 0.0
    return Budget(soft, soft + spare, saves=False)


def _inside_canadian(seconds: float, stones: int, lag: float, each: float = 0.0) -> Budget:
    """So many moves in so many seconds, of which each has `each` on average (0: not known).

    However unclear moves are, those that follow keep a good part of that average.
    """
    if stones == 1:
        soft = seconds - _kept_at_last(seconds, lag)
        return Budget(soft, soft, saves=False)
    soft = seconds / stones - lag
    rest = seconds - stones * lag
    left_over = rest - (stones - 1) * _CANADIAN_LEAST * max(each - lag, soft if each == 0.0 else 0.0)
    return Budget(soft, max(min(_CANADIAN_LONGEST * soft, left_over), soft))


def _kept_at_last(seconds: float, lag: float) -> float:
    """Return what is kept back of the seconds of a last period or a last move in one."""
    return _LAST_LAG * lag + min(_LAST_SHARE * seconds, _LAST_SECONDS)
