"""The board as it stands and as it would be scored."""

from __future__ import annotations

from engine.gtp import arguments
from engine.gtp.controller import Controller
from engine.gtp.protocol import SYNTAX_ERROR, GtpError, Request
from engine.gtp.registry import command

STATUSES = ("alive", "dead", "seki")


@command("showboard")
def showboard(controller: Controller, request: Request) -> str:
    """Draw the board."""
    from engine.gtp.drawing import draw

    return "\n" + draw(controller.player.game)


@command("final_score", thinks=True)
def final_score(controller: Controller, request: Request) -> str:
    """Answer the result under the rules in force, dead stones removed: "B+3.5", "W+12", "0"."""
    return score_text(controller.player.final_score(token=controller.token))


@command("final_status_list", "alive | dead | seki", thinks=True)
def final_status_list(controller: Controller, request: Request) -> str:
    """List the stones of that status, one chain a line."""
    arguments.exactly(request.args, 1)
    status = request.args[0].lower()
    if status not in STATUSES:
        raise GtpError(SYNTAX_ERROR)
    player = controller.player
    groups = player.final_status(token=controller.token)
    return "\n".join(" ".join(map(player.vertex, chain)) for name, chain in groups if name == status)


def score_text(score: float) -> str:
    """Write a score (positive: Black wins) as GTP has it."""
    if score == 0:
        return "0"
    return f"{'B' if score > 0 else 'W'}+{abs(score):g}"
