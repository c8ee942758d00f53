"""What an engine says on its standard error: its last words for the SGF, and the end of it all in a file.

It comes through a pipe, so that neither memory nor disk depends on anybody asking: a thread takes what comes, keeps the
file short, and lets an engine that floods wait.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

MAX_LOG = 1 << 24  # bytes on the disk; then only the end is kept
KEPT = MAX_LOG // 8  # bytes of it
MAX_WORDS = 4096  # bytes that are kept for `new_words`
PIECE = 1 << 16  # bytes taken at a time
MOST_A_SECOND = 1 << 23  # bytes taken; who says more waits at its end of the pipe


class EngineLog:
    """Takes one engine process's standard error until it ends.

    Args:
        pipe: closed by `close`.
        path: of the file to append to. Words that the disk has no room for are lost.

    Raises OSError if the file cannot be opened.
    """

    def __init__(self, pipe: IO[bytes], path: Path) -> None:
        self._pipe = pipe
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115
        self._size = os.fstat(self._file.fileno()).st_size
        self._path = path
        self._words = b""
        self._lock = threading.Lock()  # of the pipe's end and all that is kept
        self._ended = self._stopped = False
        self._poll = self._poller()  # asked under the lock
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def new_words(self) -> str:
        """Return the end of what has been said since the last call, up to this moment where the system can tell."""
        with self._lock:
            for _ in range(MOST_A_SECOND // PIECE):
                if not self._take():
                    break
            words, self._words = self._words, b""
        return words.decode("utf-8", "replace")

    def close(self) -> None:
        """Take what the engine, which has ended, said last."""
        self._thread.join(1.0)  # longer only if something it started goes on talking
        self._stopped = True
        self._thread.join(1.0)
        with self._lock:
            self._ended = True
            self._file.close()
            if not self._thread.is_alive():  # else closing would hang
                self._pipe.close()

    def _listen(self) -> None:
        poll = self._poller()
        begun, taken = time.monotonic(), 0
        while not (self._ended or self._stopped):
            if poll is not None:
                if not poll.poll(500):
                    continue
                with self._lock:
                    taken += self._take()
            else:
                data = os.read(self._pipe.fileno(), PIECE)
                with self._lock:
                    self._keep(data)
                taken += len(data)
            passed = time.monotonic() - begun
            if taken > MOST_A_SECOND and passed < 1.0:
                time.sleep(1.0 - passed)
            if passed > 1.0 or taken > MOST_A_SECOND:
                begun, taken = time.monotonic(), 0

    def _poller(self) -> Any:
        if sys.platform == "win32":
            return None
        poll = select.poll()
        poll.register(self._pipe.fileno(), select.POLLIN)
        return poll

    def _take(self) -> int:
        """Take one piece if there is one and the system tells so, and return its length."""
        if self._poll is None or self._ended or not self._poll.poll(0):
            return 0
        data = os.read(self._pipe.fileno(), PIECE)
        self._keep(data)
        return len(data)

    def _keep(self, data: bytes) -> None:
        if not data or self._ended:
            self._ended = True
            return
        self._words = (self._words + data)[-MAX_WORDS:]
        with contextlib.suppress(OSError):  # a full disk is no matter
            if self._size + len(data) > MAX_LOG:
                self._shorten()
            self._size += self._file.write(data[-(MAX_LOG - self._size) :])

    def _shorten(self) -> None:
        """Keep only the end of the file."""
        with open(self._path, "r+b") as file:
            file.seek(-min(KEPT, self._size), os.SEEK_END)
            end = file.read()
            file.seek(0)
            file.write(end)
            file.truncate()
        self._size = len(end)
