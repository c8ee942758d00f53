"""The way out: lines wait in memory and a thread of its own writes them, each as one write, so that nobody who reads
queries is ever held up by a client that does not read answers.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Protocol

CROWDED = 1 << 20  # bytes that wait: reports on the way are left out
FULL = 16 << 20  # bytes that wait: answers to searches have to wait


class ClosedOutput(Exception):
    """Nobody reads our answers any more."""


class RawStream(Protocol):
    """What is written to: a binary stream."""

    def write(self, data: bytes, /) -> int | None:
        """Write some of the data; return how much."""
        ...

    def flush(self) -> None:
        """See that it leaves."""
        ...


class Output:
    """Whole lines to a binary stream, in the order of the calls."""

    def __init__(self, stream: RawStream) -> None:
        self._stream = stream
        self._lines: deque[bytes] = deque()
        self._size = 0
        self._change = threading.Condition()
        self._closed = False
        self._writing = False
        threading.Thread(target=self._write_all, name="analysis-writer", daemon=True).start()

    def write(self, text: str) -> None:
        """Take a line; wait while too much is queued. Raises ClosedOutput if the other end is gone."""
        with self._change:
            while self._size > FULL and not self._closed:
                self._change.wait()
        self.put(text)

    def put(self, text: str) -> None:
        """Take a line without waiting. Raises ClosedOutput if the other end is gone."""
        data = text.encode("utf-8", errors="replace")
        with self._change:
            if self._closed:
                raise ClosedOutput
            self._lines.append(data)
            self._size += len(data)
            self._change.notify_all()

    @property
    def crowded(self) -> bool:
        """True if the other end is slow to read."""
        return self._size > CROWDED

    def drain(self, seconds: float | None = None) -> bool:
        """Wait until everything is written; False if the time ran out, or the other end is gone."""
        with self._change:
            self._change.wait_for(lambda: self._closed or not (self._lines or self._writing), seconds)
            return not (self._lines or self._writing)

    def _write_all(self) -> None:
        while True:
            with self._change:
                self._writing = False
                self._change.notify_all()
                while not self._lines:
                    self._change.wait()
                data = self._lines.popleft()
                self._size -= len(data)
                self._writing = True
            try:
                self._stream.write(data)
                self._stream.flush()
            except (OSError, ValueError):
                with self._change:
                    self._closed = True
                    self._writing = False
                    self._lines.clear()
                    self._size = 0
                    self._change.notify_all()
                return
