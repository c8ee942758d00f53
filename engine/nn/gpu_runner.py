"""Runs a net on a GPU with two batches in flight: the order of work, padding, running out of memory, a lost device.

What touches the device is behind GpuOps (cuda_ops.py is the real one), so that all of this is tested without a GPU.
Batches are padded to a power of two and never see their padding; a graph is captured once a size, batch and slot.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineError

FloatArray = NDArray[np.float32]
SLOTS = 2

log = logging.getLogger(__name__)


class GpuProgram(Protocol):
    """A net captured for one board size and batch, with its own buffers and stream."""

    def launch(self, spatial: FloatArray, globals_: FloatArray) -> None:
        """Copy rows in and start; the arrays are read before this returns. May have fewer rows than the batch."""

    def fetch(self, rows: int) -> FloatArray:
        """Wait, and return a copy of the first rows of the result."""


class GpuOps(Protocol):
    """The device."""

    name: str

    def build(self, width: int, height: int, batch: int) -> GpuProgram: ...
    def pinned(self, shape: tuple[int, ...]) -> FloatArray: ...
    def free_cached_memory(self) -> None: ...
    def is_out_of_memory(self, error: BaseException) -> bool: ...


@dataclass
class _Batch:
    """A batch in flight: pieces still to be launched, and results so far."""

    slot: int
    spatial: FloatArray
    globals: FloatArray
    program: GpuProgram | None = None
    running: int = 0  # rows of the piece on the device
    at: int = 0  # first row not yet launched
    results: list[FloatArray] = field(default_factory=list)


class GpuRunner:
    """Evaluates packed batches on a device.

    Args:
        ops: the device.
        max_batch: rows of the largest graph to begin with; halved, with a warning, whenever memory runs out.
        keep: board sizes whose graphs are kept.
    """

    def __init__(self, ops: GpuOps, *, max_batch: int, keep: int) -> None:
        self._ops = ops
        self.limit = max_batch
        self._keep = keep
        self._programs: dict[tuple[int, int, int, int], GpuProgram] = {}
        self._sizes: deque[tuple[int, int]] = deque()
        self._flying: deque[_Batch] = deque()
        self._free_slots = deque(range(SLOTS))
        self._broken: EngineError | None = None

    def allocate(self, shape: tuple[int, ...]) -> FloatArray:
        """Return a zeroed float32 array in pinned memory."""
        return self._ops.pinned(shape)

    def start(self, spatial: FloatArray, globals_: FloatArray) -> _Batch:
        """Begin a batch. Raises RuntimeError with SLOTS in flight already, EngineError for a failed device."""
        if self._broken is not None:
            raise self._broken
        if not self._free_slots:
            raise RuntimeError(f"more than {SLOTS} batches in flight")
        batch = _Batch(self._free_slots.popleft(), spatial, globals_)
        try:
            self._launch(batch)
        except BaseException:
            self._free_slots.appendleft(batch.slot)
            raise
        self._flying.append(batch)
        return batch

    def finish(self, batch: _Batch) -> FloatArray:
        """Wait for the oldest batch in flight and return its packed rows. Raises RuntimeError out of order."""
        if not self._flying or self._flying[0] is not batch:
            raise RuntimeError("a result was taken out of order")
        self._flying.popleft()
        try:
            while batch.program is not None:
                try:
                    batch.results.append(batch.program.fetch(batch.running))
                except Exception as error:
                    self._failed(error)
                    batch.at -= batch.running  # out of memory: the piece runs again, smaller
                batch.program = None
                if batch.at < len(batch.spatial):
                    self._launch(batch)
        finally:
            self._free_slots.appendleft(batch.slot)
        return batch.results[0] if len(batch.results) == 1 else np.concatenate(batch.results)

    def evaluate(self, spatial: FloatArray, globals_: FloatArray) -> FloatArray:
        """Evaluate at once."""
        return self.finish(self.start(spatial, globals_))

    def close(self) -> None:
        """Give the graphs back."""
        self._programs.clear()
        self._ops.free_cached_memory()

    def _launch(self, batch: _Batch) -> None:
        """Start the next piece of a batch, of as many rows as fit now."""
        height, width = batch.spatial.shape[2:]
        while True:
            rows = min(len(batch.spatial) - batch.at, self.limit)
            bucket = min(1 << (rows - 1).bit_length(), self.limit)
            try:
                program = self._program(width, height, bucket, batch.slot)
                piece = slice(batch.at, batch.at + rows)
                program.launch(batch.spatial[piece], batch.globals[piece])
            except Exception as error:
                self._failed(error)
                continue
            batch.program, batch.running, batch.at = program, rows, batch.at + rows
            return

    def _program(self, width: int, height: int, bucket: int, slot: int) -> GpuProgram:
        size = (width, height)
        if size in self._sizes:
            self._sizes.remove(size)
        self._sizes.append(size)
        if len(self._sizes) > self._keep:
            oldest = self._sizes.popleft()
            self._programs = {key: p for key, p in self._programs.items() if key[:2] != oldest}
        key = (width, height, bucket, slot)
        if key not in self._programs:
            self._programs[key] = self._ops.build(width, height, bucket)
        return self._programs[key]

    def _failed(self, error: Exception) -> None:
        """Return after making room where memory ran out; else mark the device lost. Raises EngineError."""
        if not self._ops.is_out_of_memory(error):
            self._broken = EngineError(f"{self._ops.name} failed: {error}; start again, perhaps with --device cpu")
            raise self._broken from error
        if self.limit == 1:
            raise EngineError(f"{self._ops.name} is out of memory even for one position: {error}") from error
        self.limit //= 2
        log.warning("%s is out of memory: batches are now at most %d", self._ops.name, self.limit)
        self._programs = {key: p for key, p in self._programs.items() if key[2] <= self.limit}
        self._ops.free_cached_memory()
