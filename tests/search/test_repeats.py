"""Same seed, same tree; the cache and the short cut of selection change nothing; what the cache tells apart."""

import pytest

from engine.board.position import Position
from engine.evaluator_fakes import HashEvaluator, RecordingEvaluator, TwoStepEvaluator
from engine.search.params import SearchParams
from engine.search.root import Limits, RootOptions
from engine.search.searcher import Searcher

WEIGHTED = {
    "value_weight_power": 0.25, "noise_prune_scale": 0.15, "bias_share": 0.45, "cpuct_stdev_scale": 0.85,
    "fpu_mean_power": 2.0,
}


def run(make, visits=600, *, two_steps=False, full=False, root=None, **settings):
    evaluator = TwoStepEvaluator(HashEvaluator()) if two_steps else HashEvaluator()
    searcher, _ = make(5, evaluator=evaluator, **settings)
    searcher.select_everywhere_full(full)
    result = searcher.search(Limits(visits=visits), root=root or RootOptions())
    return searcher.signature(), result


@pytest.mark.parametrize("settings", [
    {"batch_size": 1},
    {"batch_size": 8},
    {"batch_size": 8, "two_steps": True},
    {"batch_size": 0},
    {"batch_size": 0, "two_steps": True},
    {"batch_size": 4, "symmetry": "random"},
    {"batch_size": 4, "root": RootOptions(noise=True)},
    {"batch_size": 4, "root": RootOptions(wide_root_noise=0.3)},
    {"batch_size": 6, "virtual_loss": 1.0, "rules": "tromp-taylor", "komi": 0.5},
    {"batch_size": 4, **WEIGHTED},
    {"batch_size": 0, "two_steps": True, **WEIGHTED},
    {"batch_size": 8, "graph": True, "cpuct": 4.0},
    {"batch_size": 0, "two_steps": True, "graph": True, **WEIGHTED},
])
def test_the_same_seed_grows_the_same_tree(make, settings):
    first, second = run(make, **settings), run(make, **settings)
    assert first[0] == second[0]
    assert [(m.action, m.visits, m.utility) for m in first[1].moves] == [
        (m.action, m.visits, m.utility) for m in second[1].moves]


@pytest.mark.parametrize("settings", [{"symmetry": "random"}, {"root": RootOptions(noise=True)}])
def test_another_seed_grows_another_tree(make, settings):
    assert run(make, seed=1, **settings)[0] != run(make, seed=2, **settings)[0]


@pytest.mark.parametrize("batch_size", [1, 8])
@pytest.mark.parametrize("rules", ["chinese-ogs", "tromp-taylor"])
def test_selection_agrees_with_a_full_scan(make, batch_size, rules):
    settings = {"batch_size": batch_size, "rules": rules, "komi": 0.5, "visits": 1500}
    assert run(make, **settings)[0] == run(make, full=True, **settings)[0]


def test_selection_agrees_with_a_full_scan_with_weighted_means(make):
    assert run(make, batch_size=3, **WEIGHTED)[0] == run(make, full=True, batch_size=3, **WEIGHTED)[0]
    shared = {"batch_size": 3, "graph": True, "cpuct": 4.0, **WEIGHTED}
    assert run(make, **shared)[0] == run(make, full=True, **shared)[0]


@pytest.mark.parametrize("spread", [0, 10])
def test_selection_agrees_with_a_full_scan_whatever_the_priors(spread):
    signatures = set()
    for full in (False, True):
        searcher = Searcher(HashEvaluator(spread=spread), SearchParams(batch_size=3), seed=1)
        searcher.select_everywhere_full(full)
        searcher.set_position(Position(9))
        searcher.search(Limits(visits=1000))
        signatures.add(searcher.signature())
    assert len(signatures) == 1


@pytest.mark.parametrize(("batch_size", "ownership", "two_steps", "graph"), [
    (1, False, False, False), (4, True, False, False), (4, False, True, False), (4, True, True, True)])
def test_the_cache_changes_no_tree(make, batch_size, ownership, two_steps, graph):
    root = RootOptions(ownership=ownership)
    trees, hits = [], []
    for memory in (0, 1, 64):  # none, one that is too small and pushes evaluations out, one that keeps all
        evaluator = TwoStepEvaluator(HashEvaluator()) if two_steps else HashEvaluator()
        searcher, _ = make(19, evaluator=evaluator, cache_memory=memory, batch_size=batch_size, graph=graph)
        for _ in range(2):  # the second time what is still there comes from the cache
            searcher.drop_tree()
            result = searcher.search(Limits(visits=900), root=root)
            trees.append((searcher.signature(), result.ownership.tobytes() if ownership else b""))
        hits.append(result.stats.cache_hits)
        assert searcher.in_flight == 0
    assert len(set(trees)) == 1
    assert hits[0] == 0 < hits[1] < hits[2]
    assert result.stats.evaluations < 10  # three positions can want one bucket of two


def test_without_a_seed_hits_do_not_wait_for_a_batch(make):
    searcher, _ = make(5, seed=None, batch_size=4)
    searcher.search(Limits(visits=1000))
    searcher.drop_tree()
    result = searcher.search(Limits(visits=1000))
    assert result.stats.cache_hits > 100
    assert sum(info.visits for info in result.moves) + 1 == 1000


def evaluations_after(first, second):
    """Search one visit at each position with one cache; return how many evaluations the second one took."""
    evaluator = RecordingEvaluator(HashEvaluator())
    searcher = Searcher(evaluator, SearchParams(cache_ignore_history=first.get("ignore", False)))
    for position in (first["position"], second):
        searcher.set_position(position)
        searcher.search(Limits(visits=1))
    return len(evaluator.calls) - 1


def played(moves, **settings):
    position = Position(5, **settings)
    for color, action in moves:
        position.play(action, color)
    return position


def test_what_the_cache_tells_apart():
    line = [(1, 6), (2, 18), (1, 8), (2, 16)]
    other = [(1, 8), (2, 16), (1, 6), (2, 18)]
    same = {"position": played(line)}
    assert evaluations_after(dict(same), played(line)) == 0
    assert evaluations_after(dict(same), played(other)) == 1                  # recent moves
    assert evaluations_after(dict(same), played(line, komi=6.5)) == 1
    assert evaluations_after(dict(same), played(line, rules="japanese")) == 1
    assert evaluations_after(dict(same), played([*line, (1, 25)])) == 1       # a pass
    ignoring = {"position": played(line), "ignore": True}
    assert evaluations_after(dict(ignoring), played(other)) == 0
    assert evaluations_after(dict(ignoring), played([*line, (1, 25)])) == 1


def test_the_cache_tells_ko_bans_apart():
    """Two ways to one position, the last move a capture in a ko in one of them alone."""
    def position(last):
        p = Position(5, rules="chinese")
        p.set_up([(1, 1), (1, 5), (1, 11), (2, 2), (2, 8), (2, 12), (2, 6)], to_play=1)
        if last == "ko":
            p.play(7, 1)
        else:
            p.set_up([(1, 1), (1, 5), (1, 11), (2, 2), (2, 8), (2, 12), (1, 7)], to_play=2)
        return p

    banned, free = position("ko"), position("set up")
    assert (banned.board() == free.board()).all() and banned.to_play == free.to_play
    assert banned.ko_action is not None and free.ko_action is None
    assert evaluations_after({"position": banned, "ignore": True}, free) == 1


def test_a_seed_switches_the_short_key_off():
    searcher = Searcher(HashEvaluator(), SearchParams(cache_ignore_history=True), seed=1)
    plain = Searcher(HashEvaluator(), SearchParams(cache_ignore_history=False), seed=1)
    for each in (searcher, plain):
        each.set_position(Position(5))
        each.search(Limits(visits=800))
    assert searcher.signature() == plain.signature()
