"""A GTP session: lines in, replies out, strictly in order, whatever happens in between.

The reader thread fills the inbox; the worker, which is the thread that calls `run`, answers line after line. An
analysis ends with the next line, "# interrupt" makes a command answer with what it has, a search that nobody waits
for is abandoned, an unexpected error costs one reply and
a traceback on stderr. What commands do is engine.gtp.commands' business.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from engine.errors import EngineError, IllegalMove, UnsupportedBoardSize
from engine.gtp import protocol
from engine.gtp.controller import Controller
from engine.gtp.inbox import Inbox, read_lines
from engine.gtp.output import ClosedOutput, Output
from engine.gtp.protocol import GtpError, Request
from engine.gtp.registry import COMMANDS, Command
from engine.gtp.watchdog import Watchdog
from engine.lines import MAX_LINE
from engine.player.stop import Abandoned, StopToken

log = logging.getLogger(__name__)

GRACE = 1.0
"""Seconds between abandoning a search and ending the process by force, should the search not return."""
SHORT_GRACE = 20.0
"""The same for commands that only take long where the machine is busy, and whose answer is still wanted."""


MAX_ERROR = 500
"""Characters of an error message: it may quote an argument, and that may be a million long."""


class Stream:
    """The open reply of an analysis: a header line, lines as they come, and the session adds the empty line."""

    def __init__(self, output: Output, number: str) -> None:
        self._output = output
        self._number = number
        self.opened = False

    def open(self) -> None:
        """Write the header. From now on the reply cannot become an error."""
        self.opened = True
        self._output.write(protocol.header(self._number) + "\n")

    def line(self, text: str) -> None:
        """Write one line."""
        self._output.write(text + "\n")

    def close(self) -> None:
        """Write the empty line that ends the reply."""
        self._output.write("\n")


class Session:
    """Runs one controller against one pair of streams.

    Args:
        controller: what the commands act on.
        output: where replies go.
        force_exit: ends the process at once with a code; called only if an abandoned search does not return.
    """

    def __init__(self, controller: Controller, output: Output, force_exit: Callable[[int], None] | None = None) -> None:
        self._controller = controller
        self._output = output
        self._watchdog = Watchdog(lambda: force_exit(self._code)) if force_exit is not None else None
        self.inbox = Inbox()
        self._code = 0
        self._replied = 0.0  # when the last line was done with, time.monotonic

    def start_reading(self, read: Callable[[int], bytes | None]) -> None:
        """Start the reader thread on a byte source (see `read_lines`)."""
        threading.Thread(target=read_lines, args=(read, self.inbox), name="gtp-reader", daemon=True).start()

    def end(self, code: int = 0) -> None:
        """Make `run` return this code as soon as possible. From any thread."""
        self._code = code
        self.inbox.kill()

    def run(self) -> int:
        """Answer until `quit`, the end of the input or of the output. Return the exit code."""
        try:
            while True:
                self._ponder()
                line = self.inbox.take()
                if line is None or not self._answer(line):
                    return self._code
                self._replied = time.monotonic()
        except ClosedOutput:
            return 0

    def _ponder(self) -> None:
        """Use the controller's time, where that is wanted and no line is waiting."""
        if self._controller.wants_to_ponder and not self.inbox.waiting:
            try:
                token = self._controller.begin()
                with self.inbox.watch(token.stop, any_line=True):
                    self._controller.ponder()
            except Exception:
                log.exception("thinking on the opponent's time failed")

    def _answer(self, line: bytes) -> bool:
        """Answer one line. Return False if the session is over."""
        if len(line) > MAX_LINE:
            start = protocol.parse(line[:64])
            self._output.write(protocol.format_reply(start.id if start else "", protocol.SYNTAX_ERROR, ok=False))
            return True
        request = protocol.parse(line)
        if request is None:
            return True
        command = COMMANDS.get(request.name)
        if command is None:
            self._hint(request)
            self._output.write(protocol.format_reply(request.id, protocol.UNKNOWN_COMMAND, ok=False))
            return True
        stream = Stream(self._output, request.id)
        try:
            ok, text = self._run(command, request, stream)
        except Abandoned:
            self._explain_abandoning()
            return False
        if stream.opened:
            stream.close()
        else:
            self._output.write(protocol.format_reply(request.id, text, ok=ok))
        return not self._controller.finished

    def _run(self, command: Command, request: Request, stream: Stream) -> tuple[bool, str]:
        """Run a command. Return whether it succeeded, and the body of the reply."""
        token = self._controller.begin()
        token.asked = max(self.inbox.came, self._replied)  # a busy machine may let us wait between the two
        streams = (stream,) if command.streaming else ()
        try:
            any_line = command.cancellable or (command.streaming and not command.thinks)
            grace = GRACE if command.thinks or command.streaming else SHORT_GRACE
            with self.inbox.watch(self._interrupter(token, any_line, grace), any_line=any_line):
                return True, command.handler(self._controller, request, *streams) or ""
        except GtpError as error:
            return False, one_line(str(error))
        except IllegalMove:
            return False, "illegal move"
        except UnsupportedBoardSize:
            return False, "unacceptable size"
        except EngineError as error:
            if stream.opened:
                log.warning("%s: %s", request.name, error)  # the reply can no longer say it
            return False, one_line(str(error))
        except (Abandoned, ClosedOutput):
            raise
        except Exception:
            log.exception("%s failed", request.name)
            return False, "internal error"
        finally:
            if self._watchdog is not None:
                self._watchdog.lift()

    def _interrupter(self, token: StopToken, any_line: bool, grace: float) -> Callable[[], None]:
        def call() -> None:
            if self.inbox.abandoned:
                if self._watchdog is not None:  # the command might be deep in compiled code
                    self._watchdog.set(grace)
                token.abandon()
            elif any_line or self.inbox.interrupted:
                token.stop()

        return call

    def _explain_abandoning(self) -> None:
        if self._code == 0:
            log.info("the input ended, so the search was abandoned; end a script with quit to have everything answered")

    @staticmethod
    def _hint(request: Request) -> None:
        if request.name.startswith("{"):
            log.warning("this line looks like JSON, but this is the GTP mode; for JSON start `keisei analysis`")


def one_line(text: str) -> str:
    """Make an error message fit for a reply: one short line, no final dot, first word lower-case (unless a name)."""
    line = " ".join(text.split()).rstrip(".")
    if len(line) > MAX_ERROR:
        line = f"{line[:MAX_ERROR]} ..."
    first = line.partition(" ")[0]
    return line[:1].lower() + line[1:] if first[1:].islower() else line
