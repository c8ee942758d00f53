"""The controller's side of GTP: one engine process, commands with time limits, and nothing that can hang the caller.

Commands are numbered where the engine repeats the numbers, so that a reply which comes late or twice is known as one
(docs/adr/0046). A process that crashes, hangs or talks nonsense raises EngineFailed, after which only kill() is of use.
An EngineSlot (engine_slot.py) starts it again.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from engine.errors import EngineError
from engine.files import reason

from .engine_log import EngineLog
from .engine_output import BadOutput, EngineOutput, OutputEnded, Reply

NEW_GROUP = 0x200  # CREATE_NEW_PROCESS_GROUP on Windows
QUIT_SECONDS = 2.0  # grace after `quit` before the process is killed
FIRST_NUMBER = 101  # of commands; high enough that an engine which says 0 or 1 to everything is known
PROBE = "protocol_version"  # the first command, to which every engine has an answer


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
    """A running engine. Raises EngineFailed if the command cannot be started.

    Args:
        command: its command line.
        log: file that its standard error is appended to; None: nobody hears it.
    """

    def __init__(self, command: str, log: Path | None = None) -> None:
        try:
            words = shlex.split(command, posix=sys.platform != "win32")
            # A group of its own, so that Ctrl-C reaches the match alone.
            self._process: subprocess.Popen[bytes] = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if log is None else subprocess.PIPE,
                start_new_session=sys.platform != "win32",
                creationflags=NEW_GROUP if sys.platform == "win32" else 0,
            )
        except FileNotFoundError:
            raise EngineFailed("start", f"cannot start {command!r}: there is no program {words[0]}") from None
        except IndexError:
            raise EngineFailed("start", f"cannot start {command!r}: it names no program") from None
        except (OSError, ValueError) as error:
            raise EngineFailed("start", f"cannot start {command!r}: {reason(error)}") from None
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin = self._process.stdin
        self._output = EngineOutput(self._process.stdout)
        self._log: EngineLog | None = None
        self._number = FIRST_NUMBER
        self._numbered: bool | None = None  # whether the engine repeats the numbers of commands; None: not known yet
        if log is not None:
            assert self._process.stderr is not None
            try:
                self._log = EngineLog(self._process.stderr, log)
            except OSError as error:
                self.kill()
                raise EngineFailed("start", f"cannot start {command!r}: {error}") from None

    def send(self, command: str, timeout: float) -> str:
        """Send one command and return the reply without "= ", its lines joined by newlines.

        Args:
            timeout: seconds to wait for the whole reply.

        Raises:
            GtpError: if the engine answers "?"; the text is its message.
            EngineFailed: on a crash, a timeout or nonsense.
        """
        deadline = time.monotonic() + timeout
        if self._numbered is None:
            reply = self._ask(PROBE, self._number, timeout, deadline)
            self._numbered = reply.number == self._number
        if not self._numbered:
            reply = self._ask(command, None, timeout, deadline)
        else:
            self._number += 1
            reply = self._ask(command, self._number, timeout, deadline)
            # An error without a number may be all that an engine has to say to a command it does not know.
            if reply.number != self._number and (reply.success or reply.number is not None):
                said = "without a number" if reply.number is None else f"to command {reply.number}"
                text = f"a reply {said} after command {self._number}, {command!r}: {reply.text[:60]!r}"
                raise EngineFailed("protocol", text)
        if not reply.success:
            raise GtpError(reply.text)
        return reply.text

    def _ask(self, command: str, number: int | None, timeout: float, deadline: float) -> Reply:
        """Send a command and return what comes."""
        unasked = self._output.unasked()
        if unasked is not None:  # it would be read as the answer to this command
            raise EngineFailed("protocol", f"a reply that nobody asked for, before {command!r}: {unasked[:60]!r}")
        try:
            self._stdin.write((command if number is None else f"{number} {command}").encode() + b"\n")
            self._stdin.flush()
        except (OSError, ValueError):
            raise EngineFailed("crash", self._end_text("input", f"before {command!r}")) from None
        try:
            return self._output.reply(deadline)
        except TimeoutError:
            raise EngineFailed("timeout", f"no reply to {command!r} within {timeout:g} s") from None
        except OutputEnded:
            raise EngineFailed("crash", self._end_text("output", f"during {command!r}")) from None
        except BadOutput as error:
            raise EngineFailed("protocol", f"after {command!r}: {error}") from None

    def new_words(self) -> str:
        """Return the end of what the engine has said on standard error since the last call."""
        return "" if self._log is None else self._log.new_words()

    def _end_text(self, closed: str, when: str) -> str:
        """Return what to say of an engine that has closed a pipe."""
        status = self._ended(1.0)
        self.new_words()  # so that its last ones are in the file
        if status is None:
            return f"the engine closed its {closed} {when}, but goes on"
        return f"the engine ended {when}, exit status {status}"

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
            with contextlib.suppress(InterruptedError, ChildProcessError):  # another thread has killed it
                found = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
                if found is not None:
                    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
            if self._process.returncode is not None or time.monotonic() >= deadline:
                return self._process.returncode
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
        if self._process.returncode is None:
            with contextlib.suppress(OSError):  # nothing is left
                if sys.platform != "win32":
                    os.killpg(self._process.pid, signal.SIGKILL)  # also what an engine that has ended left behind
                else:
                    self._process.kill()
            self._process.wait()
        with contextlib.suppress(OSError):
            self._stdin.close()
        self._output.stop(QUIT_SECONDS)
        if self._log is not None:
            self._log.close()


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
