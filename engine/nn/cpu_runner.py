"""Runs a net on the CPU: rows of a batch are shared out among threads, each of which evaluates its rows alone.

Perf: one thread a share rather than all threads inside one layer: the layers of a small net are too short to be worth a
barrier each, and where other programs use the machine every barrier waits for the thread that was put aside (b6 alone,
two cores at load 8: 0.4/s against 30/s with two batches in flight). Only large nets share out a single position.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import torch
from numpy.typing import NDArray

from .size_cache import SizeCache

FloatArray = NDArray[np.float32]
Program = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class CpuRunner:
    """Evaluates packed batches on `threads` threads.

    A row's numbers depend on that row, the board size and how many rows its share has, never on its neighbours.

    Args:
        build: makes the function for a board size.
        threads: worker threads.
        keep: board sizes whose function is kept.
        share_layers: give the layers of a lone position all threads, for nets large enough to gain.
        max_points: board points in one call of the function, at most (one row always goes); 0: no limit.
    """

    def __init__(
        self,
        build: Callable[[int, int], Program],
        *,
        threads: int,
        keep: int,
        share_layers: bool = False,
        max_points: int = 0,
    ) -> None:
        self.threads = threads
        self._share_layers = share_layers
        self._max_points = max_points
        before = torch.get_num_threads()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="net", initializer=_one_thread)
        for done in [self._pool.submit(threading.get_ident) for _ in range(threads)]:
            done.result()  # start the workers now: set_num_threads below must come after theirs
        torch.set_num_threads(threads if share_layers else before)
        self._programs = SizeCache(lambda w, h: self._pool.submit(build, w, h).result(), keep)

    def allocate(self, shape: tuple[int, ...]) -> FloatArray:
        """Return a zeroed float32 array."""
        return np.zeros(shape, dtype=np.float32)

    def prepare(self, width: int, height: int, rows: int) -> None:
        """Make the function for a board size, of which any number of rows makes use; from any thread."""
        self._programs.get(width, height)

    def start(self, spatial: FloatArray, globals_: FloatArray) -> list[Future[FloatArray]]:
        """Begin a batch; the arrays must stay unchanged until finish."""
        program = self._programs.get(spatial.shape[3], spatial.shape[2])
        rows = -(-len(spatial) // self.threads)
        if self._max_points:
            rows = min(rows, max(1, self._max_points // (spatial.shape[2] * spatial.shape[3])))
        shares = [slice(i, i + rows) for i in range(0, len(spatial), rows)]
        return [self._pool.submit(_run, program, spatial[s], globals_[s]) for s in shares]

    def finish(self, handle: list[Future[FloatArray]]) -> FloatArray:
        """Wait for a batch and return its packed rows."""
        parts = [future.result() for future in handle]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def evaluate(self, spatial: FloatArray, globals_: FloatArray) -> FloatArray:
        """Evaluate at once."""
        if len(spatial) == 1 and self._share_layers:
            return _run(self._programs.get(spatial.shape[3], spatial.shape[2]), spatial, globals_)
        return self.finish(self.start(spatial, globals_))

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _one_thread() -> None:
    torch.get_num_threads()  # first: a thread that never asked takes on the process's number later
    torch.set_num_threads(1)  # counts for this worker alone: OpenMP keeps it a thread


def _run(program: Program, spatial: FloatArray, globals_: FloatArray) -> FloatArray:
    with torch.inference_mode():
        packed = program(torch.from_numpy(spatial), torch.from_numpy(globals_))
    return np.ascontiguousarray(packed.numpy())
