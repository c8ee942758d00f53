"""A run of self-play: the games of a plan, part after part, into a folder. Goes on where a killed run was."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from engine.evaluator import Evaluator

from .game import Begin, PlayedGame, policy_game
from .lockstep import Lockstep
from .plan import GamePlan, SelfplayPlan, draw_game
from .positions import write_positions
from .resign import as_figures, learn_threshold, lows_of
from .search_game import search_game
from .store import GameStore

log = logging.getLogger(__name__)
PROGRESS_SECONDS = 15.0

Players = Callable[[Sequence[int], float | None], Iterable[PlayedGame]]  # numbers, threshold of resignation → games


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


def play(
    evaluator: Evaluator,
    plan: SelfplayPlan,
    games: int,
    store: GameStore,
    *,
    earlier: Sequence[dict[str, Any]] = (),
    sgf: int = 0,
    players: Players | None = None,
) -> int:
    """Play until the folder holds so many games; return how many were played now.

    A part's games share one threshold of resignation, learned from the parts before it (`earlier`: parts of other
    folders). Sizes are played one after the other within a part, each with `games_at_once` games in one batch. Games
    with search become shards too; the first `sgf` games of a part also SGF files. `players` play the games of a part
    elsewhere (ray_workers.py), not in this process.
    """
    done = sum(part["games"] for part in store.parts)
    progress = Progress(games, done)
    played = 0
    while done < games:
        numbers = range(done, min(games, done + plan.part_games))
        start = time.monotonic()
        threshold = known_threshold(plan, [*earlier, *store.parts])
        finished = []
        coming = players(numbers, threshold) if players else play_numbers(evaluator, plan, numbers, threshold)
        for game in coming:
            progress.add(game)
            finished.append(game)
        finished.sort(key=lambda game: game.plan.number)
        note: dict[str, Any] = {"seconds": round(time.monotonic() - start, 1)}
        if plan.visits > 1:
            note["positions"] = write_positions(store.path, evaluator.encoding, finished, len(store.parts), store.net)
            played_out = [game for game in finished if threshold is None or game.plan.to_the_end]
            note["resign"] = as_figures([lows_of(game) for game in played_out], threshold)
        store.write_sgf(finished, sgf)
        store.write(finished, note)
        done += len(finished)
        played += len(finished)
    return played


def known_threshold(plan: SelfplayPlan, parts: Sequence[dict[str, Any]]) -> float | None:
    """Return the threshold of resignation that follows from these parts."""
    if not plan.resign or plan.visits == 1:
        return None
    lows = [tuple(pair) for part in parts for pair in part.get("resign", {}).get("lows", [])]
    return learn_threshold(lows, plan.resign_wrong)


def play_numbers(
    evaluator: Evaluator, plan: SelfplayPlan, numbers: Iterable[int], threshold: float | None = None
) -> Iterator[PlayedGame]:
    """Yield the games of these numbers as they end; see search_game for the threshold."""
    games = [draw_game(plan, number) for number in numbers]
    rows = plan.leaves if plan.visits > 1 else 1
    for size in sorted({game.size for game in games}):
        mine = [game for game in games if game.size == size]
        lockstep = Lockstep(evaluator, size, slots=min(plan.games_at_once, len(mine)), rows=rows)
        yield from lockstep.run(beginning(evaluator, plan, game, threshold) for game in mine)


def beginning(evaluator: Evaluator, plan: SelfplayPlan, game: GamePlan, threshold: float | None) -> Begin:
    """Return what begins a game on the rows it is given."""
    if plan.visits == 1:
        return lambda rows: policy_game(evaluator, plan, game, rows)
    return lambda rows: search_game(evaluator, plan, game, rows, threshold)
