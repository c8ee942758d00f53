"""The rows that searches fill and the batches that they travel in. One batch has one board size."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from engine.errors import EngineError
from engine.evaluator import Evaluation, Evaluator, FloatArray

J = TypeVar("J")
Size = tuple[int, int]  # width, height
SPARE = 3  # arrays of a board size that are kept
SIZES = 6  # board sizes whose arrays are kept
BATCH_SECONDS = 0.2


class SearchRows:
    """The evaluator that a searcher in steps sees: what there is to know of the real one, and rows of its own."""

    def __init__(self, inner: Evaluator) -> None:
        self.encoding, self.name, self.max_batch = inner.encoding, inner.name, inner.max_batch
        self.pass_alive_under_suicide = bool(getattr(inner, "pass_alive_under_suicide", False))
        self.policy_only = bool(getattr(inner, "policy_only", False))
        self.spatial: FloatArray
        self.globals_: FloatArray
        self._inner = inner
        preferred = getattr(inner, "preferred_batch", None)
        if preferred is not None:
            self.preferred_batch = preferred

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether boards of this size can be evaluated."""
        return self._inner.supports_size(width, height)

    def allocate(self, batch: int, width: int, height: int) -> tuple[FloatArray, FloatArray]:
        """Return new arrays, which the next leaves are written into."""
        self.spatial, self.globals_ = self._inner.allocate(batch, width, height)
        return self.spatial, self.globals_

    def evaluate(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> Evaluation:
        """Evaluate without the others."""
        return self._inner.evaluate(spatial, globals_, ownership=ownership)


class Batch(Generic[J]):
    """Rows of several searches, to be evaluated together."""

    def __init__(self, size: Size, arrays: tuple[FloatArray, FloatArray]) -> None:
        self.size = size
        self.spatial, self.globals_ = arrays
        self.parts: list[tuple[J, int, int]] = []  # whose rows, the first, how many
        self.rows = 0
        self.ownership = False
        self.ticket: int | None = None

    def add(self, job: J, rows: SearchRows, count: int, *, ownership: bool) -> None:
        """Copy the first rows of a search."""
        last = self.rows + count
        self.spatial[self.rows : last] = rows.spatial[:count]
        self.globals_[self.rows : last] = rows.globals_[:count]
        self.parts.append((job, self.rows, count))
        self.rows = last
        self.ownership |= ownership


class Batches(Generic[J]):
    """Sends batches to an evaluator, two in flight where it can.

    Args:
        evaluator: does the work.
        rows: positions that a batch should have; 0: as many as the evaluator takes, unless that takes too long.
    """

    def __init__(self, evaluator: Evaluator, rows: int) -> None:
        self._evaluator = evaluator
        self.depth = 2 if hasattr(evaluator, "submit") else 1
        self.capacity = evaluator.max_batch
        self.rows = min(rows or self.capacity, self.capacity)
        self._least = 0 if rows else min(getattr(evaluator, "preferred_batch", 8), self.capacity)  # 0: it is fixed
        self._row_seconds = 0.0  # a running mean
        self._landed = 0.0  # when the last batch landed, if another was in flight
        self._spare: dict[Size, list[tuple[FloatArray, FloatArray]]] = {}
        self._warm: set[Size] = set()
        self.flying: deque[Batch[J]] = deque()
        self.sent = self.evaluated = 0  # batches, rows

    @property
    def full(self) -> bool:
        """True if no batch can be sent before one has landed."""
        return len(self.flying) >= self.depth

    def warm(self, size: Size) -> None:
        """Have the net ready for boards of that size, so that the time of a search is not spent on that."""
        if size in self._warm:
            return
        self._warm.add(size)
        for rows in sorted({1, 2, 4, 8, self.rows}):
            if rows <= self.capacity:
                with contextlib.suppress(EngineError):
                    self._evaluator.evaluate(*self._evaluator.allocate(rows, *size))

    def open(self, size: Size) -> Batch[J]:
        """Return an empty batch for boards of that size."""
        spare = self._spare.pop(size, [])
        self._spare[size] = spare  # the last used is the last in order
        while len(self._spare) > SIZES:
            self._spare.pop(next(iter(self._spare)))
        return Batch(size, spare.pop() if spare else self._evaluator.allocate(self.capacity, *size))

    def send(self, batch: Batch[J]) -> None:
        """Start the evaluation of a batch."""
        self.sent += 1
        self.evaluated += batch.rows
        if self.depth == 2:
            inputs = batch.spatial[: batch.rows], batch.globals_[: batch.rows]
            batch.ticket = self._evaluator.submit(*inputs, ownership=batch.ownership)  # type: ignore[attr-defined]
        self.flying.append(batch)

    def land(self, take: Callable[[J, Evaluation, int], None], fail: Callable[[J, Exception], None]) -> None:
        """Wait for the oldest batch and hand out what came.

        Where a batch fails, its parts are tried one by one, so that an error meets the search that caused it alone.

        Args:
            take: is given each search, the evaluation, and the first of its rows in it.
            fail: is given each search whose rows cannot be evaluated, and the reason.
        """
        batch = self.flying.popleft()
        try:
            evaluation = self._result(batch)
        except Exception as error:
            for job, first, count in batch.parts:
                try:
                    part = self._alone(batch, first, count) if len(batch.parts) > 1 else None
                except Exception as own:
                    fail(job, own)
                    continue
                if part is None:
                    fail(job, error)
                else:
                    take(job, part, 0)
        else:
            for job, first, _ in batch.parts:
                take(job, evaluation, first)
        self._fit(batch.rows)
        spare = self._spare.setdefault(batch.size, [])
        if len(spare) < SPARE:
            spare.append((batch.spatial, batch.globals_))

    def _fit(self, rows: int) -> None:
        """Let batches take no longer than BATCH_SECONDS, so that nobody waits long for a word."""
        now = time.perf_counter()
        if self._least and self._landed:
            seconds = (now - self._landed) / rows
            self._row_seconds += (seconds - self._row_seconds) * (0.2 if self._row_seconds else 1.0)
            fitting = int(BATCH_SECONDS / max(self._row_seconds, 1e-9)) // self._least * self._least
            self.rows = min(max(fitting, self._least), self.capacity)
        self._landed = now if self.flying else 0.0

    def _result(self, batch: Batch[J]) -> Evaluation:
        if batch.ticket is None:
            return self._alone(batch, 0, batch.rows)
        return self._evaluator.result(batch.ticket)  # type: ignore[attr-defined,no-any-return]

    def _alone(self, batch: Batch[J], first: int, count: int) -> Evaluation:
        last = first + count
        return self._evaluator.evaluate(
            batch.spatial[first:last], batch.globals_[first:last], ownership=batch.ownership
        )
