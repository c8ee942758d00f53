"""What gomill's ringmaster asks about an engine and its moves, for its game records and reports."""

from __future__ import annotations

from engine.gtp.controller import Controller
from engine.gtp.protocol import Request
from engine.gtp.registry import command


@command("gomill-describe_engine")
def describe_engine(controller: Controller, request: Request) -> str:
    """Answer some lines for game records: name and version, level, limits and rules."""
    sections = controller.sections()
    settings, level = sections["player"], sections["level"]
    words = [f"{settings.visits} visits" if settings.visits is not None else ""]
    words += [f"{settings.time:g} s" if settings.time is not None else ""]
    limits = " and ".join(word for word in words if word) or f"the clock, else {settings.default_visits} visits"
    name = f"{controller.settings.shown_name} {controller.settings.shown_version}"
    if level.active:
        name += f", level {level.rank}" if level.loss is None else f", giving away {level.loss:g} points a move"
        limits = f"{level.visits} visits"
    return "\n".join(
        [
            name,
            f"limit of a move: {limits}",
            f"rules: {controller.player.game.rules.to_json()}",
        ]
    )


@command("gomill-explain_last_move")
def explain_last_move(controller: Controller, request: Request) -> str:
    """Say in one line what the search behind the last genmove found; nothing without one in this game."""
    from engine.gtp import gfx

    player = controller.player
    if player.last is None:
        return ""
    decision, result = player.last, player.last.result
    text = f"{player.move_text(decision)}: {gfx.in_words(result)}"
    return f"{text}, expects {gfx.variation(result, result.moves[0])}" if result.moves else text
