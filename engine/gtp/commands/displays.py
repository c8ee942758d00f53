"""What GoGui's "Analyze" window shows: the list of displays, and the commands behind it that no one else needs.

Those that look at the search take a short one (`gtp.display_visits`) or what is there of a longer one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine import config
from engine.gtp import arguments
from engine.gtp.controller import Controller
from engine.gtp.protocol import SYNTAX_ERROR, GtpError, Request
from engine.gtp.registry import command

if TYPE_CHECKING:
    from engine.search.result import SearchResult

ANALYZE_COMMANDS = (
    "gfx/Best Moves/keisei-best_moves %c",
    "varc/Principal Variation/keisei-variation %c",
    "dboard/Ownership/keisei-ownership %c",
    "sboard/Policy/keisei-policy %c",
    "dboard/Influence/keisei-influence",
    "gfx/Judgment/keisei-judgment",
    "plist/Dead Stones/final_status_list dead",
    "plist/Stones in Seki/final_status_list seki",
    "pstring/Status of a Point/final_status %p",
    "string/Final Score/final_score",
    "string/Estimated Score/estimate_score",
    "hpstring/Expected Moves/keisei-next_moves",
    "hpstring/Last Move Explained/gomill-explain_last_move",
    "hstring/Board/showboard",
    "none/Forget Searches/clear_cache",
    "param/Settings/keisei-settings",
)

SETTINGS = {
    "live_graphics": ("gtp", "live_gfx"),
    "visits_a_move": ("player", "visits"),
    "seconds_a_move": ("player", "time"),
    "ponder": ("player", "ponder"),
    "resign": ("player", "resign"),
    "visits_for_displays": ("gtp", "display_visits"),
    "wide_search": ("search", "wide_root_noise"),
}


@command("gogui-analyze_commands")
def analyze_commands(controller: Controller, request: Request) -> str:
    """List what GoGui can show, a display a line: type, label, command."""
    return "\n".join(ANALYZE_COMMANDS)


@command("keisei-best_moves", "[COLOR]", thinks=True)
def best_moves(controller: Controller, request: Request) -> str:
    """Draw the moves that a search looks at, each with its winning chances in percent."""
    from engine.gtp.gfx import drawing

    return "\n".join(drawing(_study(controller, request)))


@command("keisei-variation", "[COLOR]", thinks=True)
def variation(controller: Controller, request: Request) -> str:
    """Answer the moves that a search expects from here on."""
    from engine.gtp import gfx

    result = _study(controller, request)
    return gfx.variation(result, result.moves[0]) if result.moves else ""


@command("keisei-ownership", "[COLOR]", thinks=True)
def ownership(controller: Controller, request: Request) -> str:
    """Answer who will own each point by a search, rows from the top, from 1 (Black) to -1 (White)."""
    from engine.gtp.displays import numbers

    result = _study(controller, request)
    if result.ownership is None:
        raise GtpError("this net does not judge points")
    return numbers(result.ownership if result.color == 1 else -result.ownership)


@command("keisei-policy", "[COLOR]", thinks=True)
def policy(controller: Controller, request: Request) -> str:
    """Answer how likely the net finds each move, in percent, rows from the top."""
    from engine.gtp.displays import percentages

    result = _study(controller, request)
    return percentages(result.raw.policy, result.width, result.height)


@command("keisei-influence")
def influence(controller: Controller, request: Request) -> str:
    """Answer the influence of the stones, without a net, rows from the top, from 1 (Black) to -1 (White)."""
    from engine.gtp.displays import numbers
    from engine.judge.influence_judge import InfluenceJudge

    owner = InfluenceJudge().judge(controller.player.game.position).ownership
    if owner is None:
        raise GtpError("there is no influence to show")
    return numbers(owner)


@command("keisei-judgment", thinks=True)
def judgment(controller: Controller, request: Request) -> str:
    """Draw the judgment: territory, dead stones (crosses), stones in seki (squares), the score."""
    from engine.gtp.displays import judgment_drawing

    return judgment_drawing(controller.player.judgment(token=controller.token))


@command("keisei-settings", "[NAME VALUE]")
def settings(controller: Controller, request: Request) -> str:
    """List the settings that GoGui's dialog shows, or change one."""
    if not request.args:
        return "\n".join(_setting_line(controller, name) for name in SETTINGS)
    if len(request.args) != 2 or request.args[0] not in SETTINGS:
        raise GtpError(SYNTAX_ERROR)
    controller.change(*SETTINGS[request.args[0]], request.args[1])
    return ""


def _setting_line(controller: Controller, name: str) -> str:
    section, key = SETTINGS[name]
    value = getattr(controller.sections()[section], key)
    if isinstance(value, bool):
        return f"[bool] {name} {int(value)}"
    return f"[string] {name} {config.to_text(value)}"


def _study(controller: Controller, request: Request) -> SearchResult:
    from engine.player.thinking import Wish
    from engine.search.root import RootOptions

    if len(request.args) > 1:
        raise GtpError(SYNTAX_ERROR)
    player = controller.player
    color = arguments.color(request.args[0]) if request.args else player.to_play
    wish = Wish(controller.token, root=RootOptions(ownership=True))
    return player.study(color, wish, controller.settings.display_visits)
