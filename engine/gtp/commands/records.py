"""Game records: loadsgf and printsgf."""

from __future__ import annotations

from engine.files import reason, write_text
from engine.gtp import arguments
from engine.gtp.controller import Controller
from engine.gtp.protocol import SYNTAX_ERROR, GtpError, Request
from engine.gtp.registry import command


@command("loadsgf", "FILE [MOVE]")
def loadsgf(controller: Controller, request: Request) -> str:
    """Load a game record, up to the position before move MOVE; answer whose turn it is."""
    if not request.args:
        raise GtpError(SYNTAX_ERROR)
    path, before = _path_and_move(request)
    color = controller.player.load_sgf(path, before)
    return "black" if color == 1 else "white"


@command("printsgf", "[FILE]")
def printsgf(controller: Controller, request: Request) -> str:
    """Write the game as SGF, into the file or else into the answer."""
    text = controller.player.to_sgf()
    path = _unquoted(request.rest)
    if not path:
        return text
    try:
        write_text(path, text + "\n")
    except (OSError, ValueError) as error:
        raise GtpError(f"cannot write {path}: {reason(error)}") from None
    return ""


def _path_and_move(request: Request) -> tuple[str, int | None]:
    """Split "FILE [MOVE]"; a file name may hold spaces."""
    words = request.args
    if len(words) == 1:
        return _unquoted(words[0]), None
    last = words[-1]
    if last.isascii() and last.isdigit():
        move = arguments.integer(last)
        if move < 1:
            raise GtpError(SYNTAX_ERROR)
        return _unquoted(request.rest[: -len(last)].rstrip(" ")), move
    return _unquoted(request.rest), None


def _unquoted(path: str) -> str:
    """Take off the double quotes that GoGui puts around a path with spaces."""
    return path[1:-1] if len(path) > 2 and path[0] == path[-1] == '"' else path
