"""The analysis engine as a process: standard streams, signals, the net's loading in the background, and the exit.

The process ends through os._exit: a thread may be deep in compiled code, and neither that nor an interpreter tidying up
may delay the end.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn, Protocol

from engine.errors import EngineError
from engine.judge.net_judge import Judge
from engine.judge.settings import JudgeSettings
from engine.lines import LineBuffer
from engine.player.net import BackgroundNet, LoadedNet
from engine.player.stop import StopToken

from .output import ClosedOutput, Output
from .parse import Defaults
from .reader import MAX_LINE, Reader
from .scheduler import Scheduler

log = logging.getLogger(__name__)


class LogHandler(Protocol):
    """The handler that logs to stderr."""

    def drain(self, seconds: float = 0.3) -> None: ...


class LateScheduler:
    """A scheduler that is made when the net is there; until then it remembers what is asked of it."""

    def __init__(self, make: Callable[[], Scheduler]) -> None:
        self._make = make
        self._calls: list[Callable[[Scheduler], None]] = []
        self._scheduler: Scheduler | None = None
        self._lock = threading.Lock()

    def _do(self, call: Callable[[Scheduler], None]) -> None:
        with self._lock:
            if self._scheduler is None:
                self._calls.append(call)
                return
            call(self._scheduler)

    def submit(self, query: Any) -> None:
        self._do(lambda scheduler: scheduler.submit(query))

    def terminate(self, number: str | None, turns: frozenset[int] | None = None) -> None:
        self._do(lambda scheduler: scheduler.terminate(number, turns))

    def clear(self) -> None:
        if self._scheduler is not None:
            self._scheduler.clear()

    def call(self, action: Callable[[], None]) -> None:
        self._do(lambda scheduler: scheduler.call(action))

    def end(self) -> None:
        self._do(Scheduler.end)

    def kill(self) -> None:
        self._do(Scheduler.kill)

    @property
    def waiting(self) -> int:
        return len(self._calls) if self._scheduler is None else self._scheduler.waiting

    def run(self) -> None:
        """Make the scheduler and run it to the end."""
        made = self._make()
        with self._lock:
            self._scheduler = made
            for call in self._calls:
                call(made)
            self._calls.clear()
        made.run()


def read_lines(read: Callable[[int], bytes | None], act: Callable[[bytes], None], end: Callable[[], None]) -> None:
    """Act on every line until the stream ends; the last one may lack its LF. Runs in the reader thread."""
    lines = LineBuffer(MAX_LINE)
    try:
        while data := read(1 << 16):
            for line in lines.feed(data):
                act(line)
        act(lines.rest())
    except ClosedOutput:
        pass
    except (OSError, ValueError):  # the descriptor was closed under us: an end like any other
        pass
    except Exception:
        log.exception("reading queries broke down")
    end()


def serve(
    defaults: Defaults,
    judging: JudgeSettings,
    net: BackgroundNet,
    *,
    read: Callable[[int], bytes | None],
    output: Output,
    handler: LogHandler,
    wait: bool,
    watch: Callable[[Callable[[], None]], None],
) -> NoReturn:
    """Answer queries until the end of the input, then end the process.

    Args:
        net: loads in the background; the process ends with code 1 if that fails.
        read: returns some bytes of the input, nothing at its end.
        wait: finish what is queued at the end of the input.
        watch: has a function called once nobody reads the output any more.
    """
    loaded: list[LoadedNet] = []

    def leave(code: int) -> NoReturn:
        handler.drain()
        os._exit(code)

    def make() -> Scheduler:
        found = net.wait(StopToken())
        assert found is not None
        loaded.append(found)
        judge = Judge(found.opinions or found.evaluator, judging, evaluator=found.evaluator)
        seed = defaults.player.seed
        log.info("ready: %s", found.evaluator.name)
        return Scheduler(found.evaluator, defaults.search, defaults.analysis, output, judge=judge, seed=seed)

    def models() -> list[dict[str, Any]]:
        evaluator = loaded[0].evaluator
        return [{"name": loaded[0].name, "internalName": evaluator.name, "maxBatchSize": evaluator.max_batch,
                 "usesHumanSLProfile": False}]  # fmt: skip

    def on_signal(number: int, frame: FrameType | None) -> None:
        leave(0 if number == signal.SIGTERM else 128 + number)

    def on_failure(error: Exception) -> None:
        log.error("%s", error, exc_info=None if isinstance(error, EngineError) else error)
        leave(1)

    def at_end() -> None:
        if not wait:
            output.drain(5.0)
            leave(0)
        scheduler.end()

    scheduler = LateScheduler(make)
    reader = Reader(scheduler, output.put, defaults, models)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    net.start(on_failure)
    watch(lambda: leave(0))
    threading.Thread(target=read_lines, args=(read, reader.line, at_end), name="analysis-reader", daemon=True).start()
    code = 0
    try:
        scheduler.run()
        output.drain()
    except ClosedOutput:
        pass
    except EngineError:
        code = 1  # the net failed, and has said so
    except BaseException:
        log.exception("the analysis broke down")
        code = 1
    leave(code)
