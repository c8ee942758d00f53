"""A run of self-play: the games of a plan, part after part, into a folder. Goes on where a killed run was."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path

from engine.evaluator import Evaluator

from .game import Begin, PlayedGame, policy_game
from .lockstep import Lockstep
from .plan import SelfplayPlan, draw_game
from .store import GameStore

log = logging.getLogger(__name__)
PROGRESS_SECONDS = 15.0


class Progress:
    """Tells now and then how far a run is."""

    def __init__(self, games: int, done: int) -> None:
        self.games, self.done, self.moves = games, done, 0
        self._before, self._start, self._told = done, time.monotonic(), time.monotonic()

    def add(self, game: PlayedGame) -> None:
        """Count a game."""
        self.done += 1
        self.moves += len(game.turns)
        now = time.monotonic()
        if now - self._told >= PROGRESS_SECONDS or self.done == self.games:
            self._told = now
            seconds = max(1e-3, now - self._start)
            rate = (self.done - self._before) / seconds
            left = (self.games - self.done) / max(rate, 1e-9)
            log.info(
                "%d of %d games, %.2f games/s, %.0f moves/s, about %.0f s left",
                self.done, self.games, rate, self.moves / seconds, left,
            )  # fmt: skip


def play(evaluator: Evaluator, plan: SelfplayPlan, games: int, store: GameStore) -> int:
    """Play until the folder holds so many games; return how many were played now.

    Sizes are played one after the other within a part, each with `games_at_once` games in one batch.
    """
    done = sum(part["games"] for part in store.parts)
    progress = Progress(games, done)
    played = 0
    while done < games:
        numbers = range(done, min(games, done + plan.part_games))
        start = time.monotonic()
        finished = []
        for game in play_numbers(evaluator, plan, numbers):
            progress.add(game)
            finished.append(game)
        finished.sort(key=lambda game: game.plan.number)
        store.write(finished, {"seconds": round(time.monotonic() - start, 1)})
        done += len(finished)
        played += len(finished)
    return played


def play_numbers(evaluator: Evaluator, plan: SelfplayPlan, numbers: range) -> Iterator[PlayedGame]:
    """Yield the games of these numbers as they end."""
    games = [draw_game(plan, number) for number in numbers]
    for size in sorted({game.size for game in games}):
        mine = [game for game in games if game.size == size]
        lockstep = Lockstep(evaluator, size, slots=min(plan.games_at_once, len(mine)))
        yield from lockstep.run(beginning(evaluator, plan, game) for game in mine)


def beginning(evaluator: Evaluator, plan: SelfplayPlan, game: object) -> Begin:
    """Return what begins a game on the rows it is given."""
    return lambda rows: policy_game(evaluator, plan, game, rows)  # type: ignore[arg-type]


def folder_of(out: Path | None, net: str) -> Path:
    """Return the folder of a run."""
    from ..recipe import data_home

    return out or data_home() / "selfplay" / net
