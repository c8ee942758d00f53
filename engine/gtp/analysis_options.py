"""Reads the arguments of the analysis commands: color, interval, then keys with values, each key as often as one likes.

An unknown key or value is a syntax error, never ignored: clients find out what an engine can do by trying it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.errors import InvalidVertex
from engine.gtp import arguments
from engine.gtp.protocol import SYNTAX_ERROR, GtpError

FLAGS = ("ownership", "ownershipStdev", "movesOwnership", "pvVisits", "pvEdgeVisits", "rootInfo")
LEAST_INTERVAL = 0.01  # seconds


@dataclass(slots=True)
class AnalysisOptions:
    """What an analysis was asked for."""

    color: int | None = None  # 1 Black, 2 White; None: whose turn it is
    interval: float | None = None  # seconds
    min_moves: int = 0
    max_moves: int | None = None
    flags: frozenset[str] = frozenset()  # of FLAGS
    avoid: dict[int, dict[int, int]] = field(default_factory=dict)  # color → action → plies it is avoided for
    allow: dict[int, dict[int, int]] = field(default_factory=dict)  # color → action → plies nothing else is played for

    def wants(self, flag: str) -> bool:
        """True if that part was asked for."""
        return flag in self.flags


def parse(args: Sequence[str], width: int, height: int) -> AnalysisOptions:
    """Read the arguments of an analysis command. Raises GtpError."""
    options = AnalysisOptions()
    flags: set[str] = set()
    words = list(args)
    if words and arguments.is_color(words[0]):
        options.color = arguments.color(words.pop(0))
    if words and (words[0][0].isdigit() or words[0][0] in "+-."):
        options.interval = _interval(words.pop(0))
    while words:
        key = words.pop(0)
        if key in ("avoid", "allow"):
            _restrict(options, key, _take(words, 3), width, height)
            continue
        (value,) = _take(words, 1)
        if key == "interval":
            options.interval = _interval(value)
        elif key == "minmoves":
            options.min_moves = _count(value)
        elif key == "maxmoves":
            options.max_moves = _count(value)
        elif key in FLAGS:
            if arguments.boolean(value):
                flags.add(key)
            else:
                flags.discard(key)
        else:
            raise GtpError(SYNTAX_ERROR)
    options.flags = frozenset(flags)
    return options


def _take(words: list[str], count: int) -> list[str]:
    if len(words) < count:
        raise GtpError(SYNTAX_ERROR)
    taken = words[:count]
    del words[:count]
    return taken


def _interval(text: str) -> float:
    """Centiseconds, perhaps with decimals, to seconds."""
    value = arguments.number(text)
    if value < 0:
        raise GtpError(SYNTAX_ERROR)
    return max(value / 100.0, LEAST_INTERVAL)


def _count(text: str) -> int:
    value = arguments.integer(text)
    if value < 0:
        raise GtpError(SYNTAX_ERROR)
    return value


def _restrict(options: AnalysisOptions, key: str, words: Sequence[str], width: int, height: int) -> None:
    """Read "COLOR V,V,… DEPTH"."""
    color = arguments.color(words[0])
    depth = arguments.integer(words[2])
    if depth < 1:
        raise GtpError(SYNTAX_ERROR)
    try:
        actions = [arguments.vertex(word, width, height) for word in words[1].split(",") if word]
    except InvalidVertex:
        raise GtpError(SYNTAX_ERROR) from None
    table = options.avoid if key == "avoid" else options.allow
    if key == "allow" and color in options.allow:
        raise GtpError(SYNTAX_ERROR)  # one list of allowed moves a side
    mine = table.setdefault(color, {})
    for action in actions:
        mine[action] = max(depth, mine.get(action, 0))
    if color in options.avoid and color in options.allow:
        raise GtpError(SYNTAX_ERROR)
