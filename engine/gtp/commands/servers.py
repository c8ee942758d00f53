"""What go servers' programs send beside plain GTP: KGS (kgsGtp) and CGOS."""

from __future__ import annotations

from engine.gtp import arguments
from engine.gtp.commands.analyze import genmove_wish
from engine.gtp.controller import Controller
from engine.gtp.protocol import SYNTAX_ERROR, GtpError, Request
from engine.gtp.registry import command
from engine.gtp.session import Stream

KGS_RULES = {"chinese": "chinese-kgs", "aga": "aga", "japanese": "japanese", "new_zealand": "new-zealand"}


@command("kgs-rules", "chinese | aga | japanese | new_zealand")
def kgs_rules(controller: Controller, request: Request) -> str:
    """Set the rules by KGS's word for them; komi stays."""
    from engine.board.rules import parse_rules

    arguments.exactly(request.args, 1)
    name = KGS_RULES.get(request.args[0].lower().replace("-", "_"))
    if name is None:
        raise GtpError("unknown rules")
    controller.player.set_rules(parse_rules(name))
    return ""


@command("kgs-genmove_cleanup", "[COLOR]", thinks=True)
def kgs_genmove_cleanup(controller: Controller, request: Request) -> str:
    """Choose and play a move that captures dead stones of the opponent's; pass when there are none. Never resigns."""
    if len(request.args) > 1:
        raise GtpError(SYNTAX_ERROR)
    player = controller.player
    color = arguments.color(request.args[0]) if request.args else player.to_play
    with genmove_wish(controller) as wish:
        return player.move_text(player.cleanup(color, wish))


@command("kgs-game_over")
def kgs_game_over(controller: Controller, request: Request) -> str:
    """Take note that the game has ended: nothing more is thought about it."""
    controller.player.end_game()
    return ""


@command("cgos-gameover", "[RESULT]")
def cgos_gameover(controller: Controller, request: Request) -> str:
    """Take note that the game has ended: nothing more is thought about it."""
    controller.player.end_game()
    return ""


@command("cgos-genmove_analyze", "[COLOR]", streaming=True, thinks=True)
def cgos_genmove_analyze(controller: Controller, request: Request, stream: Stream) -> None:
    """Choose and play a move; answer a line of JSON for CGOS's viewer, then "play VERTEX"."""
    from engine.gtp.cgos_text import cgos_line

    if len(request.args) > 1:
        raise GtpError(SYNTAX_ERROR)
    player = controller.player
    color = arguments.color(request.args[0]) if request.args else player.to_play
    player.ready(controller.token)
    stream.open()
    with genmove_wish(controller, ownership=True) as wish:
        decision = player.genmove(color, wish)
    stream.line(cgos_line(decision.result, pv_length=controller.settings.analysis_pv_length))
    stream.line(f"play {player.move_text(decision)}")
