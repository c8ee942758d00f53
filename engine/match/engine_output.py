"""What an engine says on its standard output: lines, of which only so many wait, and replies in them.

A thread reads; an engine that says more than anybody asks for has to wait at its end of the pipe.
"""

from __future__ import annotations

import contextlib
import queue
import re
import threading
import time
from dataclasses import dataclass
from typing import IO

MAX_LINE = 1 << 20  # bytes of a line; a longer one counts as several
MAX_WAITING = 10_000  # lines not yet looked at
MAX_WAITING_TEXT = 1 << 22  # characters of them
MAX_STRAY_LINES = 1000  # lines outside a reply before an engine counts as talking nonsense
MAX_REPLY_LINES = 100_000  # lines of one reply before it does
MAX_REPLY = 1 << 24  # characters of one reply before it does
LOOK = 0.2  # seconds between looks whether another thread has ended the engine
_FIRST = re.compile(r"[=?](?:(\d{1,18})(?!\S))?\s*")


class OutputEnded(Exception):
    """The engine has closed its standard output; mostly by ending."""


class BadOutput(Exception):
    """The engine breaks the protocol."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of an engine's."""

    success: bool
    number: int | None  # the id of the command that it says it answers
    text: str  # lines joined by newlines


class EngineOutput:
    """Reads an engine's standard output from its start on."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lines: queue.Queue[str | None] = queue.Queue(MAX_WAITING)
        self._put_text = self._taken_text = 0  # characters, each counted by one thread
        self._stopped = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def reply(self, deadline: float) -> Reply:
        """Return the next reply. Raises OutputEnded, BadOutput, and TimeoutError at the deadline (time.monotonic())."""
        lines: list[str] = []
        stray = length = 0
        while True:
            line = self._next_line(deadline)
            length += len(line)
            if not lines:
                if line[:1] in ("=", "?"):
                    lines.append(line)
                elif line.strip():
                    stray += 1
                    if stray > MAX_STRAY_LINES or length > MAX_REPLY:
                        raise BadOutput(f"no reply, but {line[:60]!r}")
            elif line.strip():
                lines.append(line)
                if len(lines) > MAX_REPLY_LINES or length > MAX_REPLY:
                    raise BadOutput("an endless reply")
            else:
                break
        first = _FIRST.match(lines[0])
        assert first is not None
        text = "\n".join([lines[0][first.end() :].strip(), *lines[1:]])
        return Reply(lines[0].startswith("="), None if first[1] is None else int(first[1]), text)

    def unasked(self) -> str | None:
        """Take what has come since the last reply; return the first line of a further one, None if there is none."""
        for _ in range(self._lines.qsize()):
            line = self._lines.get()
            if line is None:
                with contextlib.suppress(queue.Full):
                    self._lines.put_nowait(None)
                return None
            self._taken_text += len(line)
            if line[:1] in ("=", "?"):
                return line
        return None

    def stop(self, seconds: float) -> None:
        """Read no more, once the engine has ended."""
        self._stopped = True
        self._reader.join(seconds)
        if not self._reader.is_alive():  # else something it started holds the pipe: closing would hang
            self._stream.close()

    def _read(self) -> None:
        """Move lines from the engine to the queue until its output ends, then None."""
        with contextlib.suppress(OSError, ValueError):
            while line := self._stream.readline(MAX_LINE):
                self._put(line.decode("utf-8", "replace").rstrip("\r\n"))
        self._put(None)

    def _put(self, line: str | None) -> None:
        while not self._stopped and self._put_text - self._taken_text > MAX_WAITING_TEXT:
            time.sleep(0.01)
        self._put_text += len(line or "")
        while not self._stopped:
            with contextlib.suppress(queue.Full):
                self._lines.put(line, timeout=0.5)
                return

    def _next_line(self, deadline: float) -> str:
        line: str | None = None
        while not self._stopped:
            left = max(deadline - time.monotonic(), 0.0)
            try:
                line = self._lines.get(timeout=min(left, LOOK))
                break
            except queue.Empty:
                if left <= LOOK:
                    raise TimeoutError from None
        if line is None:
            with contextlib.suppress(queue.Full):
                self._lines.put_nowait(None)
            raise OutputEnded
        self._taken_text += len(line)
        return line
