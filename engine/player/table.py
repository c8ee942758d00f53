"""What a controller tells a player: the board, the moves, komi, rules, records and the clocks.

What is made of it is in player.py. A method that raises leaves the game as it was.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.board.rules import Rules
from engine.board.vertex import format_vertex
from engine.errors import UnsupportedBoardSize
from engine.player.choosing import RESIGN, Decision
from engine.player.clock import Clock
from engine.player.decide import Resignation
from engine.player.game import Game
from engine.player.pace import Turn
from engine.player.settings import PlayerSettings
from engine.player.stop import StopToken
from engine.player.thinking import Thinker
from engine.search.root import Limits
from engine.search.timing import Budget, TimeControl, gtp_control
from engine.sgf import from_position, read, write


class Table:
    """A game with its clocks, as it was told.

    Args:
        settings: section `player`.
        thinker: is told of new boards, and what nets can play.
    """

    def __init__(self, settings: PlayerSettings, thinker: Thinker) -> None:
        self.settings = settings
        self.game = Game(settings.rules, strict_play=settings.strict_play)
        self.clock = Clock()
        self._thinker = thinker
        self._resignation = Resignation()
        self._ponder_color: int | None = None
        self._expected: dict[int, float] = {}  # color -> winrate after its last move
        self._stale_clock = False  # another board came, and no word of the clock since
        self._moved: list[tuple[int, int]] = []  # the moves after the last genmove
        self.last: Decision | None = None  # what genmove last decided in this game

    # ------------------------------------------------------------------------------------------------ the game

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the board."""
        return self.game.position.width, self.game.position.height

    @property
    def to_play(self) -> int:
        """Whose turn it is, where nobody says otherwise."""
        return int(self.game.position.to_play)

    def vertex(self, action: int) -> str:
        """Return the GTP text of an action."""
        return format_vertex(action, *self.size)

    def move_text(self, decision: Decision) -> str:
        """Return the GTP text of a decision."""
        return "resign" if decision.action == RESIGN else self.vertex(decision.action)

    def new_board(self, width: int, height: int) -> None:
        """Start on an empty board of that size. Raises UnsupportedBoardSize; the old game then stays."""
        if not self._thinker.supports_size(width, height):
            raise UnsupportedBoardSize(f"the net cannot play on {width}x{height}")
        self.game.new_board(width, height)
        self._begin_game()

    def clear_board(self) -> None:
        """Empty the board for another game."""
        self.game.clear()
        self._begin_game()

    def set_komi(self, komi: float) -> None:
        """Set komi for this game and those that follow."""
        self.game.set_komi(komi)
        self._ponder_color = None

    def set_rules(self, rules: Rules) -> None:
        """Set the rules for this game and those that follow."""
        self.game.set_rules(rules)
        self._ponder_color = None

    def play(self, color: int, action: int) -> None:
        """Play a move of either side. Raises IllegalMove."""
        self.game.play(color, action)
        self._ponder_color = None

    def undo(self, moves: int = 1) -> None:
        """Take moves back, all or none. Raises EngineError("cannot undo")."""
        self.game.undo(moves)
        self._ponder_color = None
        self._expected.clear()
        self._resignation.reset()

    def set_up(self, stones: Sequence[tuple[int, int]], to_play: int = 1) -> None:
        """Start from these (color, action) stones. Raises IllegalMove."""
        self.game.set_up(stones, to_play)
        self._begin_game()

    def place_handicap(self, actions: Sequence[int]) -> None:
        """Put Black's handicap stones on an empty board. Raises EngineError."""
        self.game.place_handicap(actions)
        self._ponder_color = None

    def choose_handicap(self, stones: int, *, fixed: bool) -> list[int]:
        """Place handicap stones, on the fixed points or freely; return the actions. Raises EngineError."""
        self._ponder_color = None
        return self.game.place_fixed_handicap(stones) if fixed else self.game.place_free_handicap(stones)

    def load_sgf(self, path: str, before: int | None = None) -> int:
        """Load a game record up to the position before move `before` (counted from 1; None: to its end).

        Komi and rules are the record's where it has them. Return whose turn it is.

        Raises:
            SgfError: if the file cannot be read or is broken; the game then stays.
            UnsupportedBoardSize: if the net cannot play on its board.
        """
        record = read(path)
        if not self._thinker.supports_size(record.width, record.height):
            raise UnsupportedBoardSize(f"the net cannot play on {record.width}x{record.height}")
        position = record.position(before, rules=self.game.rules, komi=self.game.komi)
        self.game.take_over(position, komi=record.komi)
        self._begin_game()
        return self.to_play

    def to_sgf(self) -> str:
        """Return the game as SGF."""
        return write(from_position(self.game.position))

    # ------------------------------------------------------------------------------------------------ time

    def end_game(self) -> None:
        """Say that the game is over: nothing more is thought about it until somebody asks."""
        self._ponder_color = None

    def set_time(self, main: float, period: float, stones: int) -> None:
        """Set both clocks as time_settings does: seconds, seconds, moves a period."""
        self.set_time_control(gtp_control(main, period, stones))

    def set_time_control(self, control: TimeControl) -> None:
        """Set both clocks; the same control once more in the middle of a game says nothing new."""
        if control != self.clock.settings or not self._goes_on():
            self.clock.set(control)
        self._stale_clock = False
        self._prepare()

    def set_time_left(self, color: int, seconds: float, stones: int) -> None:
        """Say what a side has left: seconds, and moves in a Canadian period or periods of byo-yomi, 0 in main time."""
        self.clock.set_left(color, seconds, stones)
        self._stale_clock = False
        self._prepare()

    def budget(self, color: int, spent: float = 0.0) -> Budget | None:
        """Return how long the next move may be thought about from now on; None without clock and longest time.

        Args:
            spent: seconds of the move that are gone already.
        """
        settings, position = self.settings, self.game.position
        budget = self.clock.budget(color, moves_made=position.n_moves, area=position.area, lag=settings.lag)
        if budget is None:
            return None if settings.time is None else Budget(settings.time, settings.time, saves=False)
        longest = math.inf if settings.time is None else settings.time
        soft, hard = max(min(budget.soft, longest) - spent, 0.0), max(min(budget.hard, longest) - spent, 0.0)
        return Budget(soft, hard, saves=budget.saves)

    def limits(self, color: int, spent: float = 0.0) -> Limits:
        """Return the most that the next move may take.

        Args:
            spent: seconds of it that are gone already.
        """
        return Turn(self.budget(color, spent), self.settings).search()[0]

    # ------------------------------------------------------------------------------------------------ inside

    def _begin_game(self) -> None:
        self._resignation.reset()
        self._ponder_color = None
        self._stale_clock = True
        self.last = None
        self._thinker.new_game()
        self._prepare()

    def _prepare(self, *, may_wait: StopToken | None = None) -> None:
        """Where a clock runs, have the nets made ready for the board before they are needed."""
        if self.settings.time is not None or any(self.clock.left(color) is not None for color in (1, 2)):
            self._thinker.prepare(*self.size, may_wait=may_wait)

    def _wind_clock(self) -> None:
        """Start the clocks anew if this is another game and the controller said nothing of its clock.

        Some controllers set the board up anew before every move; then the game and its clock go on.
        """
        if self._stale_clock and not self._goes_on():
            self.clock.restart()
            self._expected.clear()
        self._stale_clock = False

    def _goes_on(self) -> bool:
        """Tell whether the last genmove belongs to the game on the board."""
        return bool(self._moved) and self.game.position.moves[: len(self._moved)] == self._moved
