"""A connection to a CGOS server as lines of text, and the account it is made with."""

from __future__ import annotations

import contextlib
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from engine.lines import MAX_LINE, LineBuffer

from .cgos_text import CgosError

ENDLESS = f"the server sends a line of more than {MAX_LINE >> 20} MiB"
POLL = 0.5  # seconds between looks at the stop event
CONNECT = 20.0  # seconds to wait for a connection


class Refused(CgosError):
    """The server will not have us, and another try is of no use."""


class Disconnected(CgosError):
    """The connection is lost."""


@dataclass(frozen=True, slots=True)
class Account:
    """Where to play, and as whom."""

    host: str
    port: int
    name: str
    password: str


class Line:
    """A connection as lines of text. Raises Disconnected when it is lost."""

    def __init__(self, account: Account) -> None:
        try:
            self._socket = socket.create_connection((account.host, account.port), timeout=CONNECT)
        except OSError as error:
            raise Disconnected(f"cannot connect to {account.host}:{account.port}: {error}") from None
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        with contextlib.suppress(OSError):
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(POLL)
        self._buffer = LineBuffer()
        self._waiting: deque[bytes] = deque()

    def read(self, stop: Callable[[], bool]) -> str | None:
        """Return the next line; None if `stop` says so while there is none."""
        while not self._waiting:
            if stop():
                return None
            try:
                data = self._socket.recv(1 << 16)
            except TimeoutError:
                continue
            except OSError as error:
                raise Disconnected(f"connection lost: {error}") from None
            if not data:
                raise Disconnected("the server has closed the connection")
            self._waiting.extend(self._buffer.feed(data))
            if self._buffer.overlong:
                raise Disconnected(ENDLESS)
        line = self._waiting.popleft()
        if len(line) > MAX_LINE:
            raise Disconnected(ENDLESS)
        return line.decode("utf-8", "replace").strip()

    def write(self, text: str) -> None:
        """Send a line."""
        try:
            self._socket.settimeout(CONNECT)
            self._socket.sendall(text.encode() + b"\n")
            self._socket.settimeout(POLL)
        except OSError as error:
            raise Disconnected(f"connection lost: {error}") from None

    def close(self) -> None:
        """End the connection."""
        with contextlib.suppress(OSError):
            self._socket.close()
