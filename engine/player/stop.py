"""How a search, or the wait before it, is told to stop from another thread. One token for each command."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Abandoned(Exception):
    """Nobody waits for the answer any more."""


class StopToken:
    """Told once to stop, it stays stopped; a command that begins later has another token and is not touched."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: list[Callable[[], None]] = []
        self.event = threading.Event()  # set once stopped, for loops that look at it now and then
        self._abandoned = False
        self.asked: float | None = None  # when the command came (time.monotonic), where that is known

    def stop(self) -> None:
        """Stop what runs under this token, and keep what it has found. From any thread; returns at once."""
        with self._lock:
            self.event.set()
            for call in self._calls:
                call()

    def abandon(self) -> None:
        """Stop what runs under this token, and have nothing made of it."""
        self._abandoned = True
        self.stop()

    @property
    def stopped(self) -> bool:
        """True once `stop` or `abandon` was called."""
        return self.event.is_set()

    @property
    def abandoned(self) -> bool:
        """True once `abandon` was called."""
        return self._abandoned

    def check(self) -> None:
        """Raise Abandoned if the answer is not wanted any more."""
        if self._abandoned:
            raise Abandoned

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until stopped; return False if the time (seconds) ran out first."""
        return self.event.wait(timeout)

    @contextmanager
    def calling(self, call: Callable[[], None]) -> Iterator[None]:
        """Have `call` called by `stop` while the block runs; at once if it was stopped before."""
        with self._lock:
            self._calls.append(call)
            if self.event.is_set():
                call()
        try:
            yield
        finally:
            with self._lock:
                self._calls.remove(call)
