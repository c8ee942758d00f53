"""Evaluations that count by how sure the net is: against the slow searches of tests/oracles, and by hand."""

import dataclasses

import graph_oracle
import numpy as np
import puct_oracle
import pytest
from engine.search.mean import weight_for_tests
from engine.search.utility import slope_for_tests, utility_for_tests
from kept_trees import kept_as_oracle
from plain_search import PLAIN
from random_play import random_position

from engine.analysis.overrides import as_layer, read_overrides
from engine.board.position import Position
from engine.evaluator_fakes import HashEvaluator, RecordingEvaluator, TwoStepEvaluator
from engine.search.params import SearchParams
from engine.search.root import Limits, RootOptions
from engine.search.searcher import Searcher

CASES = [
    # width, height, rules, komi, net seed, moves already played, visits
    (2, 2, "tromp-taylor", 0.5, 0, 0, 300),
    (3, 3, "tromp-taylor", 0.0, 2, 0, 400),
    (3, 2, "chinese", 0.5, 4, 0, 250),
    (4, 4, "aga", 3.5, 5, 3, 250),
    (5, 5, "tromp-taylor", 24.5, 7, 6, 250),
    (5, 5, "japanese", 2.5, 8, 4, 200),
    (9, 9, "chinese-ogs", 7.0, 11, 20, 120),
]
ALL = {"value_weight_power": 0.3, "noise_prune_scale": 0.2, "bias_share": 0.6, "cpuct_stdev_scale": 0.7,
       "fpu_mean_power": 1.5}
ON = {"batch_size": 1, "conservative_pass": False, "uncertainty": True}


def agree(tree, searcher, visits):
    """Search on both ways and compare."""
    root = tree.search(visits)
    result = searcher.search(Limits(visits=visits))
    assert result.visits == root.visits
    assert {m.action: m.edge_visits for m in result.moves} == root.taken
    assert result.proven == root.proven
    for move in result.moves:
        child = root.children[move.action]
        assert move.visits == child.visits
        assert move.utility == pytest.approx(-child.sums[0] / child.visits, abs=1e-6)
        assert move.score_mean == pytest.approx(-child.sums[3] / child.visits, abs=1e-5)
        assert move.weight == pytest.approx(root.counted(move.action), rel=1e-6)
    assert result.utility == pytest.approx(root.sums[0] / root.visits, abs=1e-6)
    return root, result


def both(kind, position, evaluator, **settings):
    params = SearchParams(**PLAIN | ON | settings)
    searcher = Searcher(evaluator, params, seed=1)
    searcher.set_position(position)
    return kind(evaluator, params, position, position.to_play), searcher


@pytest.mark.parametrize(("width", "height", "rules", "komi", "seed", "n_moves", "visits"), CASES)
@pytest.mark.parametrize("changes", [{}, ALL, {"solver": False}])
def test_the_tree_is_the_oracles(width, height, rules, komi, seed, n_moves, visits, changes):
    position = random_position(width, height, rules, komi, n_moves, seed)
    root, _ = agree(*both(puct_oracle.Tree, position, HashEvaluator(seed=seed, errors=True), **changes), visits)
    assert len({child.mean_weight for child in root.children.values()}) > 1


@pytest.mark.parametrize("changes", [
    {"uncertainty_coeff": 2.0, "uncertainty_max_weight": 3.0},
    {"uncertainty_exponent": 0.5},
    {"uncertainty_exponent": 2.0, "uncertainty_max_weight": 50.0},
    {"uncertainty_exponent": 0.0},
    {"win_loss_utility": 0.3, "static_score_utility": 0.7, "dynamic_score_scale": 0.2},
    {"win_loss_utility": 0.0},
    {"stop_when_proven": False},
    {"stop_when_proven": False, "noise_prune_scale": 0.3, "value_weight_power": 0.5},
    {"move_count": 3, "cpuct": 2.5},
])
@pytest.mark.parametrize("kind", [puct_oracle.Tree, graph_oracle.Tree])
def test_settings_mean_the_same_to_both(changes, kind):
    position = random_position(3, 3, "tromp-taylor", 0.5, 2, 5)
    settings = changes | {"graph": kind is graph_oracle.Tree}
    agree(*both(kind, position, HashEvaluator(seed=3, errors=True), **settings), 500)


@pytest.mark.parametrize(("width", "height", "rules", "seed", "n_moves", "plies"), [
    (2, 2, "tromp-taylor", 1, 0, 8), (3, 2, "tromp-taylor", 3, 0, 8), (3, 2, "new-zealand", 4, 2, 8),
    (3, 3, "chinese", 5, 0, 8), (3, 3, "tromp-taylor", 6, 5, 8), (5, 5, "chinese-ogs", 7, 4, 5),
])
@pytest.mark.parametrize("changes", [{}, {"value_weight_power": 0.3, "noise_prune_scale": 0.2}])
def test_what_is_kept_after_moves_is_the_graph_oracles(width, height, rules, seed, n_moves, plies, changes):
    """The centre of the score moves with the root, so weights are made anew."""
    position = random_position(width, height, rules, 0.5, n_moves, seed)
    evaluator = HashEvaluator(seed=seed, spread=3, errors=True)
    tree, searcher = both(graph_oracle.Tree, position, evaluator, graph=True, **changes)

    def compare(tree, searcher):
        return agree(tree, searcher, 400)[1]

    kept = kept_as_oracle(compare, tree, searcher, position, evaluator, plies=plies, seed=seed)
    assert kept >= 2


def test_a_kept_tree_keeps_its_weights(make):
    """Where the centre stays, nothing changes; garbage collection moves no weight."""
    searcher, position = make(
        5, batch_size=2, dynamic_score_utility=0.0, uncertainty=True, evaluator=HashEvaluator(errors=True), **PLAIN)
    move = searcher.search(Limits(visits=300)).moves[0]
    position.play(move.action)
    assert searcher.set_position(position)
    kept = searcher.search(Limits(visits=1))
    assert kept.utility == pytest.approx(-move.utility, abs=1e-7)
    assert kept.score_mean == pytest.approx(-move.score_mean, abs=1e-5)


@pytest.mark.parametrize("changes", [{"noise_prune_scale": 0.2}, {"graph": True}, ALL])
def test_nets_that_do_not_say_weigh_one(changes):
    """All figures are to the last bit those without the setting, ends of games and proofs included."""
    signatures = []
    for uncertainty in (False, True):
        for size, moves in ((3, 2), (9, 20)):
            position = random_position(size, size, "tromp-taylor", 0.5, moves, 5)
            params = SearchParams(batch_size=4, uncertainty=uncertainty, stop_when_proven=False, **changes)
            searcher = Searcher(HashEvaluator(), params, seed=1)
            searcher.set_position(position)
            result = searcher.search(Limits(visits=2000))
            assert size > 3 or result.stats.terminal_visits > 50
            signatures.append((size, searcher.signature()))
    assert len(set(signatures)) == 2


def test_a_hit_of_the_cache_is_an_evaluation(make):
    """With and without ownership, in turned positions too."""
    signatures = set()
    for memory in (0, 8):
        for root in (RootOptions(), RootOptions(ownership=True)):
            evaluator = RecordingEvaluator(HashEvaluator(errors=True))
            searcher, position = make(
                7, batch_size=2, uncertainty=True, cache_memory=memory, evaluator=evaluator, solver=False)
            for moves in ([], [24], []):
                place = position.copy()
                for action in moves:
                    place.play(action)
                searcher.set_position(place)
                searcher.drop_tree()
                result = searcher.search(Limits(visits=300), root=root)
            assert (result.stats.cache_hits > 250) == (memory > 0)
            signatures.add(searcher.signature())
    assert len(signatures) == 1


def test_symmetric_positions_share_errors(make):
    evaluator = HashEvaluator(errors=True)
    searcher = Searcher(evaluator, SearchParams(uncertainty=True, conservative_pass=False))
    weights = []
    for corner in (0, 8, 72, 80):
        position = Position(9)
        position.play(corner)
        searcher.set_position(position)
        searcher.drop_tree()
        weights.append(sorted(move.weight for move in searcher.search(Limits(visits=2)).moves))
    assert weights.count(weights[0]) == 4


def test_symmetries_average_their_errors(make):
    """A root's second visit: what its child weighs comes from the mean of eight errors."""
    evaluator = RecordingEvaluator(HashEvaluator(errors=True))
    searcher, _ = make(5, komi=0.5, uncertainty=True, symmetry="average", evaluator=evaluator, batch_size=1)
    move = searcher.search(Limits(visits=2)).moves[0]
    e = evaluator.calls[-1].evaluation
    value_error, score_error = e.shortterm_value_error[:8].mean(), e.shortterm_score_error[:8].mean()
    root = evaluator.calls[0].evaluation
    center = 0.8 * float(root.score_mean[:8].mean())
    slope = slope_for_tests(float(e.score_mean[:8].mean()), 8.0, (1.0, 0.1, 0.3, 10.0, 3.75), center, 2)
    assert move.weight == pytest.approx(weight_for_tests(value_error + slope * score_error, 0.25, 1.0, 8.0), rel=1e-5)


@pytest.mark.parametrize("stdev", [0.0, 3.0, 20.0])
@pytest.mark.parametrize(("mean", "center", "color"), [(0.0, 0.0, 1), (7.0, 5.0, 1), (-12.0, 5.0, 2)])
def test_the_slope_is_the_utilitys(mean, stdev, center, color):
    weights = (1.0, 0.1, 0.3, 38.0, 14.25)
    seen = center if color == 1 else -center  # utility_for_tests is the root color's
    rise = [utility_for_tests(0.3, mean + step, stdev, weights, seen) for step in (-0.01, 0.01)]
    assert slope_for_tests(mean, stdev, weights, center, color) == pytest.approx((rise[1] - rise[0]) / 0.02, rel=1e-4)


def test_weights_by_hand():
    assert weight_for_tests(0.0, 0.25, 1.0, 8.0) == pytest.approx(8.0)
    assert weight_for_tests(0.25 - 0.25 / 8, 0.25, 1.0, 8.0) == pytest.approx(1.0)
    assert weight_for_tests(1.0, 0.25, 1.0, 8.0) == pytest.approx(0.25 / 1.03125)
    assert weight_for_tests(0.5, 0.25, 2.0, 1.0) == pytest.approx(0.5)


class Told:
    """An evaluator whose errors are set from outside, all positions alike."""

    def __init__(self, inner, value_error, score_error):
        self.inner, self.errors = inner, (value_error, score_error)
        self.encoding, self.max_batch, self.name = inner.encoding, inner.max_batch, inner.name
        self.supports_size, self.allocate = inner.supports_size, inner.allocate

    def evaluate(self, spatial, globals_, *, ownership=False):
        value, score = (np.full(len(spatial), e, dtype=np.float32) for e in self.errors)
        return dataclasses.replace(
            self.inner.evaluate(spatial, globals_, ownership=ownership), shortterm_value_error=value,
            shortterm_score_error=score)


@pytest.mark.parametrize("kind", [puct_oracle.Tree, graph_oracle.Tree])
def test_what_is_certain_counts_most(kind):
    """A net that is sure of nothing: what the rules decide outweighs it thirty to one."""
    position = random_position(3, 3, "tromp-taylor", 0.5, 5, 5)
    position.play(position.area)
    evaluator = Told(HashEvaluator(seed=3), 1.0, 0.0)
    tree, searcher = both(kind, position, evaluator, graph=kind is graph_oracle.Tree, stop_when_proven=False)
    _, result = agree(tree, searcher, 600)
    weights = {move.action: move.weight / move.edge_visits for move in result.moves}
    assert weights[position.area] == 8.0  # the second pass
    assert 0.25 < min(weights.values()) < 4.0


def test_minus_one_is_silence(make):
    told, _ = make(5, evaluator=Told(HashEvaluator(), -1.0, -1.0), uncertainty=True, batch_size=2)
    silent, _ = make(5, evaluator=HashEvaluator(), uncertainty=True, batch_size=2)
    for searcher in (told, silent):
        searcher.search(Limits(visits=500))
    assert told.signature() == silent.signature()


def test_an_error_that_is_no_number_ends_the_search(make):
    for errors in ((float("nan"), 1.0), (0.1, float("inf"))):
        searcher, _ = make(5, evaluator=Told(HashEvaluator(), *errors), uncertainty=True)
        with pytest.raises(Exception, match="not finite"):
            searcher.search(Limits(visits=10))
        searcher, _ = make(5, evaluator=Told(HashEvaluator(), *errors))
        assert searcher.search(Limits(visits=10)).visits == 10


@pytest.mark.parametrize("graph", [False, True])
def test_batches_and_memory(make, graph):
    """Two batches of eight in flight, little memory, moves played: nothing stays in flight, visits add up."""
    evaluator = TwoStepEvaluator(HashEvaluator(errors=True))
    searcher, position = make(9, evaluator=evaluator, uncertainty=True, batch_size=8, tree_memory=1, graph=graph)
    for _ in range(5):
        result = searcher.search(Limits(playouts=3000))
        assert searcher.in_flight == 0 and searcher.tree_bytes <= 1 << 20
        assert sum(move.edge_visits for move in result.moves) + 1 == result.visits
        assert all(0.1 * move.edge_visits < move.weight < 8.01 * move.edge_visits for move in result.moves)
        position.play(result.best_action)
        searcher.set_position(position)


def test_sixteen_bytes_a_node_for_those_who_use_it(make):
    held = []
    for uncertainty in (False, True):
        searcher, _ = make(19, batch_size=8, uncertainty=uncertainty, evaluator=HashEvaluator(errors=True))
        result = searcher.search(Limits(visits=2000))
        held.append(searcher.tree_bytes / result.visits)
    assert held[1] - held[0] < 40 and held[1] < 1740


def test_scanning_all_priors_makes_the_same_tree(make):
    signatures = []
    for full in (False, True):
        searcher, _ = make(7, batch_size=4, uncertainty=True, evaluator=HashEvaluator(errors=True), virtual_loss=0.5)
        searcher.select_everywhere_full(full)
        searcher.search(Limits(visits=800))
        signatures.append(searcher.signature())
    assert signatures[0] == signatures[1]


def test_katagos_names_are_ours():
    names = {"useUncertainty": True, "uncertaintyCoeff": 0.5, "uncertaintyExponent": 1.5, "uncertaintyMaxWeight": 4.0}
    ours = {"uncertainty": True, "uncertainty_coeff": 0.5, "uncertainty_exponent": 1.5, "uncertainty_max_weight": 4.0}
    found = read_overrides(names)
    assert found.search == ours and not found.unknown and not found.other
    assert as_layer({key: str(value) for key, value in names.items()}) == (
        {"search": {key: str(value) for key, value in ours.items()}}, [])
