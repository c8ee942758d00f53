"""Runs a net on the CPU by OpenVINO: rows of a batch are shared out among streams of one thread each.

A model is compiled for each board size and for a few numbers of rows, when first needed; a share of any other number is
put together from those. Inputs are read where the search wrote them. The graph itself is openvino_graph.py's.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .openvino_ops import core, ov
from .size_cache import SizeCache

FloatArray = NDArray[np.float32]
BuildModel = Callable[[int, int, int], Any]  # (width, height, rows) -> ov.Model
MOST_ROWS = 8  # Perf: rows a call beyond which a net of six blocks gains nothing more on 19x19


class Piece(NamedTuple):
    """Rows that are under way: a request, where it goes back to, and the arrays it reads."""

    request: Any
    home: list[Any]
    inputs: tuple[FloatArray, ...]


class Programs:
    """The compiled models of one board size, by rows. Safe to use from several threads.

    Args:
        compile_rows: compiles for a number of rows.
        most: the largest number of rows, a power of two.
    """

    def __init__(self, compile_rows: Callable[[int], Any], most: int) -> None:
        self._compile = compile_rows
        self._most = most
        self._models: dict[int, Any] = {}
        self._idle: dict[int, list[Any]] = {}
        self._compiling: set[int] = set()
        self._preparing = 0  # calls of `prepare` under way
        self._change = threading.Condition()

    @property
    def rows(self) -> list[int]:
        """Numbers of rows that models were compiled for."""
        with self._change:
            return list(self._models)

    @property
    def most(self) -> int:
        """The largest number of rows to ask for now: while `prepare` is under way, of those that are ready."""
        with self._change:
            most = 1
            while most < self._most and (not self._preparing or 2 * most in self._models):
                most *= 2
            return most

    def prepare(self, most: int) -> None:
        """Compile for 1, 2, 4 … up to `most` rows, those that are not compiled yet; others may ask meanwhile."""
        with self._change:
            self._preparing += 1
        try:
            rows = 1
            while rows <= min(most, self._most):
                self._see_to(rows)
                rows *= 2
        finally:
            with self._change:
                self._preparing -= 1

    def request(self, rows: int) -> tuple[Any, list[Any]]:
        """Return an idle request for so many rows (a power of two) and the list to put it back into."""
        self._see_to(rows)
        with self._change:
            idle = self._idle[rows]
            return (idle.pop() if idle else self._models[rows].create_infer_request()), idle

    def _see_to(self, rows: int) -> None:
        """Compile for so many rows, or wait until another thread has."""
        with self._change:
            self._change.wait_for(lambda: rows not in self._compiling)
            if rows in self._models:
                return
            self._compiling.add(rows)
        model = None
        try:
            model = self._compile(rows)
        finally:
            with self._change:
                self._compiling.discard(rows)
                if model is not None:
                    self._models[rows], self._idle[rows] = model, []
                self._change.notify_all()


class OpenVinoRunner:
    """Evaluates packed batches on `threads` streams of one thread.

    A row's numbers depend on that row, the board size and how many rows are computed with it, never on its neighbours.

    Args:
        build: makes the model for (width, height, rows).
        threads: streams.
        keep: board sizes whose models are kept.
        precision: "f32" or "bf16", the format of the layers.
        max_points: board points in one call, at most (one row always goes); 0: no limit.
    """

    def __init__(
        self, build: BuildModel, *, threads: int, keep: int, precision: str, max_points: int = 0
    ) -> None:
        self.threads = threads
        self._max_points = max_points
        self._core = core()
        self._options = {
            "INFERENCE_PRECISION_HINT": precision,
            "NUM_STREAMS": str(threads),
            "INFERENCE_NUM_THREADS": str(threads),
            "ENABLE_CPU_PINNING": False,  # other programs use the machine as well
        }
        self._keep = keep
        self._sizes = self._cache(build)
        self._prepared: SizeCache[Programs] | None = None

    def _cache(self, build: BuildModel) -> SizeCache[Programs]:
        return SizeCache(lambda width, height: self._programs(build, width, height), self._keep)

    def _programs(self, build: BuildModel, width: int, height: int) -> Programs:
        most = MOST_ROWS
        while self._max_points and most > 1 and most * width * height > self._max_points:
            most //= 2

        def compile_rows(rows: int) -> Any:
            return self._core.compile_model(build(width, height, rows), "CPU", self._options)

        return Programs(compile_rows, most)

    def allocate(self, shape: tuple[int, ...]) -> FloatArray:
        """Return a zeroed float32 array."""
        return np.zeros(shape, dtype=np.float32)

    def start(self, spatial: FloatArray, globals_: FloatArray) -> list[Piece]:
        """Begin a batch; the arrays must stay unchanged until finish."""
        programs = self._sizes.get(spatial.shape[3], spatial.shape[2])
        pieces = []
        for part in shares(len(spatial), self.threads, programs.most):
            request, home = programs.request(part.stop - part.start)
            inputs = tuple(np.ascontiguousarray(a[part], dtype=np.float32) for a in (spatial, globals_) if a.shape[1])
            for i, array in enumerate(inputs):
                request.set_input_tensor(i, ov.Tensor(array, shared_memory=True))
            request.start_async()
            pieces.append(Piece(request, home, inputs))
        return pieces

    def finish(self, handle: list[Piece]) -> FloatArray:
        """Wait for a batch and return its packed rows."""
        parts = []
        for request, home, _ in handle:
            request.wait()
            parts.append(request.get_output_tensor(0).data.copy())
            home.append(request)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def evaluate(self, spatial: FloatArray, globals_: FloatArray) -> FloatArray:
        """Evaluate at once."""
        return self.finish(self.start(spatial, globals_))

    def prepare(self, width: int, height: int, rows: int) -> None:
        """Compile all that batches of up to so many rows need on a board size; from any thread.

        Batches that are evaluated meanwhile are cut into pieces of what is compiled by then.
        """
        share = -(-rows // self.threads)
        self._sizes.get(width, height).prepare(1 << (share.bit_length() - 1))

    def prepare_other(self, build: BuildModel) -> None:
        """Compile other models for the sizes and rows that are in use; `change` begins to use them."""
        prepared = self._cache(build)
        for (width, height), programs in self._sizes.items():
            for rows in programs.rows:
                request, home = prepared.get(width, height).request(rows)
                home.append(request)
        self._prepared = prepared

    def change(self) -> None:
        """Use what was prepared from the next batch on; batches under way end with what they began with."""
        if self._prepared is not None:
            self._sizes, self._prepared = self._prepared, None

    def close(self) -> None:
        """Forget the models; what is under way keeps its own."""
        self._sizes.clear()


def shares(rows: int, threads: int, most: int) -> list[slice]:
    """Cut rows into pieces of 1, 2, 4 … `most` rows, such that threads get the same number where that can be.

    The largest come first, so that the small ones fill up the threads that are ready early.
    """
    sizes: list[int] = []
    for i in range(min(rows, threads)):
        left = rows // threads + (i < rows % threads)
        size = most
        while left:
            while size > left:
                size //= 2
            sizes.append(size)
            left -= size
    cuts = np.cumsum([0, *sorted(sizes, reverse=True)]).tolist()
    return [slice(a, b) for a, b in itertools.pairwise(cuts)]
