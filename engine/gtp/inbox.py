"""Where the lines of the controller wait: filled by the reader thread, emptied by the worker.

The worker asks to be told, while it thinks, that a line came in (which ends an analysis), that it is to make haste
("# interrupt") or that nobody waits for the answer any more (which ends everything). Invariant: lines are given out in
the order they came, each once.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engine.gtp.protocol import is_interrupt, parse
from engine.lines import LineBuffer

Callback = Callable[[], None]


class Inbox:
    """A queue of lines with an end, and with callbacks for what arrives."""

    def __init__(self) -> None:
        self._lines: deque[tuple[bytes, float]] = deque()  # with the time at which they came
        self._quits = 0  # lines among them that say quit
        self.came = 0.0  # time.monotonic at which the line came that was taken last
        self._changed = threading.Condition()
        self._ended = False  # the controller closed our input
        self._dead = False  # nobody listens: abandon everything
        self._watchers: list[tuple[Callback, bool]] = []

    def put(self, line: bytes) -> None:
        """Add a line, and tell whoever wants to know of any input."""
        with self._changed:
            self._lines.append((line, time.monotonic()))
            self._quits += says_quit(line)
            self._changed.notify_all()
            callbacks = [call for call, any_line in self._watchers if any_line or is_interrupt(line)]
        for call in callbacks:
            call()

    def end(self) -> None:
        """Say that no line will follow. What is queued is still answered, searches only if a `quit` is among it."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
            callbacks = [call for call, any_line in self._watchers if any_line or not self._quits]
        for call in callbacks:
            call()

    def kill(self) -> None:
        """Say that nobody listens any more: nothing that is queued will be given out."""
        with self._changed:
            self._dead = self._ended = True
            self._lines.clear()
            self._quits = 0
            self._changed.notify_all()
            callbacks = [call for call, _ in self._watchers]
        for call in callbacks:
            call()

    def take(self) -> bytes | None:
        """Wait for the next line. Return None at the end."""
        with self._changed:
            while not self._lines and not self._ended:
                self._changed.wait()
            if not self._lines:
                return None
            line, self.came = self._lines.popleft()
            self._quits -= says_quit(line)
            return line

    @property
    def abandoned(self) -> bool:
        """True if the answer to a search would find nobody: the input ended, and not with `quit`."""
        with self._changed:
            return self._hopeless()

    @property
    def interrupted(self) -> bool:
        """True if "# interrupt" came, and no command before it."""
        with self._changed:
            return self._interrupt_queued()

    @property
    def waiting(self) -> bool:
        """True if a line is waiting, or the end."""
        with self._changed:
            return bool(self._lines) or self._ended

    @contextmanager
    def watch(self, call: Callback, *, any_line: bool) -> Iterator[None]:
        """Have `call` called, from any thread and perhaps more than once, while the block runs.

        Args:
            any_line: on any line or the end (and at once if one is waiting already); else only when interrupted or
                abandoned.
        """
        entry = (call, any_line)
        with self._changed:
            self._watchers.append(entry)
            due = self._hopeless() or self._interrupt_queued() or (any_line and (bool(self._lines) or self._ended))
        try:
            if due:
                call()
            yield
        finally:
            with self._changed:
                self._watchers.remove(entry)

    def _hopeless(self) -> bool:
        return self._dead or (self._ended and not self._quits)

    def _interrupt_queued(self) -> bool:
        for line, _ in self._lines:
            if is_interrupt(line):
                return True
            if parse(line) is not None:
                return False
        return False


def says_quit(line: bytes) -> bool:
    """Tell whether a line is the command quit."""
    request = parse(line) if b"quit" in line else None
    return request is not None and request.name == "quit"


def read_lines(read: Callable[[int], bytes | None], inbox: Inbox) -> None:
    """Fill the inbox from a byte stream until it ends; the last line may lack its LF. Runs in the reader thread.

    Args:
        read: returns at least one byte as soon as some are there, nothing at the end (the `read` of a raw file).
    """
    lines = LineBuffer()
    try:
        while data := read(65536):
            for line in lines.feed(data):
                inbox.put(line)
    except (OSError, ValueError):  # the descriptor was closed under us: an end like any other
        pass
    if last := lines.rest():
        inbox.put(last)
    inbox.end()
