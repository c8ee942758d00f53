"""Time: GTP's settings of main time and Canadian overtime, and what is left of them."""

from __future__ import annotations

from engine.gtp import arguments
from engine.gtp.controller import Controller
from engine.gtp.protocol import SYNTAX_ERROR, GtpError, Request
from engine.gtp.registry import command


@command("time_settings", "MAIN PERIOD STONES")
def time_settings(controller: Controller, request: Request) -> str:
    """Set both clocks, in seconds: "0 1 0" is no limit, "0 0 0" no time at all, "T 0 0" absolute time."""
    arguments.exactly(request.args, 3)
    main, period = (arguments.number(word) for word in request.args[:2])
    stones = int(arguments.number(request.args[2]))
    if main < 0 or period < 0 or stones < 0:
        raise GtpError(SYNTAX_ERROR)
    controller.player.set_time(main, period, stones)
    return ""


@command("time_left", "COLOR SECONDS STONES")
def time_left(controller: Controller, request: Request) -> str:
    """Say what a side has left: seconds of main time if STONES is 0, else of a period with so many moves to make."""
    if len(request.args) not in (2, 3):
        raise GtpError(SYNTAX_ERROR)
    color = arguments.color(request.args[0])
    seconds = arguments.number(request.args[1])
    stones = int(arguments.number(request.args[2])) if len(request.args) == 3 else 0
    controller.player.set_time_left(color, seconds, max(stones, 0))
    return ""
