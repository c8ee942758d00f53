"""Searches in steps: the caller evaluates, for many searches at once."""

import numpy as np
import pytest

from engine.board.position import Position
from engine.errors import EngineError
from engine.evaluator_fakes import HashEvaluator, RecordingEvaluator
from engine.search.params import SearchParams
from engine.search.root import Limits, RootOptions
from engine.search.searcher import Searcher


def test_a_search_in_steps_makes_the_tree_that_a_search_makes():
    class Rows(RecordingEvaluator):
        """Keeps the arrays that the searcher writes into."""

        def allocate(self, batch, width, height):
            self.arrays = self.inner.allocate(batch, width, height)
            return self.arrays

        def evaluate(self, *_, **__):
            raise AssertionError("a search in steps evaluates nothing itself")

    params = SearchParams(batch_size=4, two_batches=False)
    whole = Searcher(HashEvaluator(), params, seed=5)
    rows = Rows(HashEvaluator())
    steps = Searcher(rows, params, seed=5)
    position = Position(7, rules="tromp-taylor")
    for _ in range(6):
        options = RootOptions(noise=True)
        whole.set_position(position)
        steps.set_position(position)
        expected = whole.search(Limits(visits=60), root=options)
        steps.begin(Limits(visits=60), root=options)
        with pytest.raises(EngineError, match="not asked for"):
            steps.absorb(rows.inner.evaluate(*rows.arrays))
        while count := steps.gather():
            assert 1 <= count <= 4
            with pytest.raises(EngineError, match="out of order"):
                steps.gather()
            with pytest.raises(EngineError, match="not ended"):
                steps.finish()
            steps.absorb(rows.inner.evaluate(*rows.arrays))
        result = steps.finish()
        assert steps.signature() == whole.signature() and steps.in_flight == 0
        assert (result.best_action, result.visits) == (expected.best_action, expected.visits)
        assert result.stats.stopped_by == expected.stats.stopped_by
        position.play(result.best_action)


def test_a_search_in_steps_can_be_left_in_the_middle_and_survives_a_bad_answer():
    inner = HashEvaluator(max_batch=4)
    searcher = Searcher(inner, SearchParams(batch_size=4, two_batches=False), seed=1)
    arrays = inner.allocate(4, 5, 5)
    inner.allocate = lambda batch, width, height: arrays
    searcher.set_position(Position(5))
    for _ in range(3):
        searcher.begin(Limits(visits=1000))
        for _ in range(3):
            searcher.gather()
            searcher.absorb(inner.evaluate(*arrays))
        assert searcher.gather() > 0
    searcher.begin(Limits(visits=searcher.visits + 20))
    assert searcher.in_flight == 0
    searcher.gather()
    bad = inner.evaluate(*arrays)
    bad.value[:] = np.nan
    with pytest.raises(EngineError, match="not finite"):
        searcher.absorb(bad)
    assert searcher.in_flight == 0
    searcher.begin(Limits(visits=searcher.visits + 8))
    while searcher.gather():
        searcher.absorb(inner.evaluate(*arrays))
    assert searcher.finish().visits >= 8


def test_a_search_that_ends_when_only_its_root_is_known():
    evaluator = HashEvaluator()
    kept = []

    class Keeps(RecordingEvaluator):
        def allocate(self, batch, width, height):
            kept.append(self.inner.allocate(batch, width, height))
            return kept[-1]

    searcher = Searcher(Keeps(evaluator), SearchParams(two_batches=False), seed=1)
    searcher.set_position(Position(5))
    searcher.begin(Limits(visits=50))
    assert searcher.gather() == 1
    searcher.absorb(evaluator.evaluate(*kept[-1]))
    result = searcher.finish()
    (info,) = result.moves
    assert info.visits == 0 and 0.0 < info.prior < 1.0 and result.best_action == info.action
