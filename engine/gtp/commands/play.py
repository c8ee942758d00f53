"""Moves: play, undo, genmove."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import InvalidVertex
from engine.gtp import arguments
from engine.gtp.commands.analyze import genmove_wish
from engine.gtp.controller import Controller
from engine.gtp.protocol import SYNTAX_ERROR, GtpError, Request
from engine.gtp.registry import command

if TYPE_CHECKING:
    from engine.player.thinking import Wish


@command("play", "COLOR VERTEX")
def play(controller: Controller, request: Request) -> str:
    """Play a move of either side."""
    arguments.exactly(request.args, 2)
    color = arguments.color(request.args[0])
    if request.args[1].lower() == "resign":
        return ""  # review tools send it; it is no move
    player = controller.player
    try:
        action = arguments.vertex(request.args[1], *player.size)
    except InvalidVertex:
        raise GtpError("illegal move") from None
    player.play(color, action)
    return ""


@command("undo")
def undo(controller: Controller, request: Request) -> str:
    """Take the last move back. Arguments are ignored (qGo sends one)."""
    controller.player.undo()
    return ""


@command("gg-undo", "[MOVES]")
def gg_undo(controller: Controller, request: Request) -> str:
    """Take so many moves back, all or none."""
    moves = arguments.integer(request.args[0]) if request.args else 1
    if moves < 0:
        raise GtpError(SYNTAX_ERROR)
    controller.player.undo(moves)
    return ""


@command("genmove", "[COLOR]", thinks=True)
def genmove(controller: Controller, request: Request) -> str:
    """Choose a move, play it and answer it; or pass, or resign."""
    player = controller.player
    with genmove_wish(controller) as wish:
        return player.move_text(player.genmove(_color(controller, request), wish))


@command("reg_genmove", "[COLOR]", thinks=True)
def reg_genmove(controller: Controller, request: Request) -> str:
    """Choose a move as genmove does, but do not play it and do not resign."""
    player = controller.player
    return player.move_text(player.genmove(_color(controller, request), _wish(controller), play=False))


@command("kata-search", "[COLOR]", thinks=True)
def kata_search(controller: Controller, request: Request) -> str:
    """Choose a move as genmove does, but do not play it."""
    return reg_genmove(controller, request) or ""


@command("kata-search_cancellable", "[COLOR]", thinks=True, cancellable=True)
def kata_search_cancellable(controller: Controller, request: Request) -> str:
    """Do what kata-search does, but let any line end it; then the answer is "cancelled"."""
    move = reg_genmove(controller, request) or ""
    return "cancelled" if controller.token.stopped else move


def _color(controller: Controller, request: Request) -> int:
    if len(request.args) > 1:
        raise GtpError(SYNTAX_ERROR)
    return arguments.color(request.args[0]) if request.args else controller.player.to_play


def _wish(controller: Controller) -> Wish:
    from engine.player.thinking import Wish

    return Wish(controller.token)
