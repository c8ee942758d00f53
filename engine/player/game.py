"""The game being played: position, komi, rules, handicap, undo. No search here.

Komi and rules outlive every new board. Every change either happens whole or raises and leaves the game as it was.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from engine.board.handicap import fixed_handicap, free_handicap
from engine.board.position import BLACK, WHITE, Position
from engine.board.rules import Rules, parse_rules
from engine.board.vertex import format_vertex
from engine.errors import EngineError, IllegalMove

log = logging.getLogger(__name__)


class Game:
    """One board and what happened on it.

    Args:
        rules: rules until others are set, a name or KataGo's JSON.
        strict_play: refuse moves that only superko forbids.
    """

    def __init__(self, rules: str, *, strict_play: bool = False) -> None:
        self._komi: float | None = None  # None until the controller names one
        self.strict_play = strict_play
        self.position = Position(19, rules=parse_rules(rules))
        self._first_hash = self.position.hash
        self._hashes: list[int] = []  # of the position after each move

    @property
    def rules(self) -> Rules:
        """The rules in force."""
        return self.position.rules

    @property
    def komi(self) -> float:
        """Points that White gets."""
        return self.position.komi

    @property
    def is_empty(self) -> bool:
        """True if no stone is on the board."""
        return not self.position.board().any()

    def new_board(self, width: int, height: int) -> None:
        """Start on an empty board of that size. Raises UnsupportedBoardSize."""
        self.position = Position(width, height, rules=self.rules, komi=self._komi)
        self._begin()

    def clear(self) -> None:
        """Empty the board."""
        self.position.clear()
        self._begin()

    def set_komi(self, komi: float) -> None:
        """Set komi for this game and all that follow."""
        self.position.set_komi(komi)
        self._komi = komi

    def set_rules(self, rules: Rules) -> None:
        """Set the rules for this game and all that follow."""
        self.position.set_rules(rules)

    def play(self, color: int, action: int) -> None:
        """Play a move of either color. Raises IllegalMove."""
        position = self.position
        if position.breaks_superko(action, color):
            vertex = format_vertex(action, position.width, position.height)
            if self.strict_play:
                raise IllegalMove(vertex, "superko")
            log.warning("%s repeats an earlier position; played, since servers differ on that", vertex)
        position.play(action, color, allow_superko=True)
        self._hashes.append(position.hash)

    def undo(self, moves: int = 1) -> None:
        """Take moves back, all of them or none. Raises EngineError("cannot undo")."""
        if moves > self.position.n_moves:
            raise EngineError("cannot undo")
        for _ in range(moves):
            self.position.undo()
            self._hashes.pop()

    def set_up(self, stones: Iterable[tuple[int, int]], to_play: int = BLACK) -> None:
        """Start from these (color, action) stones. Raises IllegalMove."""
        self.position.set_up(stones, to_play)
        self._begin()

    def take_over(self, position: Position, *, komi: float | None = None) -> None:
        """Go on from a position with its history, under its rules.

        Args:
            komi: set for all games that follow, as set_komi does.
        """
        self.position = position
        if komi is not None:
            self._komi = komi
        replay = Position(position.width, position.height, rules=position.rules, komi=position.komi)
        replay.set_up(position.setup_stones)
        self._first_hash = replay.hash
        self._hashes = []
        for color, action in position.moves:
            replay.play(action, color, tolerant=True)
            self._hashes.append(replay.hash)

    def place_handicap(self, actions: Sequence[int]) -> None:
        """Put Black's handicap stones on the board, White to move. Raises EngineError."""
        self._need_empty()
        if not actions or len(set(actions)) != len(actions) or self.position.area in actions:
            raise EngineError("invalid vertex list")
        if len(actions) >= self.position.area:
            raise EngineError("invalid vertex list")
        self.set_up([(BLACK, action) for action in actions], WHITE)

    def place_fixed_handicap(self, stones: int) -> list[int]:
        """Put the handicap stones where the GTP specification has them. Return the actions. Raises EngineError."""
        return self._place(fixed_handicap(stones, self.position.width, self.position.height))

    def place_free_handicap(self, stones: int) -> list[int]:
        """Put so many handicap stones where they are good. Return the actions. Raises EngineError."""
        return self._place(free_handicap(stones, self.position.width, self.position.height))

    def repeats(self, color: int, action: int) -> bool:
        """Tell whether a legal move would bring back an earlier whole-board position, whatever the ko rule."""
        if action == self.position.area:
            return False
        after = self.position.copy()
        after.play(action, color, allow_superko=True)
        return after.hash == self._first_hash or after.hash in self._hashes

    def is_suicide(self, color: int, action: int) -> bool:
        """Tell whether a legal move takes its own stones off the board."""
        if action == self.position.area:
            return False
        after = self.position.copy()
        after.play(action, color, allow_superko=True)
        return after.color_at(action) != color

    def _place(self, actions: list[int]) -> list[int]:
        self._need_empty()
        self.place_handicap(actions)
        return actions

    def _need_empty(self) -> None:
        if not self.is_empty:
            raise EngineError("board not empty")

    def _begin(self) -> None:
        self._first_hash = self.position.hash
        self._hashes = []
