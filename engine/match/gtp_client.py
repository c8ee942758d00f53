"""The controller's side of GTP: one engine process, commands with time limits, and nothing that can hang the caller.

A thread reads the engine's standard output into a queue; a reply is waited for with a deadline. A process that crashes,
hangs or talks nonsense raises EngineFailed, after which only kill() is of use. An EngineSlot starts it again.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from engine.errors import EngineError

from .engine_log import EngineLog

NEW_GROUP = 0x200  # CREATE_NEW_PROCESS_GROUP on Windows
QUIT_SECONDS = 2.0  # grace after `quit` before the process is killed
MAX_STRAY_LINES = 1000  # lines outside a reply before an engine counts as talking nonsense
MAX_REPLY_LINES = 100_000  # lines of one reply before it does
MAX_REPLY = 1 << 24  # characters of one reply before it does
MAX_LINE = 1 << 20  # bytes of a line; a longer one counts as several
MAX_WAITING = 10_000  # lines not yet looked at; an engine that says more has to wait
MAX_WAITING_TEXT = 1 << 22  # characters of them, likewise
LOG_LOOK = 1.0  # seconds between looks at its standard error while an engine is waited for


class GtpError(EngineError):
    """The engine answered with an error; it goes on running."""


class EngineFailed(EngineError):
    """The engine is of no more use: it crashed, hangs or breaks the protocol.

    Args:
        reason: "start", "crash", "timeout" or "protocol".
    """

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class GtpProcess:
    """A running engine. Raises EngineFailed if the command cannot be started."""

    def __init__(self, command: str, log: Path | None = None) -> None:
        try:
            words = shlex.split(command, posix=sys.platform != "win32")
            with open(log if log is not None else os.devnull, "ab") as errors:
                # A group of its own, so that Ctrl-C reaches the match alone.
                self._process: subprocess.Popen[bytes] = subprocess.Popen(
                    words,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=sys.platform != "win32",
                    creationflags=NEW_GROUP if sys.platform == "win32" else 0,
                )
        except (OSError, ValueError, IndexError) as error:
            raise EngineFailed("start", f"cannot start {command!r}: {error}") from None
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._lines: queue.Queue[str | None] = queue.Queue(MAX_WAITING)
        self._put_text = self._taken_text = 0  # characters, each counted by one thread
        self._log = EngineLog(log)
        self._killed = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        """Move lines from the engine to the queue until its output ends, then None."""
        with contextlib.suppress(OSError, ValueError):
            while line := self._stdout.readline(MAX_LINE):
                self._put(line.decode("utf-8", "replace").rstrip("\r\n"))
        self._put(None)

    def _put(self, line: str | None) -> None:
        while not self._killed and self._put_text - self._taken_text > MAX_WAITING_TEXT:
            time.sleep(0.01)
        self._put_text += len(line or "")
        while not self._killed:
            with contextlib.suppress(queue.Full):
                self._lines.put(line, timeout=0.5)
                return

    def send(self, command: str, timeout: float) -> str:
        """Send one command and return the reply without "= ", its lines joined by newlines.

        Args:
            timeout: seconds to wait for the whole reply.

        Raises:
            GtpError: if the engine answers "?"; the text is its message.
            EngineFailed: on a crash, a timeout or nonsense.
        """
        deadline = time.monotonic() + timeout
        self._refuse_unasked(command)
        self._log.shorten()
        try:
            self._stdin.write(command.encode() + b"\n")
            self._stdin.flush()
        except (OSError, ValueError):
            raise EngineFailed("crash", f"the engine has ended before {command!r}{self._exit_text()}") from None
        reply: list[str] = []
        stray = length = 0
        while True:
            line = self._next_line(command, timeout, deadline)
            length += len(line)
            if not reply:
                if line[:1] in ("=", "?"):
                    reply.append(line)
                elif line.strip():
                    stray += 1
                    if stray > MAX_STRAY_LINES or length > MAX_REPLY:
                        raise EngineFailed("protocol", f"no reply to {command!r}, but {line[:60]!r}")
            elif line.strip():
                reply.append(line)
                if len(reply) > MAX_REPLY_LINES or length > MAX_REPLY:
                    raise EngineFailed("protocol", f"an endless reply to {command!r}")
            else:
                break
        first = reply[0][1:].lstrip("0123456789")
        text = "\n".join([first.strip(), *reply[1:]])
        if reply[0].startswith("?"):
            raise GtpError(text)
        return text

    def _refuse_unasked(self, command: str) -> None:
        """Take what has come since the last reply: a further reply would be read as the answer to this command."""
        for _ in range(self._lines.qsize()):
            line = self._lines.get()
            if line is None:
                self._lines.put(None)
                return
            self._taken_text += len(line)
            if line[:1] in ("=", "?"):
                raise EngineFailed("protocol", f"a reply that nobody asked for, before {command!r}: {line[:60]!r}")

    def _next_line(self, command: str, timeout: float, deadline: float) -> str:
        while True:
            left = max(deadline - time.monotonic(), 0.0)
            try:
                line = self._lines.get(timeout=min(left, LOG_LOOK))
                break
            except queue.Empty:
                if left <= LOG_LOOK:
                    raise EngineFailed("timeout", f"no reply to {command!r} within {timeout:g} s") from None
                self._log.shorten()
        if line is None:
            raise EngineFailed("crash", f"the engine ended during {command!r}{self._exit_text()}")
        self._taken_text += len(line)
        return line

    def _exit_text(self) -> str:
        status = self._ended(1.0)
        return "" if status is None else f", exit status {status}"

    def _ended(self, seconds: float) -> int | None:
        """Wait for the engine's end and return its exit status, None if it goes on.

        On POSIX it stays in the table of processes until `kill`, so that its number means nobody else before.
        """
        if sys.platform == "win32" or self._process.returncode is not None:
            try:
                return self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                return None
        deadline = time.monotonic() + seconds
        while True:
            with contextlib.suppress(InterruptedError):
                found = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
                if found is not None:
                    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
            if time.monotonic() >= deadline:
                return None
            time.sleep(0.01)

    def cpu_seconds(self) -> float | None:
        """Return the processor time of the engine and what it started, None where the system does not tell."""
        return session_cpu_seconds(self._process.pid)

    def close(self) -> None:
        """Ask the engine to quit, and kill it if it does not."""
        with contextlib.suppress(EngineError):
            self.send("quit", QUIT_SECONDS)
        with contextlib.suppress(OSError):
            self._stdin.close()
        self._ended(QUIT_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End the engine, and on POSIX whatever it started, at once."""
        self._killed = True
        if self._process.returncode is None:
            with contextlib.suppress(OSError):  # nothing is left
                if sys.platform != "win32":
                    os.killpg(self._process.pid, signal.SIGKILL)  # also what an engine that has ended left behind
                else:
                    self._process.kill()
            self._process.wait()
        with contextlib.suppress(OSError):
            self._stdin.close()
        self._reader.join(QUIT_SECONDS)
        if not self._reader.is_alive():  # else something it started holds the pipe: closing would hang
            self._stdout.close()


def session_cpu_seconds(leader: int) -> float | None:
    """Return the processor time of all processes of a session so far; None but on Linux."""
    ticks: list[int] = []
    try:
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                # After the name, which may hold anything: state ppid pgrp session … utime stime cutime cstime.
                fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
                if int(fields[3]) == leader:
                    ticks.append(sum(map(int, fields[11:15])))
        return sum(ticks) / os.sysconf("SC_CLK_TCK") if ticks else None
    except (OSError, ValueError, IndexError, AttributeError):
        return None


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
        self._words = EngineLog(log)
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
            self._words.skip()
            self._process = GtpProcess(self.command, self._log)
        self.commands = frozenset(self.try_send("list_commands").split())
        name, version = self.try_send("name"), self.try_send("version")
        self.name = f"{name} {version}".strip() or self.label

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
        return self._words.new_words()
