"""A game record as plain data, and the positions of its game. Knows no SGF text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.board.position import BLACK, Position
from engine.board.rules import Rules
from engine.errors import IllegalMove, SgfError


@dataclass(frozen=True)
class GameRecord:
    """One game: set-up, moves and what the file says about it.

    Actions are row-major from the top left, width * height is pass. Colors are BLACK and WHITE.
    """

    width: int = 19
    height: int = 19
    komi: float | None = None  # None: the file does not say
    rules: Rules | None = None  # None: not said, or not recognised (see rules_text)
    rules_text: str = ""
    handicap: int = 0  # as the file says; the stones are in setup
    setup: tuple[tuple[int, int], ...] = ()  # (color, action) of the stones before the first move
    to_play: int = BLACK  # who moves after the set-up
    moves: tuple[tuple[int, int], ...] = ()  # (color, action)
    comments: Mapping[int, str] = field(default_factory=dict)  # moves played before it -> comment; 0 = the root
    black: str = ""
    white: str = ""
    result: str = ""  # "B+3.5", "W+R", "0", "Void", …
    date: str = ""
    name: str = "<sgf>"  # the file, for error messages
    games: int = 1  # games in the file, of which this is the first
    setup_line: int = 1
    lines: tuple[int, ...] = ()  # line of each move in the file

    def position(
        self, before: int | None = None, *, rules: Rules | str | None = None, komi: float | None = None
    ) -> Position:
        """Return the position before move number `before`, counted from 1 (None: after the last move).

        Numbers beyond the game give its end, numbers below 1 its start.

        Args:
            rules: used where the record names none that is recognised; None: the default rules of a Position.
            komi: used where the record has none; None: the default komi of a Position.

        Raises SgfError on an illegal set-up or move. A superko repetition is no error: servers differ.
        """
        chosen = self.rules if self.rules is not None else rules
        komi = self.komi if self.komi is not None else komi
        options: dict[str, Any] = {} if chosen is None else {"rules": chosen}
        position = Position(self.width, self.height, komi=komi, **options)
        try:
            position.set_up(self.setup, self.to_play)
        except IllegalMove as error:
            raise SgfError(f"{self.name}, line {self.setup_line}: the set-up stones cannot stand: {error}") from None
        count = len(self.moves) if before is None else min(max(before - 1, 0), len(self.moves))
        for i, (color, action) in enumerate(self.moves[:count]):
            try:
                position.play(action, color, allow_superko=True)
            except IllegalMove as error:
                line = self.lines[i] if i < len(self.lines) else 1
                reason = f"move {i + 1} is illegal: {error.move} ({error.reason})"
                raise SgfError(f"{self.name}, line {line}: {reason}") from None
        if count < len(self.moves):
            position.to_play = self.moves[count][0]
        return position


def from_position(position: Position, **details: Any) -> GameRecord:
    """Return a record of a position's set-up and moves; details are other fields of GameRecord (black, result, …)."""
    setup = tuple(position.setup_stones)
    moves = tuple(position.moves)
    black_only = bool(setup) and all(color == BLACK for color, _ in setup)
    record = GameRecord(
        width=position.width,
        height=position.height,
        komi=position.komi,
        rules=position.rules,
        handicap=len(setup) if black_only and len(setup) > 1 else 0,
        setup=setup,
        to_play=moves[0][0] if moves else position.to_play,
        moves=moves,
    )
    return replace(record, **details)
