"""What the search tests share: a Searcher over a test evaluator on an empty board."""

import pytest

from engine.board.position import Position
from engine.evaluator_fakes import HashEvaluator
from engine.search.params import SearchParams
from engine.search.searcher import Searcher


@pytest.fixture
def make():
    def make_searcher(
        size=7, height=None, *, evaluator=None, seed=1, rules="chinese-ogs", komi=7.5, moves=(), **params
    ):
        searcher = Searcher(evaluator or HashEvaluator(), SearchParams(**params), seed=seed)
        position = Position(size, height, rules=rules, komi=komi)
        for action in moves:
            position.play(action)
        searcher.set_position(position)
        return searcher, position

    return make_searcher
