"""A place for an engine process, in which it is started when first needed and again after it was dropped."""

from __future__ import annotations

import threading
from pathlib import Path

from .gtp_client import EngineFailed, GtpError, GtpProcess

MAX_NAME = 120  # characters of what an engine calls itself, on one line


class EngineSlot:
    """A place for an engine process (see engines.Slot).

    Args:
        label: what the match calls it: "A", "B" or "referee".
        command: the command line.
        timeout: seconds for each reply.
        log: file that the engine's standard error is appended to.
    """

    def __init__(self, label: str, command: str, timeout: float, log: Path | None = None) -> None:
        self.label = label
        self.command = command
        self.timeout = timeout
        self.commands: frozenset[str] = frozenset()
        self.name = ""
        self._log = log
        self._process: GtpProcess | None = None
        self._lock = threading.Lock()
        self._closed = False

    def start(self) -> None:
        """Start the engine if it is not running, and ask its name and commands. Raises EngineFailed."""
        with self._lock:
            if self._closed:
                raise EngineFailed("crash", "the match is over")
            if self._process is not None:
                return
            self._process = GtpProcess(self.command, self._log)
        self.commands = frozenset(self.try_send("list_commands").split())
        name, version = self.try_send("name"), self.try_send("version")
        self.name = " ".join(f"{name} {version}".split())[:MAX_NAME] or self.label

    def send(self, command: str) -> str:
        """Send a command to the running engine. Raises GtpError and EngineFailed."""
        process = self._process
        if process is None:
            raise EngineFailed("crash", "the engine is not running")
        return process.send(command, self.timeout)

    def try_send(self, command: str) -> str:
        """Send a command and return "" if the engine answers with an error. Raises EngineFailed."""
        try:
            return self.send(command)
        except GtpError:
            return ""

    def drop(self) -> None:
        """Kill the engine; the next start() makes a new one."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the engine politely, for good."""
        with self._lock:
            self._closed = True
            process, self._process = self._process, None
        if process is not None:
            process.close()

    def abort(self) -> None:
        """End the engine at once, for good; may be called from another thread."""
        self._closed = True
        self.drop()

    def cpu_seconds(self) -> float | None:
        """Return the processor time the running engine has used so far, None where that is not known."""
        process = self._process
        return None if process is None else process.cpu_seconds()

    def new_words(self) -> str:
        """Return the end of what the engine has said on standard error since the last call."""
        process = self._process
        return "" if process is None else process.new_words()
