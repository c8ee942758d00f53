"""One game of a net against itself with search: noise at the root, moves drawn by visits, and resignation."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from engine.board.position import Position
from engine.evaluator import Evaluation, Evaluator, FloatArray
from engine.search.params import SearchParams
from engine.search.result import SearchResult
from engine.search.root import Limits, RootOptions
from engine.search.searcher import Searcher

from .game import PlayedGame, Turn, begin, counted, over, pick, temperature
from .lockstep import Answer, Rows
from .plan import GamePlan, SelfplayPlan


class RowsEvaluator:
    """What a searcher in steps sees of an evaluator: its encoding, and rows of a batch that others fill too."""

    def __init__(self, inner: Evaluator, rows: Rows) -> None:
        self.encoding, self.name, self.max_batch = inner.encoding, inner.name, len(rows.spatial)
        self.pass_alive_under_suicide = bool(getattr(inner, "pass_alive_under_suicide", False))
        self._inner, self._rows = inner, rows

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether boards of this size can be evaluated."""
        return self._inner.supports_size(width, height)

    def allocate(self, batch: int, width: int, height: int) -> tuple[FloatArray, FloatArray]:
        """Return the rows of the shared batch."""
        return self._rows.spatial[:batch], self._rows.globals_[:batch]

    def evaluate(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> Evaluation:
        """Evaluate without the others."""
        return self._inner.evaluate(spatial, globals_, ownership=ownership)


def search_params(plan: SelfplayPlan) -> SearchParams:
    """Return the settings of the search: AlphaGo Zero's, with winning as the only aim and nothing proven."""
    return SearchParams(
        cpuct=plan.cpuct,
        cpuct_log=0.0,
        root_fpu_reduction=0.0,
        value_weight_power=0.0,
        noise_prune_scale=0.0,
        bias_share=0.0,
        static_score_utility=0.0,
        dynamic_score_utility=0.0,
        use_lcb=False,
        solver=False,
        stop_when_proven=False,
        conservative_pass=False,
        tree_reuse=plan.tree_reuse,
        batch_size=plan.leaves,
        two_batches=False,
        tree_memory=64,
        cache_memory=0,
        noise_fraction=plan.noise_fraction,
        noise_alpha=plan.noise_alpha,
        pv_length=1,
    )


def search_game(
    evaluator: Evaluator, plan: SelfplayPlan, game: GamePlan, rows: Rows, threshold: float | None
) -> Generator[int, Answer, PlayedGame]:
    """Play a game with search.

    Args:
        threshold: the side to move resigns when its value is below; None: nobody does.
    """
    position, rng = begin(game), np.random.default_rng(game.seed)
    searcher = Searcher(RowsEvaluator(evaluator, rows), search_params(plan), seed=game.seed)
    options = RootOptions(noise=plan.noise_fraction > 0)
    turns: list[Turn] = []
    while not over(position, game):
        result = yield from search(searcher, position, plan.visits, options)
        value = best_value(result)
        if threshold is not None and not game.to_the_end and value < threshold:
            return PlayedGame(game, turns, 3 - position.to_play, None)
        policy = result.policy_target
        action = pick(policy, temperature(plan, game, len(turns)), rng)
        turns.append(Turn(position.to_play, action, policy, value))
        position.play(action)
    return counted(evaluator, game, position, turns)


def search(
    searcher: Searcher, position: Position, visits: int, options: RootOptions
) -> Generator[int, Answer, SearchResult]:
    """Search a position in steps."""
    searcher.set_position(position)
    searcher.begin(Limits(visits=visits), root=options)
    while rows := searcher.gather():
        searcher.absorb(*(yield rows))
    return searcher.finish()


def best_value(result: SearchResult) -> float:
    """Return the value [-1, 1] of the root or of its most visited move, whichever is higher."""
    move = result.move(result.most_visited)
    return max(2.0 * result.winrate - 1.0, 2.0 * move.winrate - 1.0 if move else -1.0)
