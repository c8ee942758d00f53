"""`keisei bench many`: many searches over one evaluator against the bare net at its best batch, in one run.

Two ways to share: "steps", one thread that fills one batch while another is evaluated (Searcher.begin, gather and
absorb), and "threads", each search in a thread of its own over a BatchingEvaluator. They and the bare net take turns in
short windows; the ratios of all windows together count, because other programs share the machine.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from engine.bench.search import evaluator_for, numbers, positions, real_net
from engine.board.position import Position
from engine.evaluator import Evaluation, Evaluator, FloatArray
from engine.evaluator_fakes import UniformEvaluator
from engine.nn.batching import BatchingEvaluator
from engine.search.params import SearchParams
from engine.search.root import Limits
from engine.search.searcher import Searcher
from engine.usage import Parser

WAYS = ("steps", "threads")
ENDLESS = 1 << 30


@dataclass
class Total:
    """What one way did in all its windows."""

    evaluations: int = 0
    wall: float = 0.0
    cpu: float = 0.0

    @property
    def rate(self) -> float:
        """Evaluations a second."""
        return self.evaluations / self.wall

    @property
    def cpu_ms(self) -> float:
        """Processor time of an evaluation, milliseconds."""
        return 1000.0 * self.cpu / max(1, self.evaluations)


class Rows:
    """An Evaluator that owns some rows of a shared batch, for one search in steps."""

    def __init__(self, inner: Evaluator, spatial: FloatArray, globals_: FloatArray) -> None:
        self.encoding, self.name, self.max_batch = inner.encoding, inner.name, len(spatial)
        self.pass_alive_under_suicide = bool(getattr(inner, "pass_alive_under_suicide", False))
        self._inner, self._spatial, self._globals = inner, spatial, globals_

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether boards of this size can be evaluated."""
        return self._inner.supports_size(width, height)

    def allocate(self, batch: int, width: int, height: int) -> tuple[FloatArray, FloatArray]:
        """Return the rows."""
        return self._spatial[:batch], self._globals[:batch]

    def evaluate(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> Evaluation:
        """Evaluate alone; not called."""
        return self._inner.evaluate(spatial, globals_, ownership=ownership)


class Group:
    """Some searches that share a batch."""

    def __init__(self, evaluator: Any, places: Sequence[Position], leaves: int, visits: int) -> None:
        self.evaluator, self.leaves, self._limits = evaluator, leaves, Limits(visits=visits)
        width, height = places[0].width, places[0].height
        self.spatial, self.globals_ = evaluator.allocate(len(places) * leaves, width, height)
        self.searchers = []
        self._ticket: int | None = None
        for i, place in enumerate(places):
            part = slice(i * leaves, (i + 1) * leaves)
            rows = Rows(evaluator, self.spatial[part], self.globals_[part])
            params = SearchParams(batch_size=leaves, two_batches=False, cache_memory=4)
            searcher = Searcher(rows, params)
            searcher.set_position(place)
            searcher.begin(self._limits)
            self.searchers.append(searcher)

    def gather(self) -> int:
        """Fill the batch and hand it over; return how many rows mean something."""
        asked = 0
        for searcher in self.searchers:
            rows = searcher.gather()
            if rows == 0:  # the search is over: begin it again
                searcher.finish()
                searcher.clear()
                searcher.begin(self._limits)
                rows = searcher.gather()
            asked += rows
        self._ticket = self.evaluator.submit(self.spatial, self.globals_)
        return asked

    def absorb(self) -> None:
        """Wait for the batch and take it in."""
        if self._ticket is None:
            return
        evaluation = self.evaluator.result(self._ticket)
        self._ticket = None
        for i, searcher in enumerate(self.searchers):
            searcher.absorb(evaluation, i * self.leaves)


def steps(groups: Sequence[Group], seconds: float, total: Total) -> None:
    """Let one group's batch be evaluated while the next is filled."""
    begin, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - begin < seconds:
        for group in groups:
            group.absorb()
            total.evaluations += group.gather()
    for group in groups:
        group.absorb()
    total.wall += time.perf_counter() - begin
    total.cpu += time.process_time() - cpu


def bare(evaluator: Any, arrays: tuple[FloatArray, FloatArray], seconds: float, total: Total) -> None:
    """Evaluate full batches, two in flight."""
    begin, cpu = time.perf_counter(), time.process_time()
    tickets: list[int] = []
    while time.perf_counter() - begin < seconds or not tickets:
        tickets.append(evaluator.submit(*arrays))
        if len(tickets) == 2:
            evaluator.result(tickets.pop(0))
            total.evaluations += len(arrays[0])
    for ticket in tickets:
        evaluator.result(ticket)
        total.evaluations += len(arrays[0])
    total.wall += time.perf_counter() - begin
    total.cpu += time.process_time() - cpu


def threads(shared: BatchingEvaluator, places: Sequence[Position], leaves: int, seconds: float, total: Total) -> None:
    """Search each position in a thread of its own for the window."""

    def search(place: Position, client: Any) -> None:
        with client:
            searcher = Searcher(client, SearchParams(batch_size=leaves, cache_memory=4))
            searcher.set_position(place)
            searcher.search(Limits(seconds=seconds))

    workers = [threading.Thread(target=search, args=(place, shared.client())) for place in places]
    before, begin, cpu = shared.rows, time.perf_counter(), time.process_time()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    total.evaluations += shared.rows - before
    total.wall += time.perf_counter() - begin
    total.cpu += time.process_time() - cpu


def best_batch(evaluator: Any, size: int, seconds: float) -> int:
    """Return the batch of the most evaluations by processor time, of powers of two."""
    found: dict[int, float] = {}
    batch = 1
    while batch <= evaluator.max_batch:
        total = Total()
        bare(evaluator, filled(evaluator, batch, size), seconds, total)
        found[batch] = total.cpu_ms
        batch *= 2
    return min(found, key=lambda rows: found[rows])


def filled(evaluator: Any, batch: int, size: int) -> tuple[FloatArray, FloatArray]:
    """Return arrays that look a little like positions."""
    spatial, globals_ = evaluator.allocate(batch, size, size)
    spatial[:, 0] = 1.0
    return spatial, globals_


def measure(evaluator: Any, size: int, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return one row for the bare net and one for each way."""
    batch = options.batch or best_batch(evaluator, size, options.seconds / 4)
    batch = max(batch, options.leaves)
    count = batch // options.leaves  # searches of a group
    found = positions(size, min(2 * count, 6))
    places = [found[i % len(found)] for i in range(2 * count)]
    groups = [Group(evaluator, places[i::2], options.leaves, options.visits) for i in (0, 1)]
    arrays = filled(evaluator, batch, size)
    totals = {name: Total() for name in ("bare net", *WAYS)}
    with BatchingEvaluator(evaluator, max_batch=batch) as shared:
        jobs: dict[str, Callable[[float, Total], None]] = {
            "bare net": lambda seconds, total: bare(evaluator, arrays, seconds, total),
            "steps": lambda seconds, total: steps(groups, seconds, total),
            "threads": lambda seconds, total: threads(shared, places, options.leaves, seconds, total),
        }
        for name in jobs:
            jobs[name](options.seconds / 2, Total())  # warm up
        for _ in range(options.rounds):
            for name in jobs:
                jobs[name](options.seconds, totals[name])
    reference = totals["bare net"]
    return [
        {
            "way": name, "size": size, "batch": batch, "searches": 0 if total is reference else len(places),
            "rate": total.rate, "ratio": total.rate / reference.rate, "cpu_ms": total.cpu_ms,
            "cpu_ratio": reference.cpu_ms / total.cpu_ms if total.cpu_ms else 0.0, **asdict(total),
        }
        for name, total in totals.items()
    ]  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table, or one JSON object with --json."""
    parser = Parser(prog="keisei bench many", description="Many searches over one evaluator.")
    parser.add_argument("--net", help="file or name; default: the net that comes with the engine; none: costs nothing")
    parser.add_argument("--sizes", type=numbers, default=[19, 9], help="board sizes (19,9)")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads of the net; 0: one a physical core")
    parser.add_argument("--leaves", type=int, default=4, help="of one search in a batch (%(default)s)")
    parser.add_argument("--batch", type=int, default=0, help="rows of the shared batch; 0: the best of the bare net")
    parser.add_argument("--visits", type=int, default=400, help="of a search, then it begins again (%(default)s)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a window (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="windows of each way (%(default)s)")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda:N")
    parser.add_argument("--precision", default="auto", help="auto, float32, bfloat16, float16 or int8")
    parser.add_argument("--runtime", default="auto", help="auto, openvino or torch")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(argv)
    found = real_net(options)
    evaluator: Any = TwoSteps() if found is None else evaluator_for(found[0], options.threads, options)
    rows = [row for size in options.sizes for row in measure(evaluator, size, options)]
    if options.json:
        print(json.dumps({"net": evaluator.name, "rows": rows}))
        return 0
    print(evaluator.name)
    print("size batch searches way       evaluations/s  of the bare net | CPU ms, of the bare net")
    for row in rows:
        print(
            f"{row['size']:4} {row['batch']:5} {row['searches']:8} {row['way']:9} {row['rate']:13.1f}"
            f" {row['ratio']:16.1%} | {row['cpu_ms']:6.2f} {row['cpu_ratio']:7.1%}"
        )
    return 0


class TwoSteps(UniformEvaluator):
    """An evaluator that costs nothing, in two steps."""

    def __init__(self) -> None:
        super().__init__()
        self._flying: dict[int, Evaluation] = {}
        self._next = 0

    def submit(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> int:
        """Evaluate, and keep the result."""
        self._next += 1
        self._flying[self._next] = self.evaluate(spatial, globals_, ownership=ownership)
        return self._next

    def result(self, ticket: int) -> Evaluation:
        """Return the result."""
        return self._flying.pop(ticket)
