"""Searchers for the positions of queries, made ready for one after the other: making one takes longer than a visit."""

from __future__ import annotations

from engine.evaluator import Evaluator
from engine.search.params import SearchParams
from engine.search.root import Limits
from engine.search.searcher import Searcher

from .batches import SearchRows
from .jobs import Job
from .query import Query
from .waiting import Key


class Searchers:
    """Keeps searchers that have ended for those that begin.

    Args:
        evaluator: the net.
        params: settings of new searchers; each query brings its own.
        seed: of every search; None takes one from the system for each.
        keep: how many are kept.
    """

    def __init__(self, evaluator: Evaluator, params: SearchParams, seed: int | None, *, keep: int) -> None:
        self._evaluator, self._params, self._seed, self._keep = evaluator, params, seed, keep
        self._idle: list[tuple[Searcher, SearchRows]] = []

    def job(self, key: Key, query: Query, turn: int) -> Job:
        """Return a position of a query with a searcher for it."""
        searcher, rows = self._idle.pop() if self._idle else self._new()
        return Job(key, query, turn, searcher, rows)

    def begin(self, job: Job) -> None:
        """Begin to search a position. Raises what is wrong with it."""
        query, turn, searcher = job.query, job.turn, job.searcher
        searcher.clear()
        searcher.params = query.params
        if self._seed is not None:
            searcher.reseed(self._seed)
        position, color = query.game.position(turn), query.game.color_at(turn)
        searcher.set_position(position, color)
        if query.wanted.policy:
            job.legal = position.legal_mask(color)
        if query.wanted.judgment:
            job.position = position.copy()
        limits = Limits(visits=1) if job.rows.policy_only else query.limits
        searcher.begin(limits, root=query.root)

    def take_back(self, job: Job) -> None:
        """Take the searcher of a position that is done, without what it found."""
        if len(self._idle) < self._keep:
            job.searcher.drop_tree()
            self._idle.append((job.searcher, job.rows))

    def clear(self) -> None:
        """Forget all of them."""
        self._idle.clear()

    def _new(self) -> tuple[Searcher, SearchRows]:
        rows = SearchRows(self._evaluator)
        return Searcher(rows, self._params, seed=self._seed), rows
