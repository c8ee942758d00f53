"""One game between two engines, with our own Position as the judge of legality.

An engine that crashes, hangs, breaks the protocol, refuses a legal move or plays an illegal one loses that game, with
the reason; it is started anew for the next. After two passes, or at 3 * width * height moves, the score decides: see
`decide`.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from engine import sgf
from engine.board import scoring
from engine.board.position import BLACK, WHITE, Position
from engine.board.rules import parse_rules
from engine.board.vertex import format_vertex, parse_vertex
from engine.errors import IllegalMove, InvalidVertex

from .gtp_client import EngineFailed, EngineSlot, GtpError
from .verdict import Verdict, decide, parse_score

T = TypeVar("T")
LETTER = {BLACK: "B", WHITE: "W"}
# Result of a game that was not decided on the board.
FORFEITS = {"resign": "R", "timeout": "T"}


class MatchStopped(Exception):
    """The match is being stopped; the game in progress does not count."""


class Forfeit(Exception):
    """One engine has lost by other means than the score."""

    def __init__(self, slot: EngineSlot, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.slot = slot
        self.reason = reason


@dataclass(frozen=True)
class GameSettings:
    """What all games of a match share."""

    width: int
    height: int
    komi: float
    rules: str  # a name, or KataGo's JSON
    seconds: float | None = None  # for each move, told to the engines; not enforced beyond the slots' time limit
    visits: int | None = None  # told to engines that have kata-set-param maxVisits

    @property
    def max_moves(self) -> int:
        """Moves after which a game is stopped and scored."""
        return 3 * self.width * self.height


@dataclass(frozen=True)
class GameResult:
    """How a game ended. Engines are called by their labels, "A" and "B"."""

    black: str
    result: str  # as SGF has it: "B+3.5", "W+R", "0", …
    winner: str | None  # None: a draw
    reason: str  # score, move limit, resign, crash, timeout, protocol, illegal move or refused
    detail: str = ""
    score: float | None = None  # Black's margin
    scored_by: str = ""  # referee, engines or rules: see verdict.decide
    disputed: bool = False  # the engines did not agree on the score
    answers: Mapping[str, str] | None = None  # what each answered to final_score
    moves: int = 0
    seconds: float = 0.0


def set_up(slot: EngineSlot, settings: GameSettings) -> None:
    """Start the engine if needed and make it ready for a game. Raises GtpError and EngineFailed."""
    slot.start()
    square = settings.width == settings.height
    slot.send(f"boardsize {settings.width}" if square else f"boardsize {settings.width} {settings.height}")
    slot.send("clear_board")
    if "kata-set-rules" in slot.commands:
        slot.send(f"kata-set-rules {settings.rules}")
    slot.send(f"komi {settings.komi:g}")
    if settings.seconds is not None and "time_settings" in slot.commands:
        slot.send(f"time_settings 0 {max(math.ceil(settings.seconds), 1)} 1")
    if settings.visits is not None and "kata-set-param" in slot.commands:
        slot.send(f"kata-set-param maxVisits {settings.visits}")


def play_game(
    black: EngineSlot,
    white: EngineSlot,
    opening: list[int],
    settings: GameSettings,
    *,
    referee: EngineSlot | None = None,
    stop: threading.Event,
) -> tuple[GameResult, sgf.GameRecord]:
    """Play one game and return how it ended, with its record.

    Raises MatchStopped if `stop` was set meanwhile.
    """
    started = time.monotonic()
    rules = parse_rules(settings.rules)
    position = Position(settings.width, settings.height, rules=rules, komi=settings.komi)
    slots = {BLACK: black, WHITE: white}
    try:
        for slot in slots.values():
            _guarded(slot, set_up, slot, settings)
        result = _play_moves(position, slots, opening, settings, stop)
        if result is None:
            result = _score(position, slots, settings, referee)
    except Forfeit as forfeit:
        forfeit.slot.drop()
        winner = WHITE if forfeit.slot is black else BLACK
        result = GameResult(
            black=black.label,
            result=f"{LETTER[winner]}+{FORFEITS.get(forfeit.reason, 'F')}",
            winner=slots[winner].label,
            reason=forfeit.reason,
            detail=str(forfeit),
        )
    if stop.is_set():
        raise MatchStopped()
    fields = {**vars(result), "moves": position.n_moves, "seconds": round(time.monotonic() - started, 3)}
    record = sgf.from_position(position, black=black.name, white=white.name, result=result.result)
    return GameResult(**fields), record


def _guarded(slot: EngineSlot, action: Callable[..., T], *arguments: object) -> T:
    """Call action(*arguments) and turn the engine's errors into a Forfeit of the slot."""
    try:
        return action(*arguments)
    except EngineFailed as error:
        raise Forfeit(slot, error.reason, str(error)) from None
    except GtpError as error:
        raise Forfeit(slot, "refused", f"the engine refused: {error}") from None


def _play_moves(
    position: Position,
    slots: Mapping[int, EngineSlot],
    opening: list[int],
    settings: GameSettings,
    stop: threading.Event,
) -> GameResult | None:
    """Play the opening and then the engines' moves; return the result of a resignation, None at the end of the game."""
    for action in opening:
        color = position.to_play
        position.play(action, color)
        for slot in slots.values():
            _guarded(slot, slot.send, f"play {LETTER[color]} {_vertex(action, settings)}")
    while not position.ended and position.n_moves < settings.max_moves:
        if stop.is_set():
            raise MatchStopped()
        color = position.to_play
        mover, other = slots[color], slots[3 - color]
        text = _guarded(mover, mover.send, f"genmove {LETTER[color]}").strip()
        if text.lower() == "resign":
            return GameResult(
                black=slots[BLACK].label,
                result=f"{LETTER[3 - color]}+R",
                winner=other.label,
                reason="resign",
            )
        try:
            action = parse_vertex(text, settings.width, settings.height)
            position.play(action, color)
        except (InvalidVertex, IllegalMove) as error:
            raise Forfeit(mover, "illegal move", str(error)[:200]) from None
        _guarded(other, other.send, f"play {LETTER[color]} {_vertex(action, settings)}")
    return None


def _vertex(action: int, settings: GameSettings) -> str:
    return format_vertex(action, settings.width, settings.height)


def _score(
    position: Position, slots: Mapping[int, EngineSlot], settings: GameSettings, referee: EngineSlot | None
) -> GameResult:
    """Return the result of a finished game by its score."""
    answers = {slot.label: _final_score(slot) for slot in slots.values()}
    if referee is not None:
        answers[referee.label] = _ask_referee(referee, position, settings)
    judged = {label: parse_score(text) for label, text in answers.items()}
    pass_alive = scoring.pass_alive(position)
    dead = (position.board() != 0) & (pass_alive == 3 - position.board())
    verdict: Verdict = decide(
        judged.get(slots[BLACK].label),
        judged.get(slots[WHITE].label),
        judged.get(referee.label) if referee is not None else None,
        scoring.score(position, dead=dead),
    )
    winner = None if verdict.score == 0 else slots[BLACK if verdict.score > 0 else WHITE].label
    return GameResult(
        black=slots[BLACK].label,
        result=verdict.text,
        winner=winner,
        reason="score" if position.ended else "move limit",
        score=verdict.score,
        scored_by=verdict.source,
        disputed=verdict.disputed,
        answers=answers,
    )


def _final_score(slot: EngineSlot) -> str:
    """Ask for final_score; "" if there is no answer. A failure here loses no game, but the engine is started anew."""
    try:
        return slot.send("final_score").strip()
    except GtpError:
        return ""
    except EngineFailed:
        slot.drop()
        return ""


def _ask_referee(referee: EngineSlot, position: Position, settings: GameSettings) -> str:
    """Show the referee the whole game and ask for its score; "" if it gives none."""
    try:
        set_up(referee, replace(settings, seconds=None, visits=None))
        for color, action in position.moves:
            referee.send(f"play {LETTER[color]} {_vertex(action, settings)}")
    except GtpError:
        return ""
    except EngineFailed:
        referee.drop()
        return ""
    return _final_score(referee)
