"""A GTP session as a process: standard streams, signals, the net's loading in the background, and the exit.

The process ends through os._exit: a thread may be deep in compiled code (loading a net, evaluating), and neither that
nor an interpreter tidying up may delay the end that a controller waits for.
"""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from engine.errors import EngineError
from engine.gtp import commands
from engine.gtp.controller import Controller
from engine.gtp.output import Output, claim_stdout, watch_closing
from engine.gtp.session import Session
from engine.gtp.stderr import StderrHandler
from engine.player.net import BackgroundNet

log = logging.getLogger(__name__)

assert commands  # imported so that they are registered


def claim_streams() -> None:
    """See that all three standard streams are there, before anything is opened.

    A parent may have closed them. The null device then stands for stdin (an end at once) and stderr, so that no other
    file gets their number.

    Raises EngineError without stdout, since nobody could hear a reply.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 (stays open)
    if sys.stdout is None:
        raise EngineError("standard output is closed, and GTP's replies go there")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (stays open)


def serve(controller: Controller, net: BackgroundNet, handler: StderrHandler) -> NoReturn:
    """Run a session on stdin and stdout, then end the process.

    Args:
        controller: what commands act on.
        net: loads in the background; the process ends with code 1 if that fails.
        handler: the one that logs to stderr.
    """

    def leave(code: int) -> NoReturn:
        handler.drain()
        os._exit(code)

    def on_signal(number: int, frame: FrameType | None) -> None:
        leave(0 if number == signal.SIGTERM else 128 + number)

    def on_failure(error: Exception) -> None:
        log.error("%s", error, exc_info=None if is_expected(error) else error)
        session.end(1)

    stream = claim_stdout()
    controller.live = handler.put
    session = Session(controller, Output(stream), force_exit=leave)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    net.start(on_failure)
    session.start_reading(io.FileIO(sys.stdin.fileno(), closefd=False).read)
    watch_closing(stream, session.end)
    handler.put("GTP ready\n")
    if sys.stdin.isatty():
        handler.put("type list_commands to see what can be asked; quit ends\n")
    try:
        code = session.run()
    except BaseException:
        log.exception("the session broke down")
        code = 1
    leave(code)


def is_expected(error: Exception) -> bool:
    """Tell whether an error is one that users can meet, so that its text is enough."""
    return isinstance(error, EngineError)
