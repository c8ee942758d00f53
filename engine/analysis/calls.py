"""What other threads ask of the one that searches: done between two batches, in the order in which it was asked."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable


class Calls:
    """A queue of things to do, and the wish to end."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()
        self._change = threading.Condition()
        self._ended = self._killed = False

    def __len__(self) -> int:
        return len(self._waiting)

    def call(self, action: Callable[[], None]) -> None:
        """Have something done between two batches, in the order of these calls."""
        with self._change:
            self._waiting.append(action)
            self._change.notify()

    def end(self) -> None:
        """Say that nothing more will be asked."""
        with self._change:
            self._ended = True
            self._change.notify()

    def kill(self) -> None:
        """Say that nothing more is wanted."""
        with self._change:
            self._ended = self._killed = True
            self._change.notify()

    def take(self, busy: Callable[[], bool], rest: Callable[[], None]) -> bool:
        """Do what was asked for. Return False at the end.

        Args:
            busy: tells whether there is other work; without any this waits for something to do.
            rest: called before such a wait.
        """
        while True:
            with self._change:
                while not self._waiting and not busy() and not self._ended:
                    rest()
                    self._change.wait()
                if self._killed:
                    return False
                actions, self._waiting = self._waiting, deque()
                if not actions:
                    return busy()
            for action in actions:
                action()
