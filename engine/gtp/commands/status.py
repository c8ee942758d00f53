"""The board as it stands and as it would be scored."""

from __future__ import annotations

from engine.gtp import arguments
from engine.gtp.controller import Controller
from engine.gtp.protocol import SYNTAX_ERROR, GtpError, Request
from engine.gtp.registry import command

STATUSES = ("alive", "dead", "seki")
POINTS = ("black_territory", "white_territory", "dame")


@command("showboard")
def showboard(controller: Controller, request: Request) -> str:
    """Draw the board."""
    from engine.gtp.drawing import draw

    return "\n" + draw(controller.player.game)


@command("final_score", thinks=True)
def final_score(controller: Controller, request: Request) -> str:
    """Answer the result under the rules in force, dead stones removed: "B+3.5", "W+12", "0"."""
    return score_text(controller.player.final_score(token=controller.token))


@command("estimate_score", thinks=True)
def estimate_score(controller: Controller, request: Request) -> str:
    """Answer the expected result, and in brackets bounds that hold the final one with 80 %."""
    judgment = controller.player.judgment(token=controller.token)
    low, expected, high = (
        score_text(round(score, 1)) for score in (judgment.score_low, judgment.expected_score, judgment.score_high)
    )
    return f"{expected} (lower bound: {low}, upper: {high})"


@command("final_status", "VERTEX", thinks=True)
def final_status(controller: Controller, request: Request) -> str:
    """Answer what a point is: alive, dead or seki for a stone, else black_territory, white_territory or dame."""
    arguments.exactly(request.args, 1)
    player = controller.player
    action = arguments.vertex(request.args[0], *player.size)
    if action == player.size[0] * player.size[1]:
        raise GtpError(SYNTAX_ERROR)
    return player.final_marks(token=controller.token)[action]


@command("final_status_list", "alive | dead | seki | black_territory | white_territory | dame", thinks=True)
def final_status_list(controller: Controller, request: Request) -> str:
    """List the stones of that status, one chain a line, or the points of that kind on one line."""
    arguments.exactly(request.args, 1)
    status = request.args[0].lower()
    player = controller.player
    if status in POINTS:
        marks = player.final_marks(token=controller.token)
        return " ".join(player.vertex(action) for action, mark in enumerate(marks) if mark == status)
    if status not in STATUSES:
        raise GtpError(SYNTAX_ERROR)
    groups = player.final_status(token=controller.token)
    return "\n".join(" ".join(map(player.vertex, chain)) for name, chain in groups if name == status)


@command("keisei-judge", thinks=True)
def keisei_judge(controller: Controller, request: Request) -> str:
    """Answer the whole judgment as one line of JSON."""
    import json

    from engine.judge.text import as_dict

    judgment = controller.player.judgment(token=controller.token)
    return json.dumps(as_dict(controller.player.game.position, judgment), separators=(",", ":"))


def score_text(score: float) -> str:
    """Write a score (positive: Black wins) as GTP has it."""
    from engine.judge.text import result_text

    return result_text(score)
