"""The Searcher from outside: limits, counts, reports, restrictions, reuse, stopping."""


import pytest

from engine.board.position import Position
from engine.evaluator_fakes import HashEvaluator
from engine.search.params import SearchParams
from engine.search.root import Limits
from engine.search.searcher import Searcher


def make(size=7, *, evaluator=None, seed=1, rules="chinese-ogs", komi=7.5, **params):
    searcher = Searcher(evaluator or HashEvaluator(), SearchParams(**params), seed=seed)
    position = Position(size, rules=rules, komi=komi)
    searcher.set_position(position)
    return searcher, position


@pytest.mark.parametrize("batch_size", [1, 4, 16])
def test_visits_add_up_and_nothing_stays_in_flight(batch_size):
    searcher, _ = make(batch_size=batch_size)
    result = searcher.search(Limits(visits=500))
    assert result.visits == 500 == searcher.visits
    assert sum(info.edge_visits for info in result.moves) + 1 == 500
    assert result.stats.stopped_by == "visits"
    assert searcher.in_flight == 0
    assert result.policy_target.sum() == pytest.approx(1.0)


def test_playouts_count_this_search_alone():
    searcher, _ = make(batch_size=2)
    assert searcher.search(Limits(playouts=40)).visits == 40
    result = searcher.search(Limits(playouts=25))
    assert result.visits == 65
    assert result.stats.playouts == 25
