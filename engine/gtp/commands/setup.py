"""The board before the game: size, komi, rules, handicap, set-up positions."""

from __future__ import annotations

import math

from engine.errors import ConfigError, EngineError, IllegalMove, InvalidVertex
from engine.gtp import arguments
from engine.gtp.controller import Controller
from engine.gtp.protocol import SYNTAX_ERROR, GtpError, Request
from engine.gtp.registry import command

MAX_KOMI = 10_000.0


@command("boardsize", "N | W H")
def boardsize(controller: Controller, request: Request) -> str:
    """Start on an empty board of that size; komi, rules and clock stay."""
    width, height = arguments.board_size(request.args)
    controller.player.new_board(width, height)
    return ""


@command("rectangular_boardsize", "W H")
def rectangular_boardsize(controller: Controller, request: Request) -> str:
    """Start on an empty board, W points wide and H high."""
    arguments.exactly(request.args, 2)
    controller.player.new_board(*arguments.board_size(request.args))
    return ""


@command("clear_board")
def clear_board(controller: Controller, request: Request) -> str:
    """Empty the board and start another game."""
    controller.player.clear_board()
    return ""


@command("komi", "POINTS")
def komi(controller: Controller, request: Request) -> str:
    """Set komi, now and for all games that follow."""
    arguments.exactly(request.args, 1)
    if request.args[0].lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise GtpError("unacceptable komi")
    value = arguments.number(request.args[0])
    if not math.fabs(value) <= MAX_KOMI:
        raise GtpError("unacceptable komi")
    controller.player.set_komi(value)
    return ""


@command("get_komi")
def get_komi(controller: Controller, request: Request) -> str:
    """Answer komi."""
    return f"{controller.player.game.komi:g}"


@command("kata-set-rules", "NAME | JSON")
def kata_set_rules(controller: Controller, request: Request) -> str:
    """Set the rules, by name or as KataGo's JSON object; komi stays."""
    from engine.board.rules import parse_rules

    if not request.rest:
        raise GtpError(SYNTAX_ERROR)
    controller.player.set_rules(parse_rules(request.rest))
    return ""


@command("kata-set-rule", "KEY VALUE")
def kata_set_rule(controller: Controller, request: Request) -> str:
    """Change one of the rules, as in KataGo's JSON object."""
    arguments.exactly(request.args, 2)
    rules = controller.player.game.rules.with_value(*request.args)
    controller.player.set_rules(rules)
    return ""


@command("kata-get-rules")
def kata_get_rules(controller: Controller, request: Request) -> str:
    """Answer the rules as KataGo's JSON object, on one line."""
    return controller.player.game.rules.to_json()


@command("fixed_handicap", "STONES")
def fixed_handicap(controller: Controller, request: Request) -> str:
    """Place handicap stones on the fixed points; answer the vertices."""
    return _place(controller, request, fixed=True)


@command("place_free_handicap", "STONES")
def place_free_handicap(controller: Controller, request: Request) -> str:
    """Place handicap stones where the engine likes them; answer the vertices."""
    return _place(controller, request, fixed=False)


@command("set_free_handicap", "VERTEX...")
def set_free_handicap(controller: Controller, request: Request) -> str:
    """Place Black's handicap stones on these points of an empty board."""
    player = controller.player
    width, height = player.size
    if not player.game.is_empty:
        raise GtpError("board not empty")
    player.place_handicap(arguments.vertices(request.args, width, height))
    return ""


@command("set_position", "[COLOR VERTEX]...")
def set_position(controller: Controller, request: Request) -> str:
    """Start from these stones, history empty, Black to move; without stones, from an empty board."""
    player = controller.player
    width, height = player.size
    words = request.args
    if len(words) % 2:
        raise GtpError(SYNTAX_ERROR)
    colors = [arguments.color(word) for word in words[::2]]
    stones = list(zip(colors, arguments.vertices(words[1::2], width, height) if words else [], strict=True))
    try:
        player.set_up(stones)
    except (IllegalMove, InvalidVertex):
        raise GtpError("illegal position") from None
    return ""


def _place(controller: Controller, request: Request, *, fixed: bool) -> str:
    arguments.exactly(request.args, 1)
    stones = arguments.integer(request.args[0])
    player = controller.player
    if not player.game.is_empty:
        raise GtpError("board not empty")
    if fixed and stones == 0:
        return ""  # qGo asks for it where there is no handicap
    try:
        actions = player.choose_handicap(stones, fixed=fixed)
    except ConfigError:
        raise
    except (EngineError, ValueError):
        raise GtpError("invalid number of stones") from None
    return " ".join(player.vertex(action) for action in actions)
