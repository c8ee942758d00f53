"""What a game of a match is: its settings, its result, and the ways it can fail to have one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .engines import Slot


class MatchStopped(Exception):
    """The match is being stopped; the game in progress does not count."""


class CannotBegin(Exception):
    """An engine could not be started or set up; no game was begun."""

    def __init__(self, slot: Slot, detail: str) -> None:
        super().__init__(f"{slot.label}: {detail}")
        self.slot = slot


class Forfeit(Exception):
    """One engine has lost by other means than the score."""

    def __init__(self, slot: Slot, reason: str, detail: str) -> None:
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
    time: str | None = None  # a time control, see timecontrol.py; None: only the slots' time limit for a reply
    margin: float = 2.0  # seconds by which it may be overstepped, a move
    visits: int | None = None  # told to engines that have kata-set-param maxVisits
    comments: bool = True  # what the engines say of their moves goes into the SGF
    handicap: int = 0  # stones that Black begins with, on the points of GTP's fixed_handicap

    @property
    def max_moves(self) -> int:
        """Moves after which a game is stopped and scored."""
        return 3 * self.width * self.height


@dataclass(frozen=True)
class GameResult:
    """How a game ended. Engines are called by their labels."""

    black: str
    white: str
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
    thought: Mapping[str, float] | None = None  # seconds that each took for its moves
    cpu: Mapping[str, float | None] | None = None  # processor seconds of each; None: not known
