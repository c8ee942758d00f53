"""Matches between two nets in one process: all games at once, each net's positions evaluated together.

Both sides search alike, without noise; the first moves are drawn by visits, so that games differ. Colors alternate.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.board.position import BLACK
from engine.errors import ConfigError
from engine.evaluator import Evaluator
from engine.search.result import SearchResult
from engine.search.root import RootOptions
from engine.search.searcher import Searcher

from .game import PlayedGame, Turn, begin, counted, over, pick, temperature
from .lockstep import Answer, Rows
from .plan import GamePlan, SelfplayPlan, draw_game
from .search_game import RowsEvaluator, search, search_params

Step = tuple[int, int]
"""Which player's rows were filled, and how many."""


@dataclass(slots=True)
class Score:
    """Games of the first player against the second."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def games(self) -> int:
        """Games played."""
        return self.won + self.drawn + self.lost

    @property
    def share(self) -> float:
        """Share of the points, a draw being half a point."""
        return (self.won + self.drawn / 2) / max(1, self.games)

    def add(self, outcome: int) -> None:
        """Count a game: 1 the first player won, 0 a draw, -1 it lost."""
        self.won, self.drawn, self.lost = (
            self.won + (outcome > 0),
            self.drawn + (outcome == 0),
            self.lost + (outcome < 0),
        )

    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the share (Wilson)."""
        n, z = max(1, self.games), 1.959964
        middle = (self.share + z * z / (2 * n)) / (1 + z * z / n)
        half = z * ((self.share * (1 - self.share) + z * z / (4 * n)) / n) ** 0.5 / (1 + z * z / n)
        return max(0.0, middle - half), min(1.0, middle + half)

    def figures(self) -> dict[str, Any]:
        """Return the figures for a log."""
        low, high = self.interval()
        return {
            "won": self.won, "drawn": self.drawn, "lost": self.lost,
            "share": round(self.share, 4), "interval": [round(low, 4), round(high, 4)],
        }  # fmt: skip


def arena_game(
    evaluators: Sequence[Evaluator], plan: SelfplayPlan, game: GamePlan, rows: Sequence[Rows]
) -> Generator[Step, Answer, PlayedGame]:
    """Play one game; player number % 2 of the game has Black."""
    position, rng = begin(game), np.random.default_rng(game.seed)
    searchers = [
        Searcher(RowsEvaluator(evaluator, row), search_params(plan), seed=game.seed)
        for evaluator, row in zip(evaluators, rows, strict=True)
    ]
    turns: list[Turn] = []
    while not over(position, game):
        player = (len(turns) + game.number) % 2
        result = yield from as_player(player, search(searchers[player], position, plan.visits, RootOptions()))
        action = pick(result.policy_target, temperature(plan, game, len(turns)), rng)
        turns.append(Turn(position.to_play, action, None, 2.0 * result.winrate - 1.0))
        position.play(action)
    return counted(evaluators[0], game, position, turns)


def as_player(player: int, steps: Generator[int, Answer, SearchResult]) -> Generator[Step, Answer, SearchResult]:
    """Yield the steps of a search with the player's number; a search may also need none, at the end of a game."""
    try:
        rows = next(steps)
        while True:
            rows = steps.send((yield player, rows))
    except StopIteration as end:
        found: SearchResult = end.value
        return found


def play_match(evaluators: Sequence[Evaluator], plan: SelfplayPlan, games: int, *, need: float | None = None) -> Score:
    """Play games between two nets and return the first one's score.

    Args:
        plan: sizes, rules, komi, visits and temperatures; noise and resignation play no part.
        games: at most; 2 or more.
        need: share of the points that the first player is to reach: the match ends when that is sure or impossible.

    Raises:
        ConfigError: the evaluators do not take a game's rows.
    """
    score = Score()
    for size in sorted(set(plan.sizes)):
        numbers = [n for n in range(games) if plan.sizes[(n // 2) % len(plan.sizes)] == size]
        _play_size(evaluators, plan, size, numbers, score, games, need)
    return score


def settled(score: Score, games: int, need: float | None) -> bool:
    """Tell whether the rest of a match of so many games cannot change whether the share is reached."""
    if need is None:
        return False
    points = score.won + score.drawn / 2
    return points >= need * games or points + games - score.games < need * games


def _play_size(
    evaluators: Sequence[Evaluator], plan: SelfplayPlan, size: int, numbers: list[int], score: Score, games: int,
    need: float | None,
) -> None:  # fmt: skip
    leaves = plan.leaves
    if min(evaluator.max_batch for evaluator in evaluators) < leaves:
        raise ConfigError(f"{leaves} leaves a game are more than the evaluators take")
    slots = min(plan.games_at_once, len(numbers))
    arrays = [evaluator.allocate(slots * leaves, size, size) for evaluator in evaluators]
    waiting = iter(numbers)
    playing: dict[int, tuple[Generator[Step, Answer, PlayedGame], Step]] = {}
    while not settled(score, games, need):
        for slot in range(slots):
            number = None if slot in playing else next(waiting, None)
            if number is not None:
                rows = [Rows(s[slot * leaves :][:leaves], g[slot * leaves :][:leaves]) for s, g in arrays]
                drawn = draw_game(plan, number // 2 * len(plan.sizes) + plan.sizes.index(size))
                game = arena_game(evaluators, plan, _numbered(drawn, number), rows)
                playing[slot] = game, next(game)
        if not playing:
            return
        for player, evaluator in enumerate(evaluators):
            slots_here = [slot for slot, (_, step) in playing.items() if step[0] == player]
            answers = _evaluate(evaluator, arrays[player], slots_here, leaves)
            for slot, answer in zip(slots_here, answers, strict=True):
                game = playing[slot][0]
                try:
                    playing[slot] = game, game.send(answer)
                except StopIteration as end:
                    del playing[slot]
                    outcome = end.value.outcome(BLACK)
                    score.add(outcome if end.value.plan.number % 2 == 0 else -outcome)


def _numbered(game: GamePlan, number: int) -> GamePlan:
    import dataclasses

    return dataclasses.replace(game, number=number, seed=game.seed + number % 2)


def _evaluate(evaluator: Evaluator, arrays: Any, slots: list[int], leaves: int) -> list[Answer]:
    """Evaluate the rows of these slots, as many slots at a time as fit, and return each slot's answer."""
    spatial, globals_ = arrays
    answers: list[Answer] = []
    most = evaluator.max_batch // leaves
    for start in range(0, len(slots), most):
        some = slots[start : start + most]
        index = (np.array(some)[:, None] * leaves + np.arange(leaves)).ravel()
        evaluation = evaluator.evaluate(spatial[index], globals_[index])
        answers += [(evaluation, i * leaves) for i in range(len(some))]
    return answers
