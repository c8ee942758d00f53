"""The figures of a report beyond visits and values, for every move of small trees, against report_oracle.py."""

import numpy as np
import pytest
from puct_oracle import Tree
from report_oracle import bounds, ownership, variation

from engine.board.position import Position
from engine.evaluator_fakes import HashEvaluator
from engine.search.params import SearchParams
from engine.search.root import Limits, RootOptions
from engine.search.searcher import Searcher

CASES = [
    # width, height, rules, komi, net seed, moves already played, visits
    (3, 3, "tromp-taylor", 0.5, 2, 0, 300),
    (3, 3, "tromp-taylor", 8.5, 3, 2, 200),
    (3, 2, "chinese", 0.5, 4, 1, 200),
    (4, 4, "aga", 3.5, 5, 3, 200),
    (5, 4, "chinese", -3.5, 9, 5, 150),
    (5, 5, "japanese", 2.5, 8, 4, 150),
    (7, 7, "new-zealand", 9.0, 10, 8, 120),
]
EVERYTHING = RootOptions(ownership=True, moves_ownership=True)


def grown(width, height, rules, komi, seed, n_moves, visits, **changes):
    """Return (result of the search, root of the oracle's tree, settings)."""
    position = Position(width, height, rules=rules, komi=komi)
    rng = np.random.default_rng(seed)
    for _ in range(n_moves):
        position.play(int(rng.choice(np.flatnonzero(position.legal_mask()[:-1]))))
    params = SearchParams(batch_size=1, conservative_pass=False, **changes)
    evaluator = HashEvaluator(seed=seed, spread=4)
    oracle = Tree(evaluator, params, position, position.to_play).search(visits)
    searcher = Searcher(evaluator, params, seed=1)
    searcher.set_position(position)
    result = searcher.search(Limits(visits=visits), root=EVERYTHING)
    assert {m.action: m.edge_visits for m in result.moves} == {a: c.visits for a, c in oracle.children.items()}
    return result, oracle, params


@pytest.mark.parametrize("case", CASES)
def test_ownership(case):
    result, oracle, _ = grown(*case)
    sign = 1 if oracle.color == 1 else -1
    mean, spread = ownership(oracle)
    np.testing.assert_allclose(result.ownership, sign * mean, atol=2e-4)
    np.testing.assert_allclose(result.ownership_stdev, spread, atol=5e-3)
    assert result.ownership_stdev.max() > 0.1
    for move in result.moves:
        mean, _ = ownership(oracle.children[move.action])
        np.testing.assert_allclose(move.ownership, sign * mean, atol=2e-4)


@pytest.mark.parametrize("length", [1, 3, 50])
@pytest.mark.parametrize("case", CASES)
def test_variations(case, length):
    result, oracle, params = grown(*case, pv_length=length)
    for move in result.moves:
        actions, visits = variation(move.action, oracle.children[move.action], params.pv_length)
        assert (move.pv, move.pv_visits, move.pv_edge_visits) == (actions, visits, visits)
    assert max(len(move.pv) for move in result.moves) > min(length, 3) - 1


@pytest.mark.parametrize("case", CASES)
def test_bounds(case):
    result, oracle, params = grown(*case)
    seen = 0
    for move in result.moves:
        node = oracle.children[move.action]
        assert move.weight == node.visits
        if node.proven is None:
            seen += 1
            assert (move.utility_lcb, move.lcb) == pytest.approx(bounds(node, params), abs=1e-5)
        else:
            assert move.utility_lcb == pytest.approx(move.utility) and move.lcb == move.winrate
    assert seen or oracle.proven


def test_visits_add_up_after_a_step(make):
    searcher, position = make(5, batch_size=1)
    first = searcher.search(Limits(visits=200)).moves[0]
    position.play(first.action)
    searcher.set_position(position)
    result = searcher.search(Limits(visits=300))
    assert result.visits == 300 and sum(move.edge_visits for move in result.moves) == 299
    assert all(move.visits == move.edge_visits for move in result.moves)
