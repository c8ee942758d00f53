"""The file that engines' standard error is appended to: its last words for the SGF, and an end to its growth."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

MAX_LOG = 1 << 24  # bytes on the disk; then only the end is kept
KEPT = MAX_LOG // 8  # bytes of it
MAX_WORDS = 4096  # bytes that are looked at after a move


class EngineLog:
    """Looks after the file of one engine, which the engine itself writes to.

    Args:
        path: None for an engine whose words are thrown away.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._heard = self._size()  # bytes that new_words has given

    def skip(self) -> None:
        """Take what is there as known."""
        self._heard = self._size()

    def new_words(self) -> str:
        """Return the end of what has been said since the last call."""
        size = self._size()
        if size < self._heard:  # it has been shortened
            self._heard = 0
        if self.path is None or size <= self._heard:
            return ""
        try:
            with open(self.path, "rb") as file:
                file.seek(max(self._heard, size - MAX_WORDS))
                text = file.read(size - file.tell())
        except OSError:
            return ""
        self._heard = size
        return text.decode("utf-8", "replace")

    def shorten(self) -> None:
        """Keep only the end of a file that has grown too long, so that no engine fills the disk."""
        if self.path is None or self._size() <= MAX_LOG:
            return
        with contextlib.suppress(OSError), open(self.path, "r+b") as file:
            file.seek(-KEPT, os.SEEK_END)
            end = file.read(KEPT)
            file.seek(0)
            file.write(end)
            file.truncate()

    def _size(self) -> int:
        try:
            return self.path.stat().st_size if self.path is not None else 0
        except OSError:
            return 0
