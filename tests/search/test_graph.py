"""Positions that share nodes: against the slow search of tests/oracles/graph_oracle.py, visit by visit."""

import contextlib
import random

import numpy as np
import pytest
from alpha_beta import TooLarge, winner_by_force
from engine.search.graph import table_for_tests
from graph_oracle import Tree
from kept_trees import kept_as_oracle
from plain_search import DEFAULTS, PLAIN
from random_play import random_position

from engine.board.position import Position
from engine.evaluator_fakes import HashEvaluator, TwoStepEvaluator, UniformEvaluator
from engine.search.params import SearchParams
from engine.search.root import Limits, RootOptions
from engine.search.searcher import Searcher

CASES = [
    # width, height, rules, komi, net seed, moves already played, visits
    (3, 3, "tromp-taylor", 0.0, 2, 0, 400),
    (3, 3, "tromp-taylor", 8.5, 3, 2, 400),
    (4, 4, "aga", 3.5, 5, 3, 400),
    (5, 5, "chinese-ogs", 7.5, 6, 0, 300),
    (5, 5, "japanese", 2.5, 8, 4, 300),
    (5, 4, "chinese", -3.5, 9, 5, 300),
    (9, 9, "chinese-ogs", 7.0, 11, 20, 150),
    # Few points, many ways to each position, kos.
    (2, 2, "tromp-taylor", 0.5, 20, 0, 1500),
    (2, 2, "chinese", 0.5, 21, 0, 1500),
    (3, 2, "tromp-taylor", 0.5, 22, 0, 1500),
    (3, 2, "chinese", 1.0, 23, 0, 1500),
    (3, 2, '{"ko":"SITUATIONAL","suicide":true}', 0.5, 24, 0, 1000),
    (3, 3, "japanese", 0.5, 25, 0, 1500),
    (3, 3, "tromp-taylor", 0.5, 26, 7, 1500),
]


def agree(tree, searcher, visits):
    """Search on both ways and compare."""
    root = tree.search(visits)
    before = tree.links, tree.catch_ups, tree.partings
    result = searcher.search(Limits(visits=visits))
    assert result.visits == root.visits
    assert searcher.graph_counts() == before
    assert {m.action: m.edge_visits for m in result.moves} == root.taken
    assert result.proven == root.proven
    assert searcher.in_flight == 0
    for move in result.moves:
        child = root.children[move.action]
        assert move.visits == child.visits
        assert move.utility == pytest.approx(-child.sums[0] / child.visits, abs=1e-6)
        assert move.score_mean == pytest.approx(-child.sums[3] / child.visits, abs=1e-5)
        assert move.proven == {None: None, "win": "loss", "loss": "win", "draw": "draw"}[root.proof(move.action)]
    assert result.utility == pytest.approx(root.sums[0] / root.visits, abs=1e-6)
    return result


def both(position, evaluator, **settings):
    params = SearchParams(**PLAIN | {"batch_size": 1, "conservative_pass": False, "graph": True} | settings)
    searcher = Searcher(evaluator, params, seed=1)
    searcher.set_position(position)
    return Tree(evaluator, params, position, position.to_play), searcher


@pytest.mark.parametrize(("width", "height", "rules", "komi", "seed", "n_moves", "visits"), CASES)
@pytest.mark.parametrize("changes", [{}, {"solver": False}, DEFAULTS])
def test_the_graph_is_the_oracles(width, height, rules, komi, seed, n_moves, visits, changes):
    position = random_position(width, height, rules, komi, n_moves, seed)
    agree(*both(position, HashEvaluator(seed=seed), **changes), visits)


@pytest.mark.parametrize(("rules", "seed", "n_moves", "changes"), [
    ("tromp-taylor", 1, 4, {}),
    ("tromp-taylor", 1, 4, {"value_weight_power": 0.3, "noise_prune_scale": 0.2, "bias_share": 0.5}),
    ("tromp-taylor", 1, 4, {"solver": False, "cpuct_stdev_scale": 0.8, "fpu_mean_power": 1.0}),
    ('{"ko":"SITUATIONAL","suicide":true}', 1, 4, {"cpuct": 4.0}),
    ("new-zealand", 1, 4, {"cpuct": 2.0}),
])
def test_ways_part_where_the_oracles_do(rules, seed, n_moves, changes):
    """3x2 is so small that superko closes moves on one way to a position and not on another."""
    position = random_position(3, 2, rules, 0.5, n_moves, seed)
    tree, searcher = both(position, HashEvaluator(seed=seed, spread=3), stop_when_proven=False, **changes)
    agree(tree, searcher, 1500)
    assert tree.partings


@pytest.mark.parametrize(("width", "height", "rules", "seed", "n_moves", "plies"), [
    (2, 2, "tromp-taylor", 1, 0, 8), (2, 2, "chinese", 2, 3, 8), (3, 2, "tromp-taylor", 3, 0, 8),
    (3, 2, "new-zealand", 4, 2, 8), (3, 3, "chinese", 5, 0, 8), (3, 3, "tromp-taylor", 6, 5, 8),
    (5, 5, "chinese-ogs", 7, 4, 5),
])
def test_what_is_kept_after_moves_is_the_oracles(width, height, rules, seed, n_moves, plies):
    position = random_position(width, height, rules, 0.5, n_moves, seed)
    evaluator = HashEvaluator(seed=seed, spread=3)
    tree, searcher = both(position, evaluator)

    def compare(tree, searcher):
        tree.links = tree.catch_ups = tree.partings = 0
        return agree(tree, searcher, 400)

    kept = kept_as_oracle(compare, tree, searcher, position, evaluator, plies=plies, seed=seed)
    assert kept >= 2


def test_two_orders_of_moves_share_their_visits(make):
    for graph in (False, True):
        searcher, _ = make(3, evaluator=UniformEvaluator(), graph=graph, batch_size=1, cache_memory=0, cpuct=2.0)
        result = searcher.search(Limits(visits=2000))
        links, catch_ups, partings = searcher.graph_counts()
        assert result.stats.evaluations + result.stats.terminal_visits + links + catch_ups == 2000
        assert (links > 100 and catch_ups > 100) if graph else (links, catch_ups, partings) == (0, 0, 0)
        assert sum(move.edge_visits for move in result.moves) + 1 == 2000


def test_a_graph_comes_to_what_a_tree_comes_to(make):
    """Without proofs, so that winrate and ownership are means over visits in both."""
    results = []
    for graph in (False, True):
        searcher, _ = make(
            3, 2, rules="tromp-taylor", komi=0.5, evaluator=UniformEvaluator(), graph=graph, batch_size=4,
            solver=False, cpuct=2.0, **PLAIN)
        results.append(searcher.search(Limits(visits=60000), root=RootOptions(ownership=True)))
        assert (searcher.graph_counts()[0] > 1000) == graph
    tree, graph = results
    assert graph.winrate == pytest.approx(tree.winrate, abs=0.04) and tree.winrate < 0.4
    assert graph.ownership == pytest.approx(tree.ownership, abs=0.06) and tree.ownership.mean() < -0.15


def test_ownership_is_the_mean_over_visits_where_nothing_is_shared(make):
    figures = []
    for graph in (False, True):
        searcher, _ = make(9, graph=graph, batch_size=4)
        result = searcher.search(Limits(visits=300), root=RootOptions(ownership=True, moves_ownership=True))
        assert searcher.graph_counts()[0] == 0
        figures.append((result.ownership, result.ownership_stdev, result.moves[0].ownership, result.winrate))
    for tree, graph in zip(*figures, strict=True):
        assert graph == pytest.approx(tree, abs=1e-6)


@pytest.mark.parametrize("seed", range(24))
def test_proofs_are_what_alpha_beta_says(seed):
    """Also of trees kept after moves, where ways have parted: what superko closes differs from way to way."""
    rng = np.random.default_rng(seed)
    width, height = [(2, 2), (3, 2), (3, 3)][seed % 3]
    rules = [
        "tromp-taylor", '{"ko":"SITUATIONAL","suicide":false}', '{"ko":"SITUATIONAL","suicide":true}'][seed // 3 % 3]
    n_moves = int(rng.integers(width * height // 2, width * height + 2))
    position = random_position(width, height, rules, float(rng.integers(-3, 8)) / 2, n_moves, seed)
    evaluator = UniformEvaluator() if seed % 2 else HashEvaluator(seed=seed, spread=3)
    searcher = Searcher(
        evaluator, SearchParams(graph=True, batch_size=1 + seed % 4, cpuct=2.0, stop_when_proven=False), seed=seed)
    for _ in range(5):
        searcher.set_position(position)
        result = searcher.search(Limits(visits=1500))
        after = [position.copy() for _ in result.moves]
        for move, copy in zip(result.moves, after, strict=True):
            copy.play(move.action)
        said = [result.proven, *({"win": "loss", "loss": "win"}.get(move.proven, move.proven) for move in result.moves)]
        for proven, there in zip(said, [position, *after], strict=True):
            if proven and not there.ended:
                with contextlib.suppress(TooLarge):
                    assert proven == winner_by_force(there, 2000)
        position = after[int(rng.integers(len(after)))]
        if position.ended:
            break


@pytest.mark.parametrize("two_steps", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_asked_the_graph_stays_sound(seed, two_steps):
    """Little memory, batches up to 16, moves played, evaluations that fail: nothing stays in flight, counts add up."""
    rng = np.random.default_rng(seed)
    rules = ["tromp-taylor", "chinese", "new-zealand", "japanese"][seed % 4]
    position = Position(int(rng.integers(2, 6)), int(rng.integers(2, 6)), rules=rules, komi=0.5)
    evaluator = Failing(UniformEvaluator() if seed % 3 else HashEvaluator(seed=seed, spread=2))
    searcher = Searcher(
        TwoStepEvaluator(evaluator) if two_steps else evaluator,
        SearchParams(graph=True, batch_size=(1, 2, 5, 16)[seed // 2], tree_memory=1, cpuct=2.0, cache_memory=seed % 2,
                     solver=seed % 3 > 0, stop_when_proven=False),
        seed=seed)
    full = 0
    for _ in range(8):
        searcher.set_position(position)
        evaluator.after = int(rng.integers(1, 40))
        with contextlib.suppress(Broken):
            searcher.search(Limits(visits=searcher.visits + 500))
        assert searcher.in_flight == 0
        evaluator.after = None
        result = searcher.search(Limits(visits=int(rng.choice([300, 1000, 10000]))))
        full += result.stats.stopped_by == "memory"
        assert searcher.in_flight == 0
        assert searcher.tree_bytes <= 1 << 20
        edges = sum(move.edge_visits for move in result.moves)
        assert edges + 1 == result.visits or (result.proven and edges < result.visits)
        for move in result.moves:
            line, color = position.copy(), position.to_play
            for action in move.pv:
                line.play(action, color)
                color = 3 - color
        position.play(int(rng.choice([move.action for move in result.moves])))
        if position.ended:
            break
    assert full or position.area > 4


class Broken(Exception):
    """What a failing evaluator raises."""


class Failing:
    """An evaluator that fails once after so many batches."""

    def __init__(self, inner):
        self.inner, self.after = inner, None
        self.encoding, self.max_batch, self.name = inner.encoding, inner.max_batch, inner.name
        self.supports_size, self.allocate = inner.supports_size, inner.allocate

    def evaluate(self, *inputs, ownership=False):
        if self.after is not None:
            self.after -= 1
            if self.after < 0:
                self.after = None
                raise Broken
        return self.inner.evaluate(*inputs, ownership=ownership)


def test_the_table_is_a_dict():
    rng = random.Random(1)
    known, steps, expected = {}, [], []
    for _ in range(6000):
        if rng.random() < 0.002:
            stay = {node for node in known.values() if rng.random() < 0.7}
            steps.append(("sweep", stay))
            expected.append(None)
            known = {key: node for key, node in known.items() if node in stay}
            continue
        key = rng.choice([rng.randrange(1, 1 << 64), rng.randrange(1, 400), *known] if rng.random() < 0.1
                         else [rng.randrange(1, 400) << 32])
        steps.append(("find", key))
        expected.append(known.get(key, 0))
        if key in known and rng.random() < 0.3:
            steps.append(("remove", key))
            expected.append(None)
            del known[key]
        elif key not in known:
            known[key] = rng.randrange(1, 1 << 16)
            steps.append(("enter", key, known[key]))
            expected.append(0)
    assert table_for_tests(steps, 1 << 30) == expected
    assert len(known) > 100


def test_a_full_table_says_so_and_keeps_what_it_has():
    steps = [("enter", key << 32, key) for key in range(1, 400)]
    steps += [("find", 7 << 32), ("sweep", set(range(1, 300))), ("bytes",)]
    *entered, again, _, held = table_for_tests(steps, 5000)
    assert entered[:192] == [0] * 192 and set(entered[192:]) == {-1}
    assert again == 7
    assert held == 4096
