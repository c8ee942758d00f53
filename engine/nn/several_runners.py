"""Several devices as one runner: batches go to each in turn, so that all of them work for one search or many.

Each keeps two batches in flight; results are taken in the order of submission, so each device's own come in order too.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .runtimes import Runner

FloatArray = NDArray[np.float32]


class SeveralRunners:
    """Hands batches to runners in turn.

    Args:
        runners: one a device, all of the same net; at least one.
    """

    def __init__(self, runners: Sequence[Runner]) -> None:
        self._runners = list(runners)
        self._next = 0

    def allocate(self, shape: tuple[int, ...]) -> FloatArray:
        """Return a zeroed float32 array in memory that every device can read."""
        return self._runners[0].allocate(shape)

    def start(self, spatial: FloatArray, globals_: FloatArray) -> tuple[Runner, Any]:
        """Begin a batch on the next device; the arrays must stay unchanged until finish."""
        runner = self._runners[self._next]
        handle = runner.start(spatial, globals_)
        self._next = (self._next + 1) % len(self._runners)
        return runner, handle

    def finish(self, handle: tuple[Runner, Any]) -> FloatArray:
        """Wait for a batch and return its packed rows."""
        runner, inner = handle
        return runner.finish(inner)

    def evaluate(self, spatial: FloatArray, globals_: FloatArray) -> FloatArray:
        """Evaluate at once, a share on each device."""
        count = min(len(self._runners), len(spatial))
        cuts = [len(spatial) * i // count for i in range(count + 1)]
        handles = [self.start(spatial[a:b], globals_[a:b]) for a, b in itertools.pairwise(cuts)]
        parts = [self.finish(handle) for handle in handles]
        return parts[0] if count == 1 else np.concatenate(parts)

    def close(self) -> None:
        """Release all devices."""
        for runner in self._runners:
            runner.close()
