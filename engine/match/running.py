"""Which games of a match are being played, and how far they are; told by the workers, shown by live.py."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from .schedule import Game


@dataclass(frozen=True, slots=True)
class RunningGame:
    """A game in progress."""

    game: Game
    begun: float  # on the clock of Running
    moves: int = 0


class Running:
    """The games in progress. Safe to use from several threads.

    Args:
        clock: gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._games: dict[int, RunningGame] = {}
        self._lock = threading.Lock()

    def begin(self, game: Game) -> None:
        """Note that a game begins: its engines are set up."""
        with self._lock:
            self._games[game.number] = RunningGame(game, self.clock())

    def moved(self, game: Game, moves: int) -> None:
        """Note how many moves have been played in a game."""
        with self._lock:
            if game.number in self._games:
                self._games[game.number] = replace(self._games[game.number], moves=moves)

    def end(self, game: Game) -> None:
        """Note that a game is over, in whatever way."""
        with self._lock:
            self._games.pop(game.number, None)

    def games(self) -> list[RunningGame]:
        """Return the games in progress by their numbers."""
        with self._lock:
            return [running for _, running in sorted(self._games.items())]
