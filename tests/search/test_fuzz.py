"""Random games on random boards under random rules and settings: whatever is asked, the tree stays sound."""

import numpy as np
import pytest

from engine.board.position import Position
from engine.evaluator_fakes import HashEvaluator, TwoStepEvaluator
from engine.search.params import SearchParams
from engine.search.root import Limits, MoveLimit, RootOptions
from engine.search.searcher import Searcher

RULES = (
    "tromp-taylor", "chinese", "chinese-ogs", "japanese", "korean", "stone-scoring", "aga", "aga-button", "bga",
    "new-zealand",
)


def random_options(rng, color, area):
    limits = []
    if rng.random() < 0.3:
        actions = tuple(int(a) for a in rng.choice(area + 1, size=min(3, area), replace=False))
        limits.append(MoveLimit(int(rng.integers(1, 3)), actions, int(rng.integers(1, 5))))
    return RootOptions(
        avoid=tuple(limits), noise=rng.random() < 0.2, ownership=rng.random() < 0.3,
        moves_ownership=rng.random() < 0.1, temperature=float(rng.choice([0.0, 0.0, 1.0])),
        policy_temperature=float(rng.choice([1.0, 1.0, 1.3])),
        wide_root_noise=float(rng.choice([0.0, 0.0, 0.4])))


def check(searcher, result, position, color):
    assert searcher.in_flight == 0
    assert result.visits >= 1
    children = sum(info.edge_visits for info in result.moves)
    if result.proven:  # visits from before it was the root ended here once it was proven
        assert children < result.visits
    else:
        assert children + 1 == result.visits
    assert abs(result.policy_target.sum() - 1.0) < 1e-5
    legal = position.legal_mask(color)
    assert all(legal[info.action] for info in result.moves) and legal[result.chosen] and legal[result.best_action]
    figures = [value for info in result.moves for value in (info.winrate, info.utility, info.lead, info.score_stdev)]
    assert np.isfinite(figures).all()
    assert all(0.0 <= info.winrate <= 1.0 for info in result.moves)
    assert all(0.1 <= info.weight / info.edge_visits <= 8.00001 for info in result.moves if info.edge_visits)


def play_a_game(seed, graph):
    rng = np.random.default_rng(seed)
    width, height = (int(n) for n in rng.integers(2, 10, size=2))
    if rng.random() < 0.5:
        height = width
    rules = str(rng.choice(RULES))
    position = Position(width, height, rules=rules, komi=float(rng.integers(-20, 20)) / 2)
    evaluator = HashEvaluator(seed=seed, spread=int(rng.choice([0, 3, 12])), errors=seed % 2 > 0)
    params = SearchParams(
        batch_size=int(rng.choice([0, 1, 3, 8])), symmetry=str(rng.choice(["fixed", "random", "average"])),
        cache_memory=int(rng.choice([0, 1])), tree_memory=1, stop_when_proven=bool(rng.random() < 0.5),
        solver=bool(rng.random() < 0.8), virtual_loss=float(rng.choice([0.0, 1.0])), graph=graph,
        uncertainty=seed % 3 > 0)
    searcher = Searcher(
        TwoStepEvaluator(evaluator) if rng.random() < 0.5 else evaluator, params,
        seed=seed if rng.random() < 0.5 else None)
    for _ in range(12):
        color = position.to_play if rng.random() < 0.9 else 3 - position.to_play
        searcher.set_position(position, color)
        options = random_options(rng, color, position.area)
        try:
            result = searcher.search(Limits(visits=int(rng.integers(1, 150))), root=options)
        except Exception as error:
            assert "no legal move" in str(error)
            continue
        check(searcher, result, position, color)
        move = result.chosen if rng.random() < 0.8 else int(rng.choice(np.flatnonzero(position.legal_mask(color))))
        position.play(move, color)
        if rng.random() < 0.1:
            position.undo()


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_random_games_keep_the_tree_sound(seed, graph):
    play_a_game(seed, graph)


@pytest.mark.slow
def test_many_random_games_keep_the_tree_sound():
    for seed in range(100, 400):
        play_a_game(seed, seed % 2 == 1)
