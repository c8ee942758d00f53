"""Positions of few stones that are symmetric share an evaluation, turned; others, and searches with a seed, do not."""

import numpy as np
import plain_search
import pytest

from engine.board.position import Position
from engine.board.symmetry import transform_ownership, transform_policy
from engine.evaluator_fakes import HashEvaluator, RecordingEvaluator, TwoStepEvaluator
from engine.search.params import SearchParams
from engine.search.root import Limits, RootOptions
from engine.search.searcher import Searcher

PLAIN = {"solver": False, "conservative_pass": False, "tree_reuse": False}


def turned(actions, size, symmetry):
    """Return actions as they lie in a symmetry."""
    width, height = size
    table = transform_policy(np.arange(width * height + 1, dtype=np.float32), width, height, symmetry)
    where = {int(action): place for place, action in enumerate(table)}
    return [where[action] for action in actions]


def position_of(actions, size, **options):
    position = Position(*size, **options)
    for action in actions:
        position.play(action)
    return position


def priors_of(searcher, position):
    searcher.set_position(position)
    result = searcher.search(Limits(visits=1), root=RootOptions(ownership=True))
    policy = np.zeros(position.area + 1, np.float32)
    for move in result.moves:
        policy[move.action] = move.prior
    return policy, result.ownership, result.stats


@pytest.mark.parametrize("size", [(9, 9), (7, 5)])
def test_every_symmetry_of_a_position_has_one_evaluation(size):
    actions = [1, 12, 3, size[0] * size[1], 20, 17, 9]
    evaluator = RecordingEvaluator(HashEvaluator())
    searcher = Searcher(evaluator, SearchParams(**PLAIN))
    policy, owner, _ = priors_of(searcher, position_of(actions, size))
    assert len(evaluator.calls) == 1 and policy.std() > 0 and np.std(owner) > 0
    for symmetry in range(8 if size[0] == size[1] else 4):
        found, owned, stats = priors_of(searcher, position_of(turned(actions, size, symmetry), size))
        assert stats.cache_hits == 1 and len(evaluator.calls) == 1
        np.testing.assert_array_equal(transform_policy(found, *size, symmetry, inverse=True), policy)
        owned = np.asarray(owned, np.float32).reshape(-1)
        back = transform_ownership(owned, *size, symmetry, inverse=True)
        np.testing.assert_allclose(back, np.asarray(owner).reshape(-1), atol=1e-4)


def test_what_is_evaluated_is_the_position_turned():
    """The answer is that of the net for one of the turns of the position, brought back."""
    actions = [1, 12, 3, 81, 20, 17, 9]
    position = position_of(actions, (9, 9))
    policy, _, _ = priors_of(Searcher(HashEvaluator(), SearchParams(**PLAIN)), position)
    alone = []
    for symmetry in range(8):
        fixed = SearchParams(**PLAIN, cache_symmetric=False, symmetry_index=symmetry)
        alone.append(priors_of(Searcher(HashEvaluator(), fixed), position)[0])
    assert sum(np.array_equal(policy, other) for other in alone) == 1


def test_a_ko_is_turned_with_the_stones():
    """A ko that bans another point is another position, though the stones are the same."""
    size = (7, 7)
    stones = [1, 2, 7, 10, 15, 16, 9, 8]  # W takes 9 by 8: B may not take back at 9
    taken = position_of(stones, size, rules="japanese")
    assert not taken.is_legal(9)
    evaluator = RecordingEvaluator(HashEvaluator())
    searcher = Searcher(evaluator, SearchParams(**PLAIN))
    policy, _, _ = priors_of(searcher, taken)
    for symmetry in range(8):
        other = position_of(turned(stones, size, symmetry), size, rules="japanese")
        found, _, stats = priors_of(searcher, other)
        assert stats.cache_hits == 1
        np.testing.assert_array_equal(transform_policy(found, *size, symmetry, inverse=True), policy)
    free = position_of([*stones, 48, 47, 49, 49], size, rules="japanese")
    assert free.is_legal(9)
    assert priors_of(searcher, free)[2].cache_hits == 0


@pytest.mark.parametrize(
    ("params", "seed"),
    [
        ({"cache_symmetric": False}, None),
        ({"cache_ignore_history": False}, None),
        ({"symmetry": "random"}, None),
        ({}, 7),
    ],
)
def test_where_nothing_is_shared(params, seed):
    searcher = Searcher(HashEvaluator(), SearchParams(**PLAIN, **params), seed=seed)
    actions = [1, 12, 3, 30]
    priors_of(searcher, position_of(actions, (9, 9)))
    assert priors_of(searcher, position_of(turned(actions, (9, 9), 2), (9, 9)))[2].cache_hits == 0


def test_many_stones_are_not_looked_at():
    actions = [i for i in range(0, 81, 2) if i not in (40, 44)][:34]
    searcher = Searcher(HashEvaluator(), SearchParams(**PLAIN))
    priors_of(searcher, position_of(actions, (9, 9)))
    assert priors_of(searcher, position_of(turned(actions, (9, 9), 1), (9, 9)))[2].cache_hits == 0
    assert priors_of(searcher, position_of(actions, (9, 9)))[2].cache_hits == 1


def test_a_search_from_the_empty_board_asks_less():
    found = []
    for shared in (False, True):
        params = SearchParams(cache_symmetric=shared, batch_size=1, **plain_search.PLAIN)
        searcher = Searcher(TwoStepEvaluator(HashEvaluator()), params)
        searcher.set_position(Position(9))
        found.append(searcher.search(Limits(visits=400)).stats.evaluations)
        assert searcher.in_flight == 0
    assert found[1] < 0.7 * found[0]
