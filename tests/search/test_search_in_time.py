"""Searches with a limit of time, by a clock of our own: they end when their last batch is back."""

from __future__ import annotations

import time

import pytest

from engine.board.position import Position
from engine.evaluator_fakes import HashEvaluator
from engine.search.params import SearchParams
from engine.search.root import Limits
from engine.search.searcher import Searcher


class Ticking(HashEvaluator):
    """An evaluator whose batches take so many seconds of a clock that nothing else moves."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds, self.now = seconds, 1000.0

    def evaluate(self, spatial, globals_, *, ownership=False):
        self.now += self.seconds
        return super().evaluate(spatial, globals_, ownership=ownership)


def searched(monkeypatch, evaluator, seconds, times=1):
    monkeypatch.setattr(time, "perf_counter", lambda: evaluator.now)
    searcher = Searcher(evaluator, SearchParams(symmetry="fixed"), seed=1)
    position = Position(7)
    for _ in range(times):
        searcher.set_position(position)
        result = searcher.search(Limits(seconds=seconds))
    return result.stats


def test_the_last_batch_is_back_in_time(monkeypatch):
    stats = searched(monkeypatch, Ticking(0.3), 1.0)
    assert stats.elapsed == pytest.approx(0.9) and stats.stopped_by == "seconds"  # a fourth would be back at 1.2 s
    assert stats.travel == pytest.approx(0.3)


def test_fast_batches_use_all_of_the_time(monkeypatch):
    assert searched(monkeypatch, Ticking(0.01), 1.0).elapsed == pytest.approx(1.0, abs=0.011)


def test_batches_slower_than_the_search_do_not_keep_it_from_searching(monkeypatch):
    stats = searched(monkeypatch, Ticking(5.0), 1.0, times=3)
    assert stats.playouts == 1 and stats.elapsed == pytest.approx(5.0)
