"""One evaluator shared by many threads: what they ask for at the same time is evaluated together.

`BatchingEvaluator(inner)` owns a thread that takes requests in the order in which they came, fills a batch of one board
size, has it evaluated and hands the parts back. Each user takes a `client()`, which is an Evaluator and AsyncEvaluator
of its own. For many searches in one thread, `Searcher.begin/gather/absorb` cost less (docs/adr/0016).
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections import deque
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ..errors import EngineError
from ..evaluator import Evaluation, Evaluator, FloatArray

log = logging.getLogger(__name__)
FIELDS = tuple(f.name for f in fields(Evaluation))


@dataclass(slots=True)
class Request:
    """Rows that one client waits for."""

    spatial: FloatArray
    globals_: FloatArray
    ownership: bool
    came: float = field(default_factory=time.monotonic)
    done: threading.Event = field(default_factory=threading.Event)
    evaluation: Evaluation | None = None
    error: BaseException | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the boards."""
        return self.spatial.shape[2], self.spatial.shape[3]

    def answer(self) -> Evaluation:
        """Wait for the evaluation. Raises what the evaluator raised."""
        self.done.wait()
        if self.error is not None:
            raise self.error
        assert self.evaluation is not None
        return self.evaluation

    def fail(self, error: BaseException) -> None:
        """End with an error."""
        self.error = error
        self.done.set()


class BatchingEvaluator:
    """Gathers the batches of many clients into larger ones.

    First come, first served: a client's request waits for at most the batch under way and those that hold older ones.
    Where a batch fails, its requests are tried one by one, so that an error reaches the client that caused it alone.

    Args:
        inner: does the work; called from this evaluator's thread only.
        max_batch: rows of a batch at most; by default the inner evaluator's.
        wait: seconds that a batch which is not full waits for more, as long as some client has nothing under way.
        client_batch: rows that a search over a client should ask for at a time.
    """

    def __init__(
        self, inner: Evaluator, *, max_batch: int | None = None, wait: float = 0.002, client_batch: int = 4
    ) -> None:
        self.inner = inner
        self.max_batch = min(max_batch or inner.max_batch, inner.max_batch)
        self.wait, self.client_batch = wait, min(client_batch, self.max_batch)
        self.batches = self.rows = 0  # evaluated so far
        self._arrays: dict[tuple[int, int], tuple[FloatArray, FloatArray]] = {}
        self._queue: deque[Request] = deque()
        self._clients: weakref.WeakSet[BatchingClient] = weakref.WeakSet()  # a forgotten one leaves by itself
        self._change = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="batching", daemon=True)
        self._thread.start()

    def client(self) -> BatchingClient:
        """Return a new client; close it, or use it in a `with`, so that others need not wait for it.

        Raises:
            EngineError: the evaluator was closed.
        """
        with self._change:
            if self._closed:
                raise EngineError(f"{self.inner.name}: closed")
            client = BatchingClient(self)
            self._clients.add(client)
            return client

    def close(self) -> None:
        """Stop; what still waits fails with an EngineError. The inner evaluator stays open. May be called twice."""
        with self._change:
            self._closed = True
            waiting, self._queue = list(self._queue), deque()
            self._change.notify_all()
        for request in waiting:
            request.fail(EngineError(f"{self.inner.name}: closed"))
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def __enter__(self) -> BatchingEvaluator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _put(self, request: Request) -> None:
        with self._change:
            if self._closed:
                raise EngineError(f"{self.inner.name}: closed")
            self._queue.append(request)
            self._change.notify_all()

    def _leave(self, client: BatchingClient) -> None:
        with self._change:
            self._clients.discard(client)
            self._change.notify_all()

    def _work(self) -> None:
        while True:
            with self._change:
                while not self._closed and not self._ready():
                    self._change.wait(self._patience())
                if self._closed:
                    return
                batch = self._take()
            self._run(batch)

    def _ready(self) -> bool:
        """Tell whether the oldest request's batch should start. Holds the lock."""
        if not self._queue:
            return False
        size, rows = self._queue[0].size, 0
        for request in self._queue:
            rows += len(request.spatial) if request.size == size else 0
        busy = sum(client.waiting > 0 for client in self._clients)
        return rows >= self.max_batch or busy >= len(self._clients) or self._patience() == 0.0

    def _patience(self) -> float | None:
        """Return how long the oldest request may still wait for company; None: there is no request."""
        if not self._queue:
            return None
        return max(0.0, self._queue[0].came + self.wait - time.monotonic())

    def _take(self) -> list[Request]:
        """Take the oldest request and those of its size that fit, in order. Holds the lock."""
        batch: list[Request] = []
        left: deque[Request] = deque()
        room = self.max_batch
        for request in self._queue:
            if batch and (request.size != batch[0].size or room == 0):
                left.append(request)
            elif len(request.spatial) <= room:
                batch.append(request)
                room -= len(request.spatial)
            else:
                room = 0  # nothing younger overtakes it
                left.append(request)
        self._queue = left
        return batch

    def _run(self, batch: list[Request]) -> None:
        try:
            evaluation = self._evaluate(batch)
        except BaseException as error:
            if len(batch) == 1:
                batch[0].fail(error)
                return
            log.debug("a batch of %d requests failed (%s); they are tried one by one", len(batch), error)
            for request in batch:
                self._run([request])
            return
        first = 0
        for request in batch:
            last = first + len(request.spatial)
            request.evaluation = cut(evaluation, first, last)
            request.done.set()
            first = last

    def _evaluate(self, batch: list[Request]) -> Evaluation:
        size = batch[0].size
        if size not in self._arrays:
            self._arrays[size] = self.inner.allocate(self.max_batch, size[1], size[0])
        spatial, globals_ = self._arrays[size]
        first = 0
        for request in batch:
            last = first + len(request.spatial)
            spatial[first:last], globals_[first:last] = request.spatial, request.globals_
            first = last
        self.batches += 1
        self.rows += first
        ownership = any(request.ownership for request in batch)
        return self.inner.evaluate(spatial[:first], globals_[:first], ownership=ownership)


class BatchingClient:
    """One user of a BatchingEvaluator: an Evaluator and AsyncEvaluator for one thread."""

    def __init__(self, hub: BatchingEvaluator) -> None:
        inner = hub.inner
        self.encoding, self.name, self.max_batch = inner.encoding, inner.name, hub.max_batch
        self.preferred_batch = hub.client_batch
        self.pass_alive_under_suicide = bool(getattr(inner, "pass_alive_under_suicide", False))
        self.policy_only = bool(getattr(inner, "policy_only", False))
        self.waiting = 0  # requests under way
        self._hub = hub
        self._flying: dict[int, Request] = {}
        self._tickets = 0

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether boards of this size can be evaluated."""
        return self._hub.inner.supports_size(width, height)

    def allocate(self, batch: int, width: int, height: int) -> tuple[FloatArray, FloatArray]:
        """Return zeroed arrays of the client's own; their rows are copied into the common batch."""
        spatial, globals_ = self._hub.inner.allocate(1, width, height)
        shapes = (batch, *spatial.shape[1:]), (batch, *globals_.shape[1:])
        return np.zeros(shapes[0], np.float32), np.zeros(shapes[1], np.float32)

    def evaluate(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> Evaluation:
        """Evaluate together with others. Raises what the evaluator raises for these rows, EngineError once closed."""
        return self.result(self.submit(spatial, globals_, ownership=ownership))

    def submit(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> int:
        """Start evaluating; the arrays must stay unchanged until the result is taken. Return a ticket."""
        if not 1 <= len(spatial) <= self.max_batch:
            raise ValueError(f"a batch of {len(spatial)}; 1 to {self.max_batch} are allowed")
        if len(globals_) != len(spatial):
            raise ValueError(f"{len(spatial)} rows of planes, {len(globals_)} rows of global inputs")
        request = Request(spatial, globals_, ownership)
        self.waiting += 1
        try:
            self._hub._put(request)
        except BaseException:
            self.waiting -= 1
            raise
        self._tickets += 1
        self._flying[self._tickets] = request
        return self._tickets

    def result(self, ticket: int) -> Evaluation:
        """Wait for the batch of that ticket. Raises KeyError for an unknown one."""
        request = self._flying.pop(ticket)
        try:
            return request.answer()
        finally:
            self.waiting -= 1

    def close(self) -> None:
        """Leave: nobody waits for this client any more."""
        self._hub._leave(self)

    def __enter__(self) -> BatchingClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def cut(evaluation: Evaluation, first: int, last: int) -> Evaluation:
    """Return rows first to last (excluded) of an evaluation, as views."""
    parts: dict[str, Any] = {}
    for name in FIELDS:
        array = getattr(evaluation, name)
        parts[name] = None if array is None else array[first:last]
    return Evaluation(**parts)
