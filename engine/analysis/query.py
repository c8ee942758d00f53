"""What is asked, as plain data: a query, and the game that it is about. Nothing here reads JSON or searches."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.board.position import BLACK, Position
from engine.board.rules import Rules
from engine.search.params import SearchParams
from engine.search.root import Limits, RootOptions

Move = tuple[int, int]  # color, action


@dataclass(slots=True)
class Game:
    """A game up to the last position that is asked about.

    Args:
        stones: on the board before the first move.
        first: the side to play where there is no move yet.
    """

    width: int
    height: int
    rules: Rules
    komi: float
    stones: list[Move]
    moves: list[Move]
    first: int = BLACK
    _at: Position | None = None  # a position of this game, kept to go on from

    def start(self) -> Position:
        """Return a new position before the first move. Raises IllegalMove, UnsupportedBoardSize."""
        position = Position(self.width, self.height, rules=self.rules, komi=self.komi)
        if self.stones or self.first != BLACK:
            position.set_up(self.stones, self.first)
        return position

    def color_at(self, turn: int) -> int:
        """Return the side to move after `turn` moves: the one that did move, else the last one's opponent."""
        if turn < len(self.moves):
            return self.moves[turn][0]
        return 3 - self.moves[turn - 1][0] if turn else self.first

    def position(self, turn: int) -> Position:
        """Return the position after `turn` moves; it is this game's, and changes with the next call.

        Earlier turns before later ones is the cheap order. Raises IllegalMove.
        """
        position = self._at
        if position is None or position.n_moves > turn:
            position = self._at = self.start()
        for color, action in self.moves[position.n_moves : turn]:
            position.play(action, color, tolerant=True)
        return position

    def forget(self) -> None:
        """Free what was kept to go on from."""
        self._at = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an answer shall hold, and how it is written."""

    view: str = "black"  # whose figures are positive: black, white or sidetomove
    pv_length: int = 16  # moves, the first included
    ownership: bool = False
    ownership_stdev: bool = False
    moves_ownership: bool = False
    policy: bool = False
    pv_visits: bool = False
    judgment: bool = False


@dataclass(slots=True)
class Query:
    """One query: positions of a game, how long to search them, what to tell."""

    id: str
    game: Game
    turns: list[int]
    priorities: list[int]  # one a turn
    limits: Limits
    params: SearchParams
    root: RootOptions
    wanted: Wanted
    every: float | None = None  # seconds between reports
    first_after: float | None = None  # seconds to the first report
    warnings: list[tuple[str, str]] = field(default_factory=list)  # field, text
