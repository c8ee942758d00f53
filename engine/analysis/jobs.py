"""A position that is being searched, and a batch while the searches of several fill it."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from engine.board.position import Position
from engine.search.searcher import Searcher

from .batches import Batch, Batches, SearchRows
from .query import Query
from .waiting import Key


class Job:
    """One position of a query, being searched."""

    __slots__ = (
        "flying", "key", "legal", "next_report", "position", "query", "ready", "rows", "searcher", "stopped", "turn",
    )  # fmt: skip

    def __init__(self, key: Key, query: Query, turn: int, searcher: Searcher, rows: SearchRows) -> None:
        self.key, self.query, self.turn = (*key, turn), query, turn
        self.searcher, self.rows = searcher, rows
        self.next_report = float("inf")
        self.legal: NDArray[np.uint8] | None = None  # where the policy is wanted
        self.position: Position | None = None  # for the judge
        self.ready = 0  # rows that wait for a batch
        self.flying = False  # its rows are in a batch under way
        self.stopped = False  # to end as soon as it has landed

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of its board."""
        return self.query.game.width, self.query.game.height

    def start_clock(self) -> None:
        """Say that the search begins now."""
        first = self.query.first_after if self.query.first_after is not None else self.query.every
        if first is not None:
            self.next_report = time.monotonic() + first


class Filling:
    """A batch being filled; it is opened by the first that has something for it."""

    def __init__(self, batches: Batches[Job]) -> None:
        self._batches = batches
        self._crammed = False
        self.batch: Batch[Job] | None = None

    @property
    def full(self) -> bool:
        """True if it has the rows that it should have."""
        return self._crammed or (self.batch is not None and self.batch.rows >= self._batches.rows)

    def cram(self) -> None:
        """Say that rows were ready which did not fit in any more."""
        self._crammed = True

    def takes(self, job: Job) -> bool:
        """Tell whether the rows of a search may join, and those that are ready do fit in."""
        batch = self.batch
        return batch is None or (job.size == batch.size and batch.rows + job.ready <= self._batches.capacity)

    def open(self, job: Job) -> Batch[Job]:
        """Return the batch, for boards of the size of this search."""
        if self.batch is None:
            self.batch = self._batches.open(job.size)
        return self.batch
