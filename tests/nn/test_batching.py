"""The evaluator that many threads share: right answers, fairness, errors, ends."""

import threading
import time

import numpy as np
import pytest

from engine.board.position import Position
from engine.errors import EngineError
from engine.evaluator import AsyncEvaluator
from engine.evaluator_fakes import HashEvaluator, RecordingEvaluator
from engine.nn.batching import BatchingEvaluator
from engine.search.params import SearchParams
from engine.search.root import Limits
from engine.search.searcher import Searcher


def rows(evaluator, count, size=5, seed=0):
    spatial, globals_ = evaluator.allocate(count, size, size)
    rng = np.random.default_rng(seed)
    spatial[:] = rng.random(spatial.shape) < 0.3
    globals_[:] = rng.random(globals_.shape)
    return spatial, globals_


def run_all(work, count, timeout=30.0):
    """Run work(i) in threads and return what each returned or raised; fail if one hangs."""
    out = [None] * count

    def one(i):
        try:
            out[i] = work(i)
        except BaseException as error:
            out[i] = error

    threads = [threading.Thread(target=one, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout)
        assert not thread.is_alive(), "a client hangs"
    return out


def test_every_client_gets_its_own_rows_in_batches_larger_than_its_own():
    recording = RecordingEvaluator(HashEvaluator(max_batch=32))
    with BatchingEvaluator(recording, wait=5.0) as hub:
        clients = [hub.client() for _ in range(6)]
        assert all(isinstance(client, AsyncEvaluator) for client in clients)

        def work(i):
            for turn in range(5):
                inputs = rows(clients[i], 1 + i % 3, seed=100 * i + turn)
                got = clients[i].evaluate(*inputs, ownership=i % 2 == 0)
                expected = recording.inner.evaluate(*inputs, ownership=True)
                np.testing.assert_array_equal(got.policy_logits, expected.policy_logits)
                np.testing.assert_array_equal(got.value, expected.value)
                if i % 2 == 0:
                    np.testing.assert_array_equal(got.ownership, expected.ownership)
            clients[i].close()

        assert run_all(work, 6) == [None] * 6
        assert hub.rows == 5 * (1 + 2 + 3) * 2
        assert hub.batches < 15 and max(len(call.spatial) for call in recording.calls) == 12


def test_board_sizes_are_not_mixed_and_no_batch_is_too_large():
    recording = RecordingEvaluator(HashEvaluator(max_batch=4))
    with BatchingEvaluator(recording) as hub:

        def work(i):
            with hub.client() as client:
                for turn in range(4):
                    inputs = rows(client, 3, size=5 + i % 2, seed=turn)
                    got = client.evaluate(*inputs)
                    np.testing.assert_array_equal(got.value, recording.inner.evaluate(*inputs).value)

        assert run_all(work, 5) == [None] * 5
        assert max(len(call.spatial) for call in recording.calls) <= 4


def test_searches_over_clients_find_what_they_find_alone():
    params = SearchParams(batch_size=4, two_batches=False)

    def search(evaluator, i):
        searcher = Searcher(evaluator, params, seed=i)
        position = Position(6)
        position.play(i)
        searcher.set_position(position)
        searcher.search(Limits(visits=40))
        return searcher.signature()

    alone = [search(HashEvaluator(), i) for i in range(5)]
    with BatchingEvaluator(HashEvaluator()) as hub:

        def work(i):
            with hub.client() as client:
                return search(client, i)

        assert run_all(work, 5) == alone


class Picky(HashEvaluator):
    """Refuses batches with a row of ones."""

    def evaluate(self, spatial, globals_, *, ownership=False):
        if (spatial == 1.0).all(axis=(1, 2, 3)).any():
            raise EngineError("a row of ones")
        return super().evaluate(spatial, globals_, ownership=ownership)


def test_an_error_reaches_the_client_that_caused_it_alone():
    with BatchingEvaluator(Picky(max_batch=16), wait=5.0) as hub:
        clients = [hub.client() for _ in range(4)]

        def work(i):
            spatial, globals_ = rows(clients[i], 2, seed=i)
            if i == 2:
                spatial[1] = 1.0
            value = clients[i].evaluate(spatial, globals_).value
            np.testing.assert_array_equal(value, HashEvaluator().evaluate(spatial, globals_).value)

        out = run_all(work, 4)
        assert [type(found) for found in out] == [type(None), type(None), EngineError, type(None)]
        assert clients[2].waiting == 0
        for i in (0, 1, 3):
            clients[i].close()
        assert len(clients[2].evaluate(*rows(clients[2], 1)).value) == 1  # and it may go on


def test_nobody_waits_for_a_client_that_ended_or_died_or_was_forgotten():
    with BatchingEvaluator(HashEvaluator(), wait=20.0) as hub:
        ended, forgotten, alive = hub.client(), hub.client(), hub.client()
        ended.close()
        del forgotten
        start = time.monotonic()
        run_all(lambda _: alive.evaluate(*rows(alive, 1)), 1)
        assert time.monotonic() - start < 10
    with BatchingEvaluator(HashEvaluator(), wait=0.01) as hub:
        idle, alive = hub.client(), hub.client()  # one neither asks nor leaves: it costs `wait` a batch
        run_all(lambda _: [alive.evaluate(*rows(alive, 1)) for _ in range(5)], 1)
        assert idle.waiting == 0


def test_the_oldest_request_is_served_first():
    """A client with large batches does not starve: those after it wait for the next batch."""
    started, go = threading.Event(), threading.Event()

    class Slow(RecordingEvaluator):
        def evaluate(self, *args, **kwargs):
            started.set()
            assert go.wait(20)
            return super().evaluate(*args, **kwargs)

    slow = Slow(HashEvaluator(max_batch=4))
    with BatchingEvaluator(slow, wait=0.0) as hub:
        clients = [hub.client() for _ in range(5)]
        tickets = [clients[0].submit(*rows(clients[0], 1))]
        assert started.wait(20)
        for client, count in zip(clients[1:], (2, 4, 1, 1), strict=True):
            tickets.append(client.submit(*rows(client, count)))
        go.set()
        for client, ticket in zip(clients, tickets, strict=True):
            client.result(ticket)
        assert [len(call.spatial) for call in slow.calls] == [1, 2, 4, 2]


def test_two_batches_of_one_client_may_be_under_way():
    with BatchingEvaluator(HashEvaluator()) as hub:
        client = hub.client()
        one, two = rows(client, 2, seed=1), rows(client, 3, seed=2)
        first, second = client.submit(*one), client.submit(*two)
        np.testing.assert_array_equal(client.result(second).value, HashEvaluator().evaluate(*two).value)
        np.testing.assert_array_equal(client.result(first).value, HashEvaluator().evaluate(*one).value)
        with pytest.raises(KeyError):
            client.result(first)


def test_closing_ends_what_waits_with_an_error():
    started, go = threading.Event(), threading.Event()

    class Stuck(HashEvaluator):
        def evaluate(self, *args, **kwargs):
            started.set()
            go.wait(20)
            return super().evaluate(*args, **kwargs)

    hub = BatchingEvaluator(Stuck(max_batch=1), wait=0.0)
    client, other = hub.client(), hub.client()
    first = client.submit(*rows(client, 1))
    assert started.wait(20)
    second = other.submit(*rows(other, 1))
    closer = threading.Thread(target=hub.close)
    closer.start()
    with pytest.raises(EngineError, match="closed"):
        other.result(second)
    go.set()
    closer.join(20)
    assert not closer.is_alive()
    client.result(first)  # was under way
    for call in (hub.client, lambda: client.evaluate(*rows(client, 1))):
        with pytest.raises(EngineError, match="closed"):
            call()
    assert client.waiting == 0
    hub.close()


def test_a_batch_must_fit():
    with BatchingEvaluator(HashEvaluator(max_batch=8), max_batch=4) as hub:
        client = hub.client()
        with pytest.raises(ValueError, match="1 to 4"):
            client.evaluate(*rows(client, 5))
        with pytest.raises(ValueError, match="rows"):
            client.evaluate(rows(client, 3)[0], rows(client, 1)[1])
        with pytest.raises(ValueError, match="broadcast"):
            client.evaluate(np.zeros((1, 3, 5, 5), np.float32), np.zeros((1, 19), np.float32))
        assert len(client.evaluate(*rows(client, 4)).value) == 4
