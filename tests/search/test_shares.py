"""Large batches encoded and expanded by several threads, and several devices under one search: the same trees.

The device here is a fake one with latency: it answers some time after it was asked, in another thread, from buffers of
its own, as a GPU does.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from engine.board.position import Position
from engine.evaluator import Evaluation
from engine.evaluator_fakes import HashEvaluator
from engine.search import flight
from engine.search.params import SearchParams
from engine.search.root import Limits, RootOptions
from engine.search.searcher import Searcher


@pytest.fixture
def threads():
    before = flight.share_threads()
    yield flight.share_threads
    flight.share_threads(before)


def tree_of(**params):
    searcher = Searcher(HashEvaluator(max_batch=256), SearchParams(**{"batch_size": 64, **params}), seed=3)
    position = Position(19, rules="japanese")
    for action in (60, 61, 80, 81, 100, 300):
        position.play(action)
    searcher.set_position(position)
    result = searcher.search(Limits(visits=900), root=RootOptions(ownership=True))
    return searcher.signature(), [(move.action, move.visits) for move in result.moves], searcher.in_flight


@pytest.mark.parametrize("params", [{}, {"symmetry": "random"}, {"symmetry": "average", "batch_size": 20}])
def test_the_tree_does_not_depend_on_the_number_of_threads(threads, params):
    threads(1)
    alone = tree_of(**params)
    for count in (2, 5, 8):
        threads(count)
        assert tree_of(**params) == alone
    assert alone[2] == 0


def test_the_number_of_threads_has_bounds(threads):
    assert threads(0) == 1 and threads(1000) == 8 and threads() == 8


class Device:
    """A fake device: batches wait in its queue, each takes `latency` seconds, one at a time."""

    def __init__(self, name, latency, failing=0):
        self.name, self.latency, self.failing = name, latency, failing
        self.queue = ThreadPoolExecutor(1)
        self.batches = self.rows = 0
        self._inner = HashEvaluator()

    def run(self, spatial, globals_, ownership):
        staged = spatial.copy(), globals_.copy()  # as to pinned memory and on
        time.sleep(self.latency)
        assert np.array_equal(spatial, staged[0]), "the arrays of a batch in flight were written over"
        self.batches += 1
        self.rows += len(spatial)
        if self.batches == self.failing:
            raise RuntimeError("the device is gone")
        return self._inner.evaluate(*staged, ownership=ownership)


class Devices(HashEvaluator):
    """An AsyncEvaluator over fake devices in turn, two batches each."""

    def __init__(self, *devices, preferred_batch=8):
        super().__init__(max_batch=256)
        self.devices, self.in_flight, self.preferred_batch = devices, 2 * len(devices), preferred_batch
        self.flying, self.most, self.tickets = {}, 0, 0
        self.leaves = []

    def submit(self, spatial, globals_, *, ownership=False):
        device = self.devices[self.tickets % len(self.devices)]
        self.flying[self.tickets] = device.queue.submit(device.run, spatial, globals_, ownership), len(spatial)
        self.tickets += 1
        self.most = max(self.most, len(self.flying))
        self.leaves.append(sum(rows for _, rows in self.flying.values()))
        return self.tickets - 1

    def result(self, ticket) -> Evaluation:
        assert ticket == min(self.flying), "results are taken in the order of submission"
        future, _ = self.flying.pop(ticket)
        return future.result()


def search(evaluator, visits, **params):
    searcher = Searcher(evaluator, SearchParams(cache_memory=0, solver=False, **params))
    searcher.set_position(Position(9))
    result = searcher.search(Limits(visits=visits))
    assert searcher.in_flight == 0 and searcher.visits == visits
    return result


def test_a_device_with_latency_is_kept_busy():
    """With two batches in flight the search's own work hides behind the device's, and batches grow to what it takes.

    They do though one of them takes a good part of `batch_seconds`: so does one with a single leaf. By a mean time of a
    row no batch would have more than three leaves.
    """
    device = Device("fake:0", 0.02)
    evaluator = Devices(device, preferred_batch=32)
    result = search(evaluator, 1500, batch_seconds=0.15)
    assert device.rows == result.stats.evaluations and evaluator.most == 2
    assert device.rows / device.batches > 4


def test_a_slow_device_has_a_leaf_in_each_batch():
    """Where one leaf takes longer than batch_seconds, two batches are in flight all the same."""
    device = Device("fake:0", 0.02)
    evaluator = Devices(device, preferred_batch=32)
    search(evaluator, 60, batch_seconds=0.001)
    assert evaluator.most == 2 and max(evaluator.leaves[20:]) <= 4


def test_never_more_leaves_in_flight_than_a_sixteenth_of_the_visits():
    evaluator = Devices(Device("fake:0", 0.001), preferred_batch=64)
    visits = []
    searcher = Searcher(evaluator, SearchParams(cache_memory=0, solver=False))
    searcher.set_position(Position(9))
    inner = evaluator.submit

    def submit(spatial, globals_, *, ownership=False):
        visits.append(searcher.visits)
        return inner(spatial, globals_, ownership=ownership)

    evaluator.submit = submit
    searcher.search(Limits(visits=2000))
    assert max(evaluator.leaves) >= 64 and evaluator.most == 2
    for leaves, seen in zip(evaluator.leaves, visits, strict=True):
        assert leaves <= max(8, seen / 16), (leaves, seen)


def test_several_devices_share_one_search():
    devices = [Device(f"fake:{i}", 0.01) for i in range(3)]
    evaluator = Devices(*devices, preferred_batch=8)
    search(evaluator, 1500)
    assert evaluator.most == 6 and min(d.rows for d in devices) > 0.8 * max(d.rows for d in devices)
    assert max(evaluator.leaves) <= 1500 / 16


def test_a_device_that_fails_leaves_nothing_in_flight():
    evaluator = Devices(Device("fake:0", 0.001), Device("fake:1", 0.001, failing=5))
    searcher = Searcher(evaluator, SearchParams(cache_memory=0))
    searcher.set_position(Position(9))
    with pytest.raises(RuntimeError, match="gone"):
        searcher.search(Limits(visits=2000))
    assert searcher.in_flight == 0 and not evaluator.flying
    searcher.search(Limits(visits=3000))
    assert searcher.visits == 3000


def test_what_is_left_is_taken_in_order():
    """A report that raises ends a search with batches in flight on every device."""
    evaluator = Devices(*(Device(f"fake:{i}", 0.01) for i in range(3)))
    searcher = Searcher(evaluator, SearchParams(cache_memory=0))
    searcher.set_position(Position(9))

    def report(result):
        if evaluator.most == 6:
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        searcher.search(Limits(visits=5000), report=report, report_interval=0.005)
    assert searcher.in_flight == 0 and not evaluator.flying
    searcher.search(Limits(visits=200))


def test_a_stop_reaches_a_search_over_slow_devices():
    evaluator = Devices(Device("fake:0", 0.05), Device("fake:1", 0.05))
    searcher = Searcher(evaluator, SearchParams())
    searcher.set_position(Position(9))
    threading.Timer(0.3, searcher.stop).start()
    assert searcher.search(Limits()).stats.stopped_by == "stop" and not evaluator.flying
