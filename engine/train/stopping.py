"""Ending a long command by a signal at a point where what was done can be kept."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Stopping:
    """While it is entered, SIGINT and SIGTERM set `number` (0 before) instead of ending; a second one ends at once.

    The command asks `number` now and then, keeps what it has, and raises KeyboardInterrupt(number), which the command
    line turns into its message and exit code. In a thread that is not the main one signals are left alone.
    """

    def __init__(self) -> None:
        self.number = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Stopping:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.number:
            raise KeyboardInterrupt(number)
        self.number = number
