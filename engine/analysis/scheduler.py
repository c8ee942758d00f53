"""Runs the searches of all queries in one thread over one evaluator: each adds its leaves to a batch that all share.

A search is cut into steps (`Searcher.begin`, `gather`, `absorb`, `finish`), so its tree does not depend on what runs
beside it. The oldest of the highest priority fill a batch first; what does not fit in goes on with the next one.
Everything here belongs to the thread that calls `run`; other threads use `submit`, `terminate`, `call` and `end`.
Searches are made ready in searchers.py, what is said of them is in answering.py, what other threads ask in calls.py.
"""

from __future__ import annotations

import logging
from bisect import insort
from collections import deque
from collections.abc import Callable

from engine.evaluator import Evaluation, Evaluator
from engine.search.params import SearchParams
from engine.search.result import SearchResult

from .answering import Answers, Judges, Sink
from .batches import Batch, Batches
from .calls import Calls
from .jobs import Filling, Job
from .query import Query
from .searchers import Searchers
from .settings import AnalysisSettings
from .waiting import Key, Queue

log = logging.getLogger(__name__)

PATIENCE = 4  # rounds of up to some seventy walks each that one search may make while others wait
LOOK_AT_MEMORY = 32  # batches between looks at what the trees hold


class Scheduler:
    """Searches what is submitted until it is told that nothing more will come.

    Args:
        evaluator: the net.
        params: settings of the searches, those of a query aside.
        settings: section `analysis`.
        sink: takes the answers.
        judge: answers includeJudgment.
        seed: of every search; None takes one from the system for each.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        params: SearchParams,
        settings: AnalysisSettings,
        sink: Sink,
        *,
        judge: Judges | None = None,
        seed: int | None = None,
    ) -> None:
        self._evaluator, self._settings = evaluator, settings
        self._answers = Answers(sink, judge)
        self.batches: Batches[Job] = Batches(evaluator, settings.rows)
        self.slots = settings.searches or 2 * self.batches.depth * self.batches.rows
        self._searchers = Searchers(evaluator, params, seed, keep=self.slots)
        self._queue = Queue()
        self._active: list[Job] = []  # by key
        self._to_judge: deque[tuple[Job, SearchResult]] = deque()
        self._calls = Calls()
        self._rested = True

    # -------------------------------------------------------------------------------------- from other threads

    def submit(self, query: Query) -> None:
        """Have a query answered."""
        self.call(lambda: self._queue.add(query))

    def terminate(self, number: str | None, turns: frozenset[int] | None = None) -> None:
        """End the query of that id, None for all, with what was found; or some turns of it."""
        self.call(lambda: self._terminate(number, turns))

    def clear(self) -> None:
        """Forget everything that was kept from searches that have ended."""
        self._searchers.clear()

    def call(self, action: Callable[[], None]) -> None:
        """Have something done between two batches, in the order of these calls."""
        self._calls.call(action)

    def end(self) -> None:
        """Make `run` return once everything is answered."""
        self._calls.end()

    def kill(self) -> None:
        """Make `run` return after the batch under way."""
        self._calls.kill()

    @property
    def waiting(self) -> int:
        """Positions whose search has not begun."""
        return self._queue.turns + len(self._calls)

    @property
    def searched(self) -> int:
        """Positions answered."""
        return self._answers.given

    # -------------------------------------------------------------------------------------- the thread that works

    def run(self) -> None:
        """Answer until the end. Raises what the sink raises."""
        while self._take_inbox():
            self.step()

    def answer_all(self) -> None:
        """Answer what was submitted by now. Raises what the sink raises."""
        while self._calls or self._busy:
            self._take_inbox()
            self.step()

    def _take_inbox(self) -> bool:
        """Do what others asked for; wait if there is nothing else to do. Return False at the end."""
        return self._calls.take(lambda: self._busy, self._rest)

    @property
    def _busy(self) -> bool:
        return bool(self._active or self._to_judge or self._queue.turns or self.batches.flying)

    def _rest(self) -> None:
        """Use the moment when nothing is searched: the net may change over to a faster form."""
        if not self._rested:
            self._rested = True
            change = getattr(self._evaluator, "between_games", None)
            if change is not None:
                change()

    def step(self) -> None:
        """Send batches while there is room, then take in the oldest."""
        self._rested = False
        while not self.batches.full and not self._to_judge:
            batch = self._fill()
            if batch is None:
                break
            self.batches.send(batch)
        if self.batches.flying:
            self.batches.land(self._take_in, self._fail)
        if self._to_judge and not self.batches.flying:
            self._answers.finish(*self._to_judge.popleft())
        if self.batches.sent % LOOK_AT_MEMORY == 0:
            self._heed_memory()

    def _fill(self) -> Batch[Job] | None:
        """Gather leaves into a batch, the first in order first. None: nothing is to be evaluated now."""
        filling = Filling(self.batches)
        while (urgent := self._queue.first()) is not None and self._before_all(urgent) and self._may_begin(urgent):
            self._add(filling, self._begin())
        for going in list(self._active):
            if not going.flying and not filling.full:
                self._add(filling, going)
        while not filling.full and (first := self._queue.first()) is not None and self._may_begin(first):
            job = self._begin()
            if job is not None and not filling.takes(job):
                break
            self._add(filling, job)
        return filling.batch

    def _add(self, filling: Filling, job: Job | None) -> None:
        """Have a search fill its rows of the batch, if they fit in."""
        if job is None or not filling.takes(job):
            return
        job.ready = job.ready or self._gather(job)
        if job.ready and filling.takes(job):
            root = job.query.root
            filling.open(job).add(job, job.rows, job.ready, ownership=root.ownership or root.moves_ownership)
            job.flying, job.ready = True, 0
        elif job.ready:
            filling.cram()

    def _before_all(self, key: Key) -> bool:
        """Tell whether what waits is more urgent than what could go on."""
        idle = next((job for job in self._active if not job.flying), None)
        return idle is not None and key[0] < idle.key[0]

    def _may_begin(self, key: Key) -> bool:
        """Tell whether there is room for one more search; what is more urgent than all others finds some."""
        active = self._active
        if len(active) < self.slots:
            return True
        return len(active) < 2 * self.slots and key[0] < active[0].key[0]

    def _begin(self) -> Job | None:
        """Begin the search that is next; None if it cannot be, and then that was said."""
        key, query, turn = self._queue.take()
        job = self._searchers.job(key, query, turn)
        try:
            if query.limits.seconds is not None:
                self.batches.warm(job.size)
            self._searchers.begin(job)
        except Exception as error:
            self._answers.refuse(job, error)
            return None
        job.start_clock()
        insort(self._active, job, key=lambda job: job.key)
        return job

    def _gather(self, job: Job) -> int:
        """Return how many rows a search wants evaluated; 0 for none now, or because it is over and was answered."""
        try:
            count = job.searcher.gather(PATIENCE)
        except Exception as error:
            self._fail(job, error)
            return 0
        if not count:
            self._complete(job)
        elif count < 0:
            self._answers.report(job)
        return max(count, 0)

    def _take_in(self, job: Job, evaluation: Evaluation, first: int) -> None:
        """Give a search what it asked for."""
        job.flying = False
        try:
            job.searcher.absorb(evaluation, first)
        except Exception as error:
            self._fail(job, error)
            return
        if job.stopped:
            self._complete(job)
        else:
            self._answers.report(job)

    def _complete(self, job: Job) -> None:
        """End a search and answer with what it found, at once or after the judge."""
        result: SearchResult | None
        if job.searcher.visits == 0:  # it was ended before the root was evaluated
            result = None
        elif job.ready:  # it was ended while leaves of it waited for a batch
            result = job.searcher.result(job.query.root)
        else:
            result = job.searcher.finish()
        self._leave(job, reusable=not job.ready)
        if result is None:
            self._answers.nothing(job.query.id, job.turn)
            return
        if self._answers.asks_judge(job):
            self._to_judge.append((job, result))
        else:
            self._answers.finish(job, result)

    def _fail(self, job: Job, error: Exception) -> None:
        self._leave(job, reusable=False)
        self._answers.refuse(job, error)

    def _leave(self, job: Job, *, reusable: bool = True) -> None:
        job.flying = False
        self._active.remove(job)
        if reusable:
            self._searchers.take_back(job)

    def _terminate(self, number: str | None, turns: frozenset[int] | None) -> None:
        for query, turn in list(self._queue.remove(number, turns)):
            self._answers.nothing(query.id, turn)
        for job in list(self._active):
            if number in (None, job.query.id) and (turns is None or job.turn in turns):
                job.stopped = True
                if not job.flying:
                    self._complete(job)

    def _heed_memory(self) -> None:
        """End the largest search where all trees together hold too much."""
        held = {id(job): job.searcher.tree_bytes for job in self._active}
        if sum(held.values()) > self._settings.memory << 20:
            largest = max(self._active, key=lambda job: held[id(job)])
            log.warning("the trees hold more than analysis.memory; the largest search ends with %d visits",
                        largest.searcher.visits)  # fmt: skip
            largest.stopped = True
            if not largest.flying:
                self._complete(largest)
