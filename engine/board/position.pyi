from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .rules import Rules

BLACK: int  # 1
WHITE: int  # 2
EMPTY: int  # 0

class Position:
    """A game position with the history that rules and encodings need.

    Actions are row-major from the top left, 0..W*H-1; W*H is pass. Colors are BLACK (1) and WHITE (2).
    """

    rules: Rules
    def __init__(
        self, width: int = 19, height: int | None = None, *,
        rules: Rules | str = "chinese-ogs", komi: float | None = None,
    ) -> None: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def area(self) -> int: ...
    @property
    def komi(self) -> float: ...
    @property
    def to_play(self) -> int: ...
    @to_play.setter
    def to_play(self, color: int) -> None: ...
    @property
    def moves(self) -> list[tuple[int, int]]: ...  # a copy: (color, action) since the set-up position
    @property
    def setup_stones(self) -> list[tuple[int, int]]: ...
    @property
    def n_moves(self) -> int: ...
    @property
    def handicap(self) -> int: ...  # as the handicap bonus counts it
    @property
    def ended(self) -> bool: ...
    @property
    def hash(self) -> int: ...  # stones only
    @property
    def ko_action(self) -> int | None: ...
    def situation_key(self, color: int | None = None) -> int: ...
    def play(
        self, action: int, color: int | None = None, *, allow_superko: bool = False, tolerant: bool = False
    ) -> int:
        """Play and return the number of stones captured. Raises IllegalMove and leaves the position as it was.

        allow_superko forgives superko; tolerant forgives any ko and the suicide of several stones too (golden games).
        """
    def undo(self) -> None:
        """Take the last move back. Raises EngineError("cannot undo") at the set-up position."""
    def is_legal(self, action: int, color: int | None = None) -> bool: ...
    def breaks_superko(self, action: int, color: int | None = None) -> bool: ...
    def legal_mask(self, color: int | None = None) -> NDArray[np.uint8]: ...  # [A]
    def board(self) -> NDArray[np.uint8]: ...  # [H, W], a copy
    def color_at(self, action: int) -> int: ...
    def chain(self, action: int) -> list[int]: ...
    def liberties(self, action: int) -> list[int]: ...
    def prisoners(self, color: int) -> int: ...  # stones of that color captured
    def set_up(self, stones: Iterable[tuple[int, int]], to_play: int | None = None) -> None:
        """Start from these stones, history empty. Raises IllegalMove if a chain would have no liberty."""
    def clear(self) -> None: ...
    def set_komi(self, komi: float) -> None: ...
    def set_rules(self, rules: Rules | str) -> None: ...
    def copy(self) -> Position: ...
