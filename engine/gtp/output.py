"""The way out: whole replies on stdout in one locked write, and stdout kept clean of everything else."""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO


class ClosedOutput(Exception):
    """Nobody reads our replies any more."""


class Output:
    """Writes text to a binary stream, each call as one write and one flush under a lock."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, text: str) -> None:
        """Write the text. Raises ClosedOutput if the other end is gone."""
        data = text.encode("utf-8", errors="replace")
        try:
            with self._lock:
                self._stream.write(data)
                self._stream.flush()
        except (OSError, ValueError) as error:
            raise ClosedOutput from error


def claim_stdout() -> BinaryIO:
    """Return stdout for GTP alone; from now on everything else that writes to stdout, C code too, writes to stderr."""
    sys.stdout.flush()
    private = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return os.fdopen(private, "wb")


def watch_closing(stream: BinaryIO, call: Callable[[], None]) -> None:
    """Call `call` once the reading end of a pipe is closed, though we write nothing. Where poll is missing, do nothing.

    Args:
        stream: the stream GTP goes to.
        call: called from a thread of its own.
    """
    if not hasattr(select, "poll"):
        return
    poller = select.poll()
    poller.register(stream.fileno(), 0)  # errors and hang-ups are always reported

    def wait() -> None:
        try:
            while not poller.poll():
                pass
        except OSError:
            return
        call()

    threading.Thread(target=wait, name="stdout-watch", daemon=True).start()
