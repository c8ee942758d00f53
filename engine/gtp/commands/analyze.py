"""Analysis: lz-analyze, kata-analyze, the genmove_analyze variants, and the net's own word (kata-raw-nn)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.gtp import analysis_options, arguments
from engine.gtp.controller import Controller
from engine.gtp.protocol import SYNTAX_ERROR, GtpError, Request
from engine.gtp.registry import command

if TYPE_CHECKING:
    from engine.gtp.analysis_options import AnalysisOptions
    from engine.gtp.analysis_text import LineWriter
    from engine.gtp.session import Stream
    from engine.player.thinking import Wish
    from engine.search.result import SearchResult
    from engine.search.root import MoveLimit, RootOptions

USAGE = "[COLOR] [INTERVAL] [KEY VALUE]..."
NEVER = 1e9  # seconds; an interval that does not come
LIVE_INTERVAL = 0.5  # seconds between live drawings


@command("lz-analyze", USAGE, streaming=True)
def lz_analyze(controller: Controller, request: Request, stream: Stream) -> None:
    """Analyse until the next line arrives, in Leela Zero's format."""
    _analyze(controller, request, stream, "lz")


@command("kata-analyze", USAGE, streaming=True)
def kata_analyze(controller: Controller, request: Request, stream: Stream) -> None:
    """Analyse until the next line arrives, in KataGo's format."""
    _analyze(controller, request, stream, "kata")


@command("lz-genmove_analyze", USAGE, streaming=True, thinks=True)
def lz_genmove_analyze(controller: Controller, request: Request, stream: Stream) -> None:
    """Choose and play a move, reporting on the way in Leela Zero's format; ends with "play VERTEX"."""
    _genmove_analyze(controller, request, stream, "lz", play=True)


@command("kata-genmove_analyze", USAGE, streaming=True, thinks=True)
def kata_genmove_analyze(controller: Controller, request: Request, stream: Stream) -> None:
    """Choose and play a move, reporting on the way in KataGo's format; ends with "play VERTEX"."""
    _genmove_analyze(controller, request, stream, "kata", play=True)


@command("kata-search_analyze", USAGE, streaming=True, thinks=True)
def kata_search_analyze(controller: Controller, request: Request, stream: Stream) -> None:
    """Do what kata-genmove_analyze does, but do not play the move on the board."""
    _genmove_analyze(controller, request, stream, "kata", play=False)


@command("kata-search_analyze_cancellable", USAGE, streaming=True, thinks=True, cancellable=True)
def kata_search_analyze_cancellable(controller: Controller, request: Request, stream: Stream) -> None:
    """Do what kata-search_analyze does, but let any line end it; then it ends with "play cancelled"."""
    _genmove_analyze(controller, request, stream, "kata", play=False, cancellable=True)


@command("kata-raw-nn", "[COLOR] SYMMETRY | all", thinks=True)
def kata_raw_nn(controller: Controller, request: Request) -> str:
    """Answer what the net says of the position without search, White positive, under one symmetry or all eight."""
    words = list(request.args)
    color = arguments.color(words.pop(0)) if len(words) == 2 else None
    arguments.exactly(words, 1)
    (word,) = words
    symmetries = range(8) if word == "all" else [arguments.integer(word)]
    if not all(0 <= symmetry < 8 for symmetry in symmetries):
        raise GtpError(SYNTAX_ERROR)
    from engine.gtp.raw_text import raw_text

    player = controller.player
    return "\n".join(raw_text(player.raw_output(symmetry, color, token=controller.token)) for symmetry in symmetries)


@command("heatmap", "[SYMMETRY]", thinks=True)
def heatmap(controller: Controller, request: Request) -> str:
    """Answer how likely the net finds each move, in thousandths, as Leela Zero prints it; and who it thinks wins."""
    if len(request.args) > 1:
        raise GtpError(SYNTAX_ERROR)
    symmetry = arguments.integer(request.args[0]) if request.args else 0
    if not 0 <= symmetry < 8:
        raise GtpError(SYNTAX_ERROR)
    from engine.gtp.raw_text import heatmap_text

    player = controller.player
    return "\n" + heatmap_text(player.raw_output(symmetry, token=controller.token), player.to_play)


@command("keisei-next_moves", "[MOVES]", thinks=True)
def next_moves(controller: Controller, request: Request) -> str:
    """List what the net alone expects of the next moves, one move a line: vertices with their probabilities."""
    if len(request.args) > 1:
        raise GtpError(SYNTAX_ERROR)
    count = arguments.integer(request.args[0]) if request.args else 5
    if count < 1:
        raise GtpError(SYNTAX_ERROR)
    player = controller.player
    steps = player.next_moves(token=controller.token)
    return "\n".join(
        f"move {number} " + " ".join(f"{player.vertex(action)} {share:.4f}" for action, share in moves[:count])
        for number, moves in enumerate(steps, start=1)
    )


@command("clear_cache")
def clear_cache(controller: Controller, request: Request) -> str:
    """Forget the search tree and all cached evaluations."""
    controller.player.clear_cache()
    return ""


def _analyze(controller: Controller, request: Request, stream: Stream, dialect: str) -> None:
    player = controller.player
    options = analysis_options.parse(request.args, *player.size)
    color = options.color or player.to_play
    _check_restrictions(controller, options, color)
    interval = controller.settings.analysis_interval if options.interval is None else options.interval
    writer = _writer(controller, options, dialect)
    wish = _wish(controller, stream, writer, options, interval)
    stream.open()
    player.analyze(color, wish)


@contextmanager
def genmove_wish(controller: Controller, *, ownership: bool = False) -> Iterator[Wish]:
    """Give what a genmove without reports wants: drawings for GoGui on the way, where those are switched on."""
    from engine.player.thinking import Wish
    from engine.search.root import RootOptions

    root = RootOptions(ownership=ownership)
    if controller.live is None or not controller.settings.live_gfx:
        yield Wish(controller.token, root=root)
        return
    from engine.gtp import gfx

    draw = controller.live
    yield Wish(controller.token, lambda result: draw(gfx.live(result)), LIVE_INTERVAL, root)
    draw(gfx.LIVE_END)


def _genmove_analyze(
    controller: Controller,
    request: Request,
    stream: Stream,
    dialect: str,
    *,
    play: bool,
    cancellable: bool = False,
) -> None:
    player = controller.player
    options = analysis_options.parse(request.args, *player.size)
    color = options.color or player.to_play
    _check_restrictions(controller, options, color)
    writer = _writer(controller, options, dialect)
    wish = _wish(controller, stream, writer, options, min(options.interval or NEVER, NEVER))
    player.ready(controller.token)
    stream.open()
    decision = player.genmove(color, wish, play=play)
    stream.line(writer.line(decision.result, least=1))
    cancelled = cancellable and controller.token.stopped
    stream.line(f"play {'cancelled' if cancelled else player.move_text(decision)}")


def _wish(
    controller: Controller, stream: Stream, writer: LineWriter, options: AnalysisOptions, interval: float
) -> Wish:
    from engine.player.thinking import Wish

    def report(result: SearchResult) -> None:
        if line := writer.line(result):
            stream.line(line)

    return Wish(controller.token, report, interval, _root_options(options))


def _writer(controller: Controller, options: AnalysisOptions, dialect: str) -> LineWriter:
    from engine.gtp.analysis_text import LineWriter

    return LineWriter(dialect, options, controller.settings.analysis_pv_length)


def _check_restrictions(controller: Controller, options: AnalysisOptions, color: int) -> None:
    """Refuse to search where avoid and allow leave no legal move."""
    legal = controller.player.game.position.legal_mask(color)
    left = options.allow.get(color, range(len(legal)))
    if not any(legal[action] for action in left if action not in options.avoid.get(color, ())):
        raise GtpError("no legal move is left to look at")


def _root_options(options: AnalysisOptions) -> RootOptions:
    from engine.search.root import MoveLimit, RootOptions

    def limits(table: dict[int, dict[int, int]]) -> tuple[MoveLimit, ...]:
        depths = {(color, depth) for color, moves in table.items() for depth in moves.values()}
        return tuple(
            MoveLimit(color, tuple(action for action, until in table[color].items() if until == depth), depth)
            for color, depth in sorted(depths)
        )

    avoid, allow = limits(options.avoid), limits(options.allow)
    if len(avoid) + len(allow) > 12:
        raise GtpError(SYNTAX_ERROR)
    moves = options.wants("movesOwnership")
    return RootOptions(
        avoid=avoid,
        allow=allow,
        ownership=moves or options.wants("ownership") or options.wants("ownershipStdev"),
        moves_ownership=moves,
    )
