"""Lines out of a stream of bytes that comes in pieces of any size."""

from __future__ import annotations

MAX_LINE = 1 << 20
"""Bytes of a line that are kept; what is longer is refused, so that a runaway client cannot fill the memory."""


class LineBuffer:
    """Cuts a stream of bytes into lines at LF, whatever the sizes of the reads. An incomplete line stays inside."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next bytes; return the lines they complete, without LF, each cut to limit + 1 bytes."""
        *complete, tail = data.split(b"\n")
        lines = []
        for piece in complete:
            self._keep(piece)
            lines.append(self.rest())
        self._keep(tail)
        return lines

    def rest(self) -> bytes:
        """Take out what is there of a line that has not ended."""
        line = b"".join(self._parts)
        self._parts, self._size = [], 0
        return line

    @property
    def overlong(self) -> bool:
        """True if the line that has not ended is longer than the limit already."""
        return self._size > self._limit

    def _keep(self, piece: bytes) -> None:
        room = self._limit + 1 - self._size
        if piece and room > 0:
            self._parts.append(piece[:room])
            self._size += min(len(piece), room)
