"""GoGui's own commands for moving through games and setting up positions, each all or nothing."""

from __future__ import annotations

from engine.errors import EngineError, IllegalMove, InvalidVertex
from engine.gtp import arguments
from engine.gtp.controller import Controller
from engine.gtp.protocol import SYNTAX_ERROR, GtpError, Request
from engine.gtp.registry import command

EMPTY = 0


@command("gogui-play_sequence", "[COLOR VERTEX]...")
def play_sequence(controller: Controller, request: Request) -> str:
    """Play moves of either side one after the other: all of them, or none if one is illegal."""
    player = controller.player
    moves = _pairs(controller, request, empty=False, passes=True)
    played = 0
    try:
        for color, action in moves:
            player.play(color, action)
            played += 1
    except EngineError:
        player.undo(played)
        raise
    return ""


@command("gogui-setup", "[COLOR VERTEX]...")
def setup(controller: Controller, request: Request) -> str:
    """Add stones to a position without moves, or take some away (color `e`); whose turn it is stays."""
    player = controller.player
    stones = {action: color for color, action in _unmoved(controller)}
    for color, action in _pairs(controller, request, empty=True, passes=False):
        if color == EMPTY:
            stones.pop(action, None)
        else:
            stones[action] = color
    try:
        player.set_up([(color, action) for action, color in stones.items()], player.to_play)
    except (IllegalMove, InvalidVertex):
        raise GtpError("illegal position") from None
    return ""


@command("gogui-setup_player", "COLOR")
def setup_player(controller: Controller, request: Request) -> str:
    """Say whose turn it is in a position that was set up."""
    arguments.exactly(request.args, 1)
    color = arguments.color(request.args[0])
    controller.player.set_up(_unmoved(controller), color)
    return ""


@command("gogui-interrupt")
def interrupt(controller: Controller, request: Request) -> str:
    """Do nothing: that it is there says that the comment "# interrupt" ends a running command early."""
    return ""


def _unmoved(controller: Controller) -> list[tuple[int, int]]:
    """Return the stones (color, action) of a position without moves."""
    position = controller.player.game.position
    if position.n_moves:
        raise GtpError("moves were played already")
    return list(position.setup_stones)


def _pairs(controller: Controller, request: Request, *, empty: bool, passes: bool) -> list[tuple[int, int]]:
    """Read "COLOR VERTEX" again and again; return (color, action)."""
    words = request.args
    if len(words) % 2:
        raise GtpError(SYNTAX_ERROR)
    width, height = controller.player.size
    found = []
    for color_word, vertex in zip(words[::2], words[1::2], strict=True):
        color = EMPTY if empty and color_word.lower() in ("e", "empty") else arguments.color(color_word)
        try:
            action = arguments.vertex(vertex, width, height)
        except InvalidVertex:
            raise GtpError("illegal move") from None
        if action == width * height and not passes:
            raise GtpError(SYNTAX_ERROR)
        found.append((color, action))
    return found
