"""One evaluator under many searches: positions that wait at the same time are evaluated as one batch.

Whoever finds the evaluator idle takes along everything that waits; the others sleep until their rows are there. Nobody
waits for company: while one batch is evaluated, the next one gathers by itself.
"""

from __future__ import annotations

import dataclasses
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.evaluator import Evaluation, Evaluator, FloatArray


@dataclass(eq=False)
class Waiting:
    """Positions of one search, and what became of them."""

    spatial: FloatArray
    globals: FloatArray
    ownership: bool
    answer: Evaluation | None = None
    error: BaseException | None = None


class SharedEvaluator:
    """An Evaluator (engine/evaluator.py) for several threads over one that serves one at a time.

    A row's answer may differ in the last bits with the size of the batch it is in.

    Args:
        inner: does the work.
        sharers: threads that use it; a search's own batches stay small enough for that many to meet in one.
    """

    def __init__(self, inner: Evaluator, sharers: int = 1) -> None:
        self._inner = inner
        self.encoding = inner.encoding
        self.max_batch = inner.max_batch
        self.name = inner.name
        self.preferred_batch = min(getattr(inner, "preferred_batch", 1), max(1, inner.max_batch // max(sharers, 1)))
        self.pass_alive_under_suicide = bool(getattr(inner, "pass_alive_under_suicide", False))
        self.policy_only = bool(getattr(inner, "policy_only", False))
        self._changed = threading.Condition()
        self._queue: list[Waiting] = []
        self._busy = False

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether boards of this size can be evaluated."""
        return self._inner.supports_size(width, height)

    def allocate(self, batch: int, width: int, height: int) -> tuple[FloatArray, FloatArray]:
        """Return zeroed input arrays."""
        return self._inner.allocate(batch, width, height)

    def evaluate(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> Evaluation:
        """Evaluate spatial [B, C, H, W], globals [B, G]. Raises what the inner evaluator raises."""
        mine = Waiting(spatial, globals_, ownership)
        with self._changed:
            self._queue.append(mine)
        while True:
            with self._changed:
                while self._busy and mine.answer is None and mine.error is None:
                    self._changed.wait()
                if mine.error is not None:
                    raise mine.error
                if mine.answer is not None:
                    return mine.answer
                self._busy = True
                batch = self._take()
            try:
                self._evaluate(batch)
            finally:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()

    def _take(self) -> list[Waiting]:
        """Take those that have waited longest and fit into one batch: one board size, one wish."""
        first = self._queue[0]
        taken: list[Waiting] = []
        left: list[Waiting] = []
        rows = 0
        for one in self._queue:
            alike = one.spatial.shape[1:] == first.spatial.shape[1:] and one.ownership == first.ownership
            if (alike and rows + len(one.spatial) <= self.max_batch) or not taken:
                taken.append(one)
                rows += len(one.spatial)
            else:
                left.append(one)
        self._queue = left
        return taken

    def _evaluate(self, batch: list[Waiting]) -> None:
        try:
            if len(batch) == 1:
                one = batch[0]
                one.answer = self._inner.evaluate(one.spatial, one.globals, ownership=one.ownership)
                return
            spatial = np.concatenate([one.spatial for one in batch])
            globals_ = np.concatenate([one.globals for one in batch])
            whole = self._inner.evaluate(spatial, globals_, ownership=batch[0].ownership)
            start = 0
            for one in batch:
                one.answer = rows_of(whole, slice(start, start + len(one.spatial)))
                start += len(one.spatial)
        except BaseException as error:
            for one in batch:
                one.error = error


def rows_of(evaluation: Evaluation, rows: slice) -> Evaluation:
    """Return some rows of an evaluation, as arrays of their own."""
    fields: dict[str, Any] = {}
    for entry in dataclasses.fields(evaluation):
        array = getattr(evaluation, entry.name)
        fields[entry.name] = None if array is None else np.ascontiguousarray(array[rows])
    return Evaluation(**fields)
