"""Which games a match consists of, and which comes next.

Games have numbers that stay the same when a match is resumed or made longer: openings follow one another, in each one
every pairing plays two games, colors swapped. A pairing whose rule has decided gets no more games.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import ConfigError

from .sprt import Rule, Verdict

ROUND_ROBIN, GAUNTLET = "round-robin", "gauntlet"
FORMATS = (ROUND_ROBIN, GAUNTLET)

Pairing = tuple[str, str]


@dataclass(frozen=True)
class Game:
    """One game of the plan."""

    number: int
    pairing: int
    opening: int
    black: str
    white: str


def make_pairings(labels: Sequence[str], form: str) -> list[Pairing]:
    """Return who meets whom: everyone everyone, or the first all others. Raises ConfigError for less than two."""
    if len(labels) < 2:
        raise ConfigError("a match needs two engines or more")
    if form == GAUNTLET:
        return [(labels[0], other) for other in labels[1:]]
    return list(itertools.combinations(labels, 2))


def points(game: Mapping[str, Any], label: str) -> float:
    """Return the points of an engine in a finished game, a line of games.jsonl."""
    return 0.5 if game["winner"] is None else float(game["winner"] == label)


class Schedule:
    """Hands out the games that are still to be played. Safe to use from several threads.

    Args:
        pairings: who meets whom.
        games: games of each pairing.
        done: finished games by number; grows as the match does.
        rule: when a pairing may stop before its last game.
        until: time.monotonic() after which no game begins.
        swap: colors change within a pair; else the second engine of a pairing is always Black (handicap games).
    """

    def __init__(
        self,
        pairings: Sequence[Pairing],
        games: int,
        done: Mapping[int, Mapping[str, Any]],
        rule: Rule | None = None,
        *,
        until: float | None = None,
        swap: bool = True,
    ) -> None:
        self.pairings = list(pairings)
        self._swap = swap
        self.games = games
        self._done = done
        self._rule = rule
        self._until = until
        self._out: set[int] = set()  # handed out and not finished
        self._decided = {i for i in range(len(pairings)) if self._is_decided(i)}
        self._lock = threading.Lock()

    @property
    def total(self) -> int:
        """Games in all, if no rule stops a pairing early."""
        return len(self.pairings) * self.games

    def game(self, number: int) -> Game:
        """Return what is played under a number."""
        block, second = divmod(number, 2)
        opening, pairing = divmod(block, len(self.pairings))
        first, other = self.pairings[pairing]
        takes_white = second if self._swap else True
        return Game(number, pairing, opening, *((other, first) if takes_white else (first, other)))

    def number(self, pairing: int, index: int) -> int:
        """Return the number of the index-th game of a pairing."""
        return (index // 2 * len(self.pairings) + pairing) * 2 + index % 2

    def has(self, number: int) -> bool:
        """Tell whether the plan holds a game of this number."""
        return self.game(number).opening * 2 + number % 2 < self.games

    def next(self) -> Game | None:
        """Hand out the next game; None if there is nothing more to begin."""
        with self._lock:
            if self.is_late:
                return None
            for block in range((self.games + 1) // 2 * len(self.pairings)):
                for number in (2 * block, 2 * block + 1):  # both games of an opening in a row
                    if self._is_open(number):
                        self._out.add(number)
                        return self.game(number)
            return None

    @property
    def is_late(self) -> bool:
        """True once no more games begin for lack of time."""
        return self._until is not None and time.monotonic() >= self._until

    def give_back(self, game: Game) -> None:
        """Take back a game that could not be begun."""
        with self._lock:
            self._out.discard(game.number)

    def finished(self, game: Game) -> None:
        """Note that a game is in `done` now."""
        with self._lock:
            self._out.discard(game.number)
            if self._is_decided(game.pairing):
                self._decided.add(game.pairing)

    def scores(self, pairing: int) -> list[float | None]:
        """Return the points of a pairing's first engine, game by game; None: not finished."""
        label = self.pairings[pairing][0]
        found = [self._done.get(self.number(pairing, index)) for index in range(self.games)]
        return [None if game is None else points(game, label) for game in found]

    def verdict(self, pairing: int) -> Verdict | None:
        """Return what the rule says of a pairing; None without a rule."""
        return None if self._rule is None else self._rule.judge(self.scores(pairing))

    def remaining(self) -> int:
        """Return how many games are not finished, those of decided pairings left out."""
        with self._lock:
            open_pairings = [i for i in range(len(self.pairings)) if i not in self._decided]
            numbers = [self.number(i, index) for i in open_pairings for index in range(self.games)]
            return sum(number not in self._done for number in numbers)

    def _is_open(self, number: int) -> bool:
        if not self.has(number) or self.game(number).pairing in self._decided:
            return False
        return number not in self._done and number not in self._out

    def _is_decided(self, pairing: int) -> bool:
        verdict = self.verdict(pairing)
        return verdict is not None and verdict.decision is not None
