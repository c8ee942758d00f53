"""Ends what does not end by itself: one thread that waits for a deadline, however often that is set and lifted."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable


class Watchdog:
    """Calls `act` in a thread of its own once a deadline has passed.

    A thread is started with the first deadline and stays; setting and lifting cost next to nothing, so that a long
    queue of short commands can have one each.
    """

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act
        self._changed = threading.Condition()
        self._deadline = math.inf  # time.monotonic
        self._wakes = math.inf  # when the thread looks next
        self._started = False

    def set(self, seconds: float) -> None:
        """Act after so many seconds, or at an earlier deadline that is set already. From any thread."""
        with self._changed:
            self._deadline = min(self._deadline, time.monotonic() + seconds)
            if not self._started:
                self._started = True
                threading.Thread(target=self._watch, name="gtp-watchdog", daemon=True).start()
            elif self._deadline < self._wakes:
                self._changed.notify()

    def lift(self) -> None:
        """Do not act. From any thread."""
        with self._changed:
            self._deadline = math.inf

    def _watch(self) -> None:
        with self._changed:
            while (left := self._deadline - time.monotonic()) > 0:
                self._wakes = self._deadline
                self._changed.wait(None if math.isinf(left) else left)
        self._act()
