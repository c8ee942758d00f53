"""One game between two engines, with our own Position as the judge of legality.

An engine that crashes, hangs, breaks the protocol, refuses a legal move, plays an illegal one or oversteps its time
loses that game, with the reason; it is started anew for the next. A game that could not even begin is nobody's loss.
After two passes, or at 3 * width * height moves, the score decides: see `decide`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from engine import sgf
from engine.board import scoring
from engine.board.handicap import fixed_handicap
from engine.board.position import BLACK, WHITE, Position
from engine.board.rules import parse_rules
from engine.board.vertex import format_vertex, parse_vertex
from engine.errors import IllegalMove, InvalidVertex

from .engines import Slot
from .game import CannotBegin, Forfeit, GameResult, GameSettings, MatchStopped
from .gtp_client import EngineFailed, GtpError
from .timecontrol import FRACTIONS, Clock, parse_time
from .verdict import Verdict, decide, parse_score
from .words import ask_move

T = TypeVar("T")
LETTER = {BLACK: "B", WHITE: "W"}
# Result of a game that was not decided on the board.
FORFEITS = {"resign": "R", "timeout": "T"}
MAX_DETAIL = 300  # characters of what an engine said, that are kept


@dataclass
class Table:
    """A game in progress."""

    position: Position
    slots: Mapping[int, Slot]  # by color
    settings: GameSettings
    watch: Callable[[int], None]  # told the moves played, as they are
    comments: dict[int, str] = field(default_factory=dict)  # by moves played
    thought: dict[int, float] = field(default_factory=lambda: {BLACK: 0.0, WHITE: 0.0})

    def ended(self, result: str, winner: int | None, reason: str, **details: Any) -> GameResult:
        """Return how it ended; winner is a color, None a draw."""
        label = None if winner is None else self.slots[winner].label
        return GameResult(self.slots[BLACK].label, self.slots[WHITE].label, result, label, reason, **details)

    def vertex(self, action: int) -> str:
        """Return the GTP text of an action."""
        return format_vertex(action, self.settings.width, self.settings.height)


def set_up(slot: Slot, settings: GameSettings, *, referee: bool = False) -> None:
    """Start the engine if needed and make it ready for a game. Raises GtpError and EngineFailed.

    A referee is told nothing of time and visits.
    """
    slot.start()
    square = settings.width == settings.height
    slot.send(f"boardsize {settings.width}" if square else f"boardsize {settings.width} {settings.height}")
    slot.send("clear_board")
    if "kata-set-rules" in slot.commands:
        slot.send(f"kata-set-rules {settings.rules}")
    slot.send(f"komi {settings.komi:g}")
    if settings.handicap:
        slot.send(f"fixed_handicap {settings.handicap}")
    if referee:
        return
    if settings.time is not None and "time_settings" in slot.commands:
        control = parse_time(settings.time)
        slot.send(f"time_settings {control.gtp(fractions=FRACTIONS in slot.commands)}")
    if settings.visits is not None and "kata-set-param" in slot.commands:
        slot.send(f"kata-set-param maxVisits {settings.visits}")


def play_game(
    black: Slot,
    white: Slot,
    opening: list[int],
    settings: GameSettings,
    *,
    referee: Slot | None = None,
    stop: threading.Event,
    watch: Callable[[int], None] = lambda moves: None,
) -> tuple[GameResult, sgf.GameRecord]:
    """Play one game and return how it ended, with its record.

    Args:
        watch: told the number of moves after each; from this thread.

    Raises MatchStopped if `stop` was set meanwhile, CannotBegin if an engine was not there to play.
    """
    started = time.monotonic()
    rules = parse_rules(settings.rules)
    position = Position(settings.width, settings.height, rules=rules, komi=settings.komi)
    if settings.handicap:
        stones = fixed_handicap(settings.handicap, settings.width, settings.height)
        position.set_up([(BLACK, action) for action in stones], WHITE)
    table = Table(position, {BLACK: black, WHITE: white}, settings, watch)
    for slot in table.slots.values():
        _prepare(slot, settings, stop)
    used = {color: slot.cpu_seconds() for color, slot in table.slots.items()}
    cpu: dict[int, float | None] = {}
    try:
        result = _play_moves(table, opening, stop)
        cpu = {color: _difference(slot.cpu_seconds(), used[color]) for color, slot in table.slots.items()}
        if result is None:
            result = _score(table, referee)
    except Forfeit as forfeit:
        if stop.is_set():
            raise MatchStopped() from None
        cpu = cpu or {color: _difference(slot.cpu_seconds(), used[color]) for color, slot in table.slots.items()}
        forfeit.slot.drop()
        winner = WHITE if forfeit.slot is black else BLACK
        text = f"{LETTER[winner]}+{FORFEITS.get(forfeit.reason, 'F')}"
        result = table.ended(text, winner, forfeit.reason, detail=str(forfeit)[:MAX_DETAIL])
    if stop.is_set():
        raise MatchStopped()
    result = replace(
        result,
        moves=position.n_moves,
        seconds=round(time.monotonic() - started, 3),
        thought={slot.label: round(table.thought[color], 3) for color, slot in table.slots.items()},
        cpu={slot.label: cpu.get(color) for color, slot in table.slots.items()},
    )
    names = {"black": player_name(black), "white": player_name(white)}
    if names["black"] == names["white"]:
        names = {"black": f"{names['black']} ({black.label})", "white": f"{names['white']} ({white.label})"}
    return result, sgf.from_position(position, **names, result=result.result, comments=table.comments)


def player_name(slot: Slot) -> str:
    """Return the name of a player for the SGF: the one given for this match and what the engine calls itself."""
    given = len(slot.label) > 1 and not slot.name.startswith(slot.label)
    return f"{slot.label}: {slot.name}" if given and slot.name else slot.name or slot.label


def _prepare(slot: Slot, settings: GameSettings, stop: threading.Event) -> None:
    try:
        set_up(slot, settings)
    except (EngineFailed, GtpError) as error:
        slot.drop()
        if stop.is_set():
            raise MatchStopped() from None
        raise CannotBegin(slot, str(error)) from None


def _difference(now: float | None, before: float | None) -> float | None:
    return None if now is None or before is None else round(max(now - before, 0.0), 2)


def _guarded(slot: Slot, action: Callable[..., T], *arguments: object) -> T:
    """Call action(*arguments) and turn the engine's errors into a Forfeit of the slot."""
    try:
        return action(*arguments)
    except EngineFailed as error:
        raise Forfeit(slot, error.reason, str(error)) from None
    except GtpError as error:
        raise Forfeit(slot, "refused", f"the engine refused: {error}") from None


def _play_moves(table: Table, opening: list[int], stop: threading.Event) -> GameResult | None:
    """Play the opening and then the engines' moves; return the result of a resignation, None at the end of the game."""
    position, slots, settings = table.position, table.slots, table.settings
    for action in opening:
        color = position.to_play
        position.play(action, color)
        for slot in slots.values():
            _guarded(slot, slot.send, f"play {LETTER[color]} {table.vertex(action)}")
    control = None if settings.time is None else parse_time(settings.time)
    clocks = {} if control is None else {BLACK: Clock(control), WHITE: Clock(control)}
    while not position.ended and position.n_moves < settings.max_moves:
        table.watch(position.n_moves)
        if stop.is_set():
            raise MatchStopped()
        color = position.to_play
        mover, other = slots[color], slots[3 - color]
        text = _ask(table, color, clocks.get(color))
        if text.lower() == "resign":
            return table.ended(f"{LETTER[3 - color]}+R", 3 - color, "resign")
        try:
            action = parse_vertex(text, settings.width, settings.height)
            position.play(action, color)
        except (InvalidVertex, IllegalMove) as error:
            raise Forfeit(mover, "illegal move", str(error)) from None
        _guarded(other, other.send, f"play {LETTER[color]} {table.vertex(action)}")
    return None


def _ask(table: Table, color: int, clock: Clock | None) -> str:
    """Return the move that the engine of a color wants, and keep its comment and its time."""
    slot = table.slots[color]
    if clock is not None and "time_left" in slot.commands:
        left = clock.gtp(fractions=FRACTIONS in slot.commands)
        _guarded(slot, slot.send, f"time_left {LETTER[color]} {left}")
    started = time.monotonic()
    said = _guarded(slot, lambda: ask_move(slot, LETTER[color], comments=table.settings.comments))
    seconds = time.monotonic() - started
    table.thought[color] += seconds
    if table.settings.comments:
        words = f": {said.text}" if said.text else ""
        table.comments[table.position.n_moves + 1] = f"{slot.label}, {seconds:.2f} s{words}"
    if clock is not None:
        over = clock.spend(seconds)
        if over > table.settings.margin:
            raise Forfeit(slot, "timeout", f"overstepped its time by {over:.1f} s")
    return said.move


def _score(table: Table, referee: Slot | None) -> GameResult:
    """Return the result of a finished game by its score."""
    position, slots = table.position, table.slots
    answers = {slot.label: _final_score(slot) for slot in slots.values()}
    if referee is not None:
        answers[referee.label] = _ask_referee(referee, table)
    judged = {label: parse_score(text) for label, text in answers.items()}
    pass_alive = scoring.pass_alive(position)
    dead = (position.board() != 0) & (pass_alive == 3 - position.board())
    verdict: Verdict = decide(
        judged.get(slots[BLACK].label),
        judged.get(slots[WHITE].label),
        judged.get(referee.label) if referee is not None else None,
        scoring.score(position, dead=dead),
    )
    winner = None if verdict.score == 0 else BLACK if verdict.score > 0 else WHITE
    return table.ended(
        verdict.text,
        winner,
        "score" if position.ended else "move limit",
        score=verdict.score,
        scored_by=verdict.source,
        disputed=verdict.disputed,
        answers=answers,
    )


def _final_score(slot: Slot) -> str:
    """Ask for final_score; "" if there is no answer. A failure here loses no game, but the engine is started anew."""
    try:
        return slot.send("final_score").strip()[:MAX_DETAIL]
    except GtpError:
        return ""
    except EngineFailed:
        slot.drop()
        return ""


def _ask_referee(referee: Slot, table: Table) -> str:
    """Show the referee the whole game and ask for its score; "" if it gives none."""
    try:
        set_up(referee, table.settings, referee=True)
        for color, action in table.position.moves:
            referee.send(f"play {LETTER[color]} {table.vertex(action)}")
    except GtpError:
        return ""
    except EngineFailed:
        referee.drop()
        return ""
    return _final_score(referee)
