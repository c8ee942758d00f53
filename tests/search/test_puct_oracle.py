"""The tree against the plain Python PUCT of tests/oracles/puct_oracle.py: same visits everywhere, same values."""

import pytest
from plain_search import PLAIN
from puct_oracle import Tree
from random_play import random_position

from engine.evaluator_fakes import HashEvaluator
from engine.search.params import SearchParams
from engine.search.root import Limits
from engine.search.searcher import Searcher

CASES = [
    # width, height, rules, komi, net seed, moves already played, visits
    (2, 2, "tromp-taylor", 0.5, 0, 0, 300),
    (2, 2, "tromp-taylor", 1.0, 1, 0, 300),
    (3, 3, "tromp-taylor", 0.0, 2, 0, 400),
    (3, 3, "tromp-taylor", 8.5, 3, 2, 400),
    (3, 2, "chinese", 0.5, 4, 0, 250),
    (4, 4, "aga", 3.5, 5, 3, 250),
    (5, 5, "chinese-ogs", 7.5, 6, 0, 250),
    (5, 5, "tromp-taylor", 24.5, 7, 6, 250),
    (5, 5, "japanese", 2.5, 8, 4, 200),
    (5, 4, "chinese", -3.5, 9, 5, 200),
    (7, 7, "new-zealand", 9.0, 10, 8, 150),
    (9, 9, "chinese-ogs", 7.0, 11, 20, 120),
]


@pytest.mark.parametrize(("width", "height", "rules", "komi", "seed", "n_moves", "visits"), CASES)
@pytest.mark.parametrize("changes", [{}, PLAIN])
def test_the_tree_is_the_oracles(width, height, rules, komi, seed, n_moves, visits, changes):
    position = random_position(width, height, rules, komi, n_moves, seed)
    params = SearchParams(batch_size=1, conservative_pass=False, **changes)
    evaluator = HashEvaluator(seed=seed, spread=4)
    oracle = Tree(evaluator, params, position, position.to_play).search(visits)
    searcher = Searcher(evaluator, params, seed=1)
    searcher.set_position(position)
    result = searcher.search(Limits(visits=visits))

    assert result.visits == oracle.visits
    assert {m.action: m.edge_visits for m in result.moves} == {a: c.visits for a, c in oracle.children.items()}
    assert result.proven == oracle.proven
    for move in result.moves:
        child = oracle.children[move.action]
        assert move.visits == child.visits
        assert move.utility == pytest.approx(-child.sums[0] / child.visits, abs=1e-6)
        assert move.score_mean == pytest.approx(-child.sums[3] / child.visits, abs=1e-5)
        assert move.lead == pytest.approx(-child.sums[4] / child.visits, abs=1e-5)
        if move.proven is None:
            assert move.winrate == pytest.approx(0.5 - 0.5 * child.sums[2] / child.visits, abs=1e-6)
        else:
            assert move.proven == {"win": "loss", "loss": "win", "draw": "draw"}[child.proven]
    assert result.utility == pytest.approx(oracle.sums[0] / oracle.visits, abs=1e-6)


@pytest.mark.parametrize("changes", [
    {"solver": False},
    {"stop_when_proven": False},
    {"cpuct": 2.5, "cpuct_log": 0.0, "fpu_reduction": 0.0, "root_fpu_reduction": 0.0},
    {"static_score_utility": 0.0, "dynamic_score_utility": 0.0},
    {"move_count": 3},
    {"policy_temperature": 0.5},
    {"policy_temperature": 2.0, "move_mass": 0.8},
    {"move_mass": 0.5},
    {"move_mass": 0.8, "move_count": 4},
    {"fpu_mean_power": 2.0},
    {"cpuct_stdev_scale": 0.85},
    {"cpuct_stdev_scale": 1.0, "cpuct_stdev_prior": 0.1, "fpu_mean_power": 0.5},
    {"noise_prune_scale": 0.15},
    {"value_weight_power": 0.25},
    {"value_weight_power": 1.5, "noise_prune_scale": 0.5},
    {"bias_share": 0.45},
    {"bias_share": 1.0, "value_weight_power": 0.25, "noise_prune_scale": 0.15, "cpuct_stdev_scale": 0.85,
     "fpu_mean_power": 2.0},
    {"bias_share": 0.5, "solver": False},
    {"static_score_utility": 0.7, "dynamic_score_scale": 0.2, "dynamic_score_zero_weight": 0.0},
])
def test_settings_mean_the_same_to_both(changes):
    position = random_position(3, 3, "tromp-taylor", 0.5, 2, 5)
    params = SearchParams(**PLAIN | {"batch_size": 1, "conservative_pass": False} | changes)
    evaluator = HashEvaluator(seed=3)
    oracle = Tree(evaluator, params, position, position.to_play).search(500)
    searcher = Searcher(evaluator, params, seed=1)
    searcher.set_position(position)
    result = searcher.search(Limits(visits=500))
    assert {m.action: m.edge_visits for m in result.moves} == {a: c.visits for a, c in oracle.children.items()}
    assert result.utility == pytest.approx(oracle.sums[0] / oracle.visits, abs=1e-6)


@pytest.mark.parametrize(("width", "height", "rules", "komi", "seed", "n_moves", "visits"), CASES)
def test_means_and_biases_are_the_oracles(width, height, rules, komi, seed, n_moves, visits):
    position = random_position(width, height, rules, komi, n_moves, seed)
    params = SearchParams(
        batch_size=1, conservative_pass=False, value_weight_power=0.3, noise_prune_scale=0.2, bias_share=0.6,
        cpuct_stdev_scale=0.7, fpu_mean_power=1.5)
    evaluator = HashEvaluator(seed=seed, spread=4)
    oracle = Tree(evaluator, params, position, position.to_play).search(visits)
    searcher = Searcher(evaluator, params, seed=1)
    searcher.set_position(position)
    result = searcher.search(Limits(visits=visits))
    assert {m.action: m.edge_visits for m in result.moves} == {a: c.visits for a, c in oracle.children.items()}
    for move in result.moves:
        child = oracle.children[move.action]
        assert move.utility == pytest.approx(-child.sums[0] / child.visits, abs=1e-6)
        assert move.score_mean == pytest.approx(-child.sums[3] / child.visits, abs=1e-5)
    assert sum(len(nodes) > 1 for nodes in oracle.tree.patterns.values()) >= (5 if width * height in (9, 12, 16) else 0)
