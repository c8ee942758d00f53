"""Log lines on stderr that can neither block the engine nor confuse a GUI.

Some controllers never read stderr: once its pipe is full, a write would block for ever. So a thread of its own writes,
and what does not fit in its queue is dropped. Each record is one or more whole lines, each beginning with "keisei: ",
so that none can be taken for a GTP reply or an analysis line by a GUI that merges the two streams; and none holds the
arrow by which Lizzie knows Leela Zero's summaries.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from typing import TextIO

PREFIX = "keisei: "


class StderrHandler(logging.Handler):
    """A logging handler that writes from a thread of its own.

    Args:
        stream: where to write.
        capacity: records that may wait; more are dropped.
    """

    def __init__(self, stream: TextIO, capacity: int = 500) -> None:
        super().__init__()
        self._stream = stream
        self._queue: queue.Queue[str] = queue.Queue(capacity)
        self.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
        threading.Thread(target=self._write_all, name="stderr-writer", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage() if record.levelno == logging.INFO and not record.exc_info else self.format(record)
        lines = text.replace(" -> ", " => ").splitlines() or [""]
        self.put("".join(f"{PREFIX}{line}\n" for line in lines))

    def put(self, text: str) -> None:
        """Write whole lines as they are."""
        with contextlib.suppress(queue.Full):
            self._queue.put_nowait(text)

    def drain(self, seconds: float = 0.3) -> None:
        """Give the thread a moment to write what is waiting."""
        waiter = threading.Thread(target=self._queue.join, daemon=True)
        waiter.start()
        waiter.join(seconds)

    def _write_all(self) -> None:
        while True:
            text = self._queue.get()
            with contextlib.suppress(OSError, ValueError):
                self._stream.write(text)
                self._stream.flush()
            self._queue.task_done()
