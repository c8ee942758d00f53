"""Says what searches have found: reports on the way, answers, errors."""

from __future__ import annotations

import logging
import time
from typing import Protocol

from engine.board.position import Position
from engine.errors import EngineError, UnsupportedBoardSize
from engine.judge.text import as_dict
from engine.judge.types import Judgment
from engine.player.ranking import by_policy
from engine.search.result import SearchResult

from . import answer
from .jobs import Job

log = logging.getLogger(__name__)


class Judges(Protocol):
    """What says which stones are dead."""

    def judge(self, position: Position) -> Judgment:
        """Return the judgment of a position."""
        ...


class Sink(Protocol):
    """Where answers go. Either call may raise if nobody reads any more."""

    def write(self, text: str) -> None:
        """Take one line; may wait until there is room."""
        ...

    @property
    def crowded(self) -> bool:
        """True if the reader is slow, so that reports on the way had better be left out."""
        ...


class Answers:
    """Writes about searches.

    Args:
        sink: takes the lines.
        judge: answers includeJudgment.
    """

    def __init__(self, sink: Sink, judge: Judges | None) -> None:
        self._sink, self._judge = sink, judge
        self.given = 0  # positions answered

    def asks_judge(self, job: Job) -> bool:
        """Tell whether the answer to a search needs a judgment."""
        return job.position is not None and self._judge is not None

    def report(self, job: Job) -> None:
        """Say what was found so far, where that is due."""
        now = time.monotonic()
        if now < job.next_report:
            return
        if not self._sink.crowded and (result := job.searcher.result(job.query.root)) is not None:
            self._write(job, result, during=True)
        job.next_report = max(job.next_report + (job.query.every or float("inf")), now)

    def finish(self, job: Job, result: SearchResult) -> None:
        """Give the answer to a search that has ended."""
        self.given += 1
        self._write(job, result, during=False)

    def nothing(self, number: str, turn: int) -> None:
        """Say that a position was not looked at."""
        self._sink.write(answer.no_results(number, turn))

    def refuse(self, job: Job, error: Exception) -> None:
        """Say why a position cannot be searched."""
        self._sink.write(_error(job, error))

    def _write(self, job: Job, result: SearchResult, *, during: bool) -> None:
        judgment = None
        if job.rows.policy_only:
            result = by_policy(result)
        try:
            if job.position is not None and not during and self._judge is not None:
                judgment = as_dict(job.position, self._judge.judge(job.position))
            text = answer.result_line(
                job.query.id, job.turn, result, job.query.wanted, during=during, legal=job.legal, judgment=judgment
            )
        except Exception as error:
            text = _error(job, error)
        self._sink.write(text)


def _error(job: Job, error: Exception) -> str:
    if isinstance(error, UnsupportedBoardSize):
        return answer.error(str(error), field="boardXSize", number=job.query.id)
    if isinstance(error, EngineError):
        return answer.error(str(error), number=job.query.id, turn=job.turn)
    log.exception("query %.100s failed", job.query.id, exc_info=error)
    return answer.error("internal error", number=job.query.id, turn=job.turn)
