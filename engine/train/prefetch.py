"""Batches made ready ahead of the step that needs them, by threads, in page-locked memory where a GPU will fetch them.

Drawing (which records, which symmetries) stays in one thread and in order; unpacking and turning, which take the time,
run in the threads, and numpy lets them run at once. So the batches are those of the loader alone, one for one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from .dataset import Batch, Loader


class Prefetcher:
    """A loader with `depth` batches on their way. `state` is that of the batches handed out, not of those drawn."""

    def __init__(self, loader: Loader, *, workers: int = 1, depth: int = 4, pin: bool = False) -> None:
        """Begin drawing with the first batch that is asked for.

        Args:
            workers: threads; 0 makes every batch when it is asked for.
            depth: batches ready or being made, besides the one in use.
            pin: use page-locked memory, from which a copy to a GPU does not block.
        """
        self.loader, self.workers, self.depth, self.pin = loader, workers, depth, pin
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="loader") if workers else None
        self._coming: deque[tuple[Future[Batch], dict[str, Any]]] = deque()
        self._state = loader.state()

    def state(self) -> dict[str, Any]:
        """Return the loader's state after the last batch that was handed out."""
        return self._state

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where a saved state left off; what was on its way is dropped."""
        self._coming.clear()
        self.loader.restore(state)
        self._state = self.loader.state()

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        if self._pool is None:
            batch = self._make(self.loader.draw())
            self._state = self.loader.state()
            return batch
        while len(self._coming) <= self.depth:
            draw = self.loader.draw()
            self._coming.append((self._pool.submit(self._make, draw), self.loader.state()))
        future, self._state = self._coming.popleft()
        return future.result()

    def _make(self, draw: Any) -> Batch:
        batch = self.loader.make(draw)
        return batch.pin() if self.pin else batch

    def close(self) -> None:
        """End the threads; batches on their way are dropped."""
        self._coming.clear()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def measure(source: Prefetcher, seconds: float) -> dict[str, float]:
    """Return how fast batches come when nothing else is done.

    Returns: batches, positions and megabytes a second, and positions a second of processor time (of all threads, so
    that the figure means something on a machine that does other work too).
    """
    next(source)
    start, used = time.monotonic(), time.process_time()
    batches = positions = size = 0
    while time.monotonic() - start < seconds:
        batch = next(source)
        batches, positions = batches + 1, positions + len(batch)
        size += batch.spatial.nbytes + batch.globals_.nbytes + sum(t.nbytes for t in batch.targets.values())
    took, used = time.monotonic() - start, time.process_time() - used
    return {
        "batches": round(batches / took, 2),
        "positions": round(positions / took, 1),
        "megabytes": round(size / took / 1e6, 2),
        "positions_cpu": round(positions / max(used, 1e-9), 1),
    }
