"""Bytes per visit, and a limit that holds: by the tree's own count and by the process's size."""

from pathlib import Path

import pytest

from engine.errors import EngineError
from engine.evaluator_fakes import HashEvaluator
from engine.search.root import Limits, RootOptions

STATM = Path("/proc/self/statm")


@pytest.mark.parametrize(("ownership", "most"), [(False, 1700), (True, 2500)])
@pytest.mark.parametrize("spread", [4, 12])
def test_bytes_per_visit_on_19x19(make, ownership, most, spread):
    searcher, _ = make(19, evaluator=HashEvaluator(spread=spread), batch_size=8)
    result = searcher.search(Limits(visits=3000), root=RootOptions(ownership=ownership))
    assert searcher.tree_bytes / result.visits <= most
    assert result.stats.tree_bytes == searcher.tree_bytes


def test_a_full_memory_ends_the_search(make):
    searcher, position = make(19, tree_memory=3, batch_size=8)
    result = searcher.search(Limits())
    assert result.stats.stopped_by == "memory"
    assert 2.5 * 2**20 < searcher.tree_bytes <= 3 * 2**20
    assert searcher.in_flight == 0
    assert sum(info.edge_visits for info in result.moves) + 1 == result.visits
    position.play(result.best_action)
    assert searcher.set_position(position)
    again = searcher.search(Limits())
    assert again.stats.stopped_by == "memory" and again.stats.playouts > 0
    assert searcher.tree_bytes <= 3 * 2**20


def test_patterns_are_within_the_memory_too(make):
    searcher, position = make(19, tree_memory=3, batch_size=8)
    searcher.search(Limits())
    plain, _ = make(19, tree_memory=3, batch_size=8, bias_share=0.0)
    plain.search(Limits())
    assert 0.8 * plain.visits < searcher.visits < plain.visits
    for _ in range(6):
        position.play(searcher.result().best_action)
        assert searcher.set_position(position)
        assert searcher.search(Limits()).stats.playouts > 0
        assert 2 * 2**20 < searcher.tree_bytes <= 3 * 2**20
    searcher.drop_tree()
    assert searcher.tree_bytes < 4096


@pytest.mark.skipif(not STATM.exists(), reason="needs /proc to read the size of the process")
def test_the_process_grows_by_no_more_than_the_limits(make):
    def resident():
        return int(STATM.read_text().split()[1]) * 4096

    searcher, position = make(19, tree_memory=12, cache_memory=4, batch_size=8)
    searcher.search(Limits(visits=100))
    before = resident()
    for _ in range(3):
        result = searcher.search(Limits(playouts=6000))
        position.play(result.best_action)
        searcher.set_position(position)
    assert resident() - before < (12 + 4 + 6) * 2**20


def test_clearing_gives_the_memory_back(make):
    searcher, _ = make(19)
    searcher.search(Limits(visits=1000))
    searcher.drop_tree()
    assert searcher.visits == 0 and searcher.tree_bytes < 4096
    searcher.clear()
    assert searcher.search(Limits(visits=5)).visits == 5


def test_a_cache_too_large_for_the_machine_is_an_expected_error(make):
    resource = pytest.importorskip("resource")
    searcher, _ = make(5, cache_memory=65536)
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 35, before[1]))
    try:
        with pytest.raises(EngineError, match=r"search\.cache_memory = 65536"):
            searcher.search(Limits(visits=2))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
