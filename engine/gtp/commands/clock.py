"""Time: what the controller says of the time control and of the clocks. Newest words win."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from engine.gtp import arguments
from engine.gtp.controller import Controller
from engine.gtp.protocol import SYNTAX_ERROR, GtpError, Request
from engine.gtp.registry import command

if TYPE_CHECKING:
    from engine.search.timing import TimeControl

_LONG = 1e9  # seconds; clocks beyond are cut there

# system -> how many numbers follow it
_KGS = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}
_KATA = {**_KGS, "fischer": 2, "fischer-capped": 4}


@command("time_settings", "MAIN PERIOD STONES")
def time_settings(controller: Controller, request: Request) -> str:
    """Set both clocks, in seconds: "0 1 0" is no limit, "0 0 0" no time at all, "T 0 0" absolute time."""
    arguments.exactly(request.args, 3)
    main, period = (_seconds(word) for word in request.args[:2])
    stones = _count(request.args[2])
    controller.player.set_time(main, period, stones)
    return ""


@command("kgs-time_settings", "none | absolute MAIN | byoyomi MAIN PERIOD PERIODS | canadian MAIN PERIOD STONES")
def kgs_time_settings(controller: Controller, request: Request) -> str:
    """Set both clocks by the name of the system."""
    controller.player.set_time_control(_control(request.args, _KGS))
    return ""


@command("kata-list_time_settings")
def kata_list_time_settings(controller: Controller, request: Request) -> str:
    """List the systems that kata-time_settings knows."""
    return " ".join(_KATA)


@command("kata-time_settings", "SYSTEM [NUMBER]...")
def kata_time_settings(controller: Controller, request: Request) -> str:
    """Set both clocks: as kgs-time_settings, or fischer MAIN INCREMENT, or fischer-capped MAIN INCREMENT MOST MOVE."""
    controller.player.set_time_control(_control(request.args, _KATA))
    return ""


@command("time_left", "COLOR SECONDS STONES")
def time_left(controller: Controller, request: Request) -> str:
    """Say what a side has left: seconds of main time if STONES is 0, else of a period with so many moves to make.

    Under byo-yomi STONES are the periods left.
    """
    if len(request.args) not in (2, 3):
        raise GtpError(SYNTAX_ERROR)
    color = arguments.color(request.args[0])
    seconds = min(arguments.number(request.args[1]), _LONG)
    stones = int(arguments.number(request.args[2])) if len(request.args) == 3 else 0
    controller.player.set_time_left(color, seconds, max(stones, 0))
    return ""


def _control(args: Sequence[str], systems: Mapping[str, int]) -> TimeControl:
    """Read the name of a time system and its numbers."""
    from engine.search import timing

    system = args[0].lower() if args else ""
    if system not in systems or len(args) - 1 != systems[system]:
        raise GtpError(SYNTAX_ERROR)
    words = args[1:]
    if system == "none":
        return timing.TimeControl()
    main = _seconds(words[0])
    if system == "absolute":
        return timing.TimeControl("absolute", main)
    if system in ("byoyomi", "canadian"):
        return timing.overtime_control(system, main, _seconds(words[1]), _count(words[2]))
    limits = [math.inf if arguments.number(word) < 0 else _seconds(word) for word in words[2:]]
    return timing.fischer_control(main, _seconds(words[1]), *limits)


def _seconds(word: str) -> float:
    value = arguments.number(word)
    if value < 0:
        raise GtpError(SYNTAX_ERROR)
    return min(value, _LONG)


def _count(word: str) -> int:
    value = int(arguments.number(word))
    if value < 0:
        raise GtpError(SYNTAX_ERROR)
    return value
