"""Looking at the first moves only (move_mass, move_count), and the cache's key where stones' ages are inputs."""

import numpy as np
import pytest

from engine.evaluator_fakes import HashEvaluator
from engine.search.root import Limits, RootOptions


def root_moves(result):
    return {move.action for move in result.moves}


@pytest.mark.parametrize("batch_size", [1, 6])
@pytest.mark.parametrize(
    ("settings", "mass", "count"),
    [({"move_mass": 0.3}, 0.3, 50), ({"move_count": 5}, 9.0, 5), ({"move_mass": 0.3, "move_count": 2}, 0.3, 2)],
)
def test_only_the_first_moves_are_looked_at(make, settings, mass, count, batch_size):
    searcher, _ = make(7, batch_size=batch_size, **settings)
    result = searcher.search(Limits(visits=400))
    policy = np.sort(result.raw.policy)[::-1]
    reach = min(count, int(np.searchsorted(np.cumsum(policy), mass)) + 1)
    order = np.argsort(-result.raw.policy, kind="stable")[:reach]
    assert root_moves(result) == set(order.tolist())  # all of them at so many visits, none besides
    assert result.visits == 400 and searcher.in_flight == 0


def test_both_ways_to_select_give_the_same_tree(make):
    signatures = []
    for full in (False, True):
        searcher, _ = make(6, move_mass=0.4, move_count=6, batch_size=4)
        searcher.select_everywhere_full(full)
        searcher.search(Limits(visits=300))
        signatures.append(searcher.signature())
    assert signatures[0] == signatures[1]


def test_zero_is_off_and_a_whole_mass_leaves_out_what_hardly_counts(make):
    plain, _ = make(5, batch_size=2)
    plain.search(Limits(visits=200))
    off, _ = make(5, batch_size=2, move_mass=0.0, move_count=0)
    off.search(Limits(visits=200))
    assert off.signature() == plain.signature()


def test_moves_left_out_do_not_count_towards_the_limit(make):
    searcher, _ = make(7, move_count=3)
    first = list(np.argsort(-searcher.search(Limits(visits=2)).raw.policy, kind="stable"))
    avoid = tuple(int(action) for action in first[:3])
    result = searcher.search(Limits(visits=200), root=RootOptions(avoid=avoid))
    assert root_moves(result) == {int(action) for action in first[3:6]}
    noisy = searcher.search(Limits(visits=200), root=RootOptions(noise=True))
    assert root_moves(noisy) <= set(avoid)


@pytest.mark.parametrize("encoding", ["darkforest-25", "patent-17", "darkforest-25+katago-v7", "patent-17+katago-v5"])
def test_under_a_seed_the_cache_changes_nothing(make, encoding):
    """The key holds all that an encoding reads, stones' ages too."""
    signatures, hits = [], []
    for memory in (0, 16):
        searcher, _ = make(4, evaluator=PairOfHashes(encoding), batch_size=4, cache_memory=memory, rules="tromp-taylor")
        result = searcher.search(Limits(visits=1500))
        signatures.append(searcher.signature())
        hits.append(result.stats.cache_hits)
    assert signatures[0] == signatures[1] and hits[0] == 0


class PairOfHashes(HashEvaluator):
    """A HashEvaluator that takes pairs of encodings too."""

    def __init__(self, encoding):
        from engine.evaluator import ENCODING_SHAPES

        parts = encoding.split("+")
        super().__init__(parts[0])
        self.encoding = encoding
        self._planes = sum(ENCODING_SHAPES[part][0] for part in parts)
        self._globals = sum(ENCODING_SHAPES[part][1] for part in parts)
