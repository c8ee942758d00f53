"""`keisei bench search`: visits a second, and where the time goes, by board size, threads and batch, in one table.

The first rows have an evaluator that costs nothing, so that they show what the search itself costs. Each row searches
the same positions, with an empty tree and cache for each; rows take turns, since other programs share the machine. At
the end stands the setting to be recommended for each size. The signature hashes the trees of a fixed synthetic net: it
changes only when the search behaves differently.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.board.position import Position
from engine.config import build
from engine.evaluator import Evaluator
from engine.evaluator_fakes import HashEvaluator, UniformEvaluator
from engine.search.params import SearchParams
from engine.search.result import SearchStats
from engine.search.root import Limits
from engine.search.searcher import Searcher
from engine.usage import Parser

PARTS = ("select", "encode", "net", "backup")
FREE = "(costs nothing)"
FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_bf16", "amx_int8")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. Rates are per second of wall time, shares are of that time."""

    net: str
    size: int
    threads: int
    asked: int  # leaves in a batch, as set; 0: chosen
    visits_per_second: float
    cpu_ms: float  # processor time of a visit, all threads, milliseconds: hardly changed by other programs
    evaluations_per_second: float
    batch: float  # leaves in a batch, on average
    cache_hits: float  # share of the visits
    bytes_per_visit: float
    select: float
    encode: float
    net_share: float
    backup: float

    @property
    def outside_the_net(self) -> float:
        """Share of the time that the net is not waited for."""
        return 1.0 - self.net_share


def positions(size: int, count: int) -> list[Position]:
    """Return positions after 0, 1/10, 2/10, … of the points were played at random, the same in every run."""
    rng = np.random.default_rng(size)
    position = Position(size)
    found = [position.copy()]
    while len(found) < count:
        for _ in range(max(1, size * size // 10)):
            position.play(int(rng.choice(np.flatnonzero(position.legal_mask()[:-1]))))
        found.append(position.copy())
    return found


class Case:
    """One row in the making: an evaluator, a board size and a batch."""

    def __init__(
        self, evaluator: Evaluator, name: str, size: int, threads: int, batch: int, options: argparse.Namespace
    ) -> None:
        params = SearchParams(
            batch_size=batch, cache_ignore_history=not options.exact_cache, two_batches=not options.one_batch
        )
        self.name, self.size, self.threads, self.batch = name, size, threads, batch
        self._searcher = Searcher(evaluator, params)
        self._visits = options.visits
        self._stats: list[SearchStats] = []
        self._cpu = 0.0

    def warm_up(self, position: Position) -> None:
        """Search without counting."""
        self._searcher.set_position(position)
        self._searcher.search(Limits(visits=min(100, self._visits)))

    def search(self, position: Position) -> None:
        """Search a position with an empty tree and cache."""
        self._searcher.set_position(position)
        self._searcher.clear()
        start = time.process_time()
        self._stats.append(self._searcher.search(Limits(visits=self._visits)).stats)
        self._cpu += time.process_time() - start

    def row(self) -> Row:
        """Add the figures up."""
        return total_of(self, self._stats, self._cpu)


def measure(cases: Sequence[Case], options: argparse.Namespace) -> list[Row]:
    """Search every position once in each case, the cases in turn; all are of one board size."""
    places = positions(cases[0].size, options.positions) if cases else []
    for case in cases:
        case.warm_up(places[0])
    for position in places:
        for case in cases:
            case.search(position)
    return [case.row() for case in cases]


def total_of(case: Case, stats: Sequence[SearchStats], cpu: float) -> Row:
    """Return the row of some searches."""

    def total(field: str) -> float:
        return float(sum(getattr(each, field) for each in stats))

    seconds = total("elapsed")
    shares = [total(f"{part}_seconds") / seconds for part in PARTS]
    return Row(
        net=case.name,
        size=case.size,
        threads=case.threads,
        asked=case.batch,
        visits_per_second=total("playouts") / seconds,
        cpu_ms=1000.0 * cpu / total("playouts"),
        evaluations_per_second=total("evaluations") / seconds,
        batch=total("evaluations") / max(1.0, total("batches")),
        cache_hits=total("cache_hits") / total("playouts"),
        bytes_per_visit=total("tree_bytes") / total("playouts"),
        select=shares[0],
        encode=shares[1],
        net_share=shares[2],
        backup=shares[3],
    )


def signature(visits: int = 500) -> str:
    """Return a hash over trees of a synthetic net on three sizes; it stands for how the search behaves."""
    total = 0
    for size, rules in ((5, "tromp-taylor"), (9, "chinese"), (19, "japanese")):
        searcher = Searcher(HashEvaluator(), SearchParams(batch_size=4), seed=1)
        searcher.set_position(Position(size, rules=rules))
        searcher.search(Limits(visits=visits))
        total = (total * 0x9E3779B97F4A7C15 + searcher.signature()) & 0xFFFFFFFFFFFFFFFF
    return f"{total:016x}"


def table(rows: Sequence[Row]) -> str:
    """Return the rows as text."""
    head = (
        f"{'net':24} {'size':>4} {'thr':>3} {'set':>3} {'visits/s':>9} {'CPU ms':>7}"
        f" {'evals/s':>9} {'batch':>6} {'hits':>6}"
        f" {'select':>7} {'encode':>7} {'net':>7} {'backup':>7} {'B/visit':>8}"
    )
    lines = [
        f"{row.net[:24]:24} {row.size:4} {row.threads:3} {row.asked:3} {row.visits_per_second:9.0f} {row.cpu_ms:7.3f}"
        f" {row.evaluations_per_second:9.0f} {row.batch:6.1f} {row.cache_hits:6.1%}"
        f" {row.select:7.1%} {row.encode:7.1%} {row.net_share:7.1%}"
        f" {row.backup:7.1%} {row.bytes_per_visit:8.0f}"
        for row in rows
    ]
    return "\n".join([head, *lines])


def real_net(options: argparse.Namespace) -> tuple[Any, str] | None:
    """Load the net that was asked for, else the one that comes with the engine; None with --net none."""
    if options.net == "none":
        return None
    from engine.nn.catalog import find
    from engine.nn.net import load_net

    net = load_net(find(options.net))
    return net, net.description.name


def evaluator_for(net: Any, threads: int, options: argparse.Namespace) -> Any:
    """Put the net on the device that the options name."""
    from engine.nn.net_evaluator import make_evaluator
    from engine.nn.settings import NetSettings

    values = {"device": options.device, "precision": options.precision, "threads": threads, "runtime": options.runtime}
    return make_evaluator(net, build(NetSettings, "net", values), playing=True)


def run(options: argparse.Namespace) -> list[Row]:
    """Measure everything that the options ask for."""
    rows: list[Row] = []
    for size in options.sizes:
        case = Case(UniformEvaluator(), FREE, size, 1, options.batch_sizes[0], options)
        rows += measure([case], options)
    found = real_net(options)
    if found is None:
        return rows
    net, name = found
    evaluators = [(threads, evaluator_for(net, threads, options)) for threads in options.threads]
    for size in options.sizes:
        if net.supports_size(size, size):
            cases = [
                Case(evaluator, name, size, threads, batch, options)
                for threads, evaluator in evaluators
                for batch in options.batch_sizes
            ]
            rows += measure(cases, options)
    for _, evaluator in evaluators:
        evaluator.close()
    return rows


def recommended(rows: Sequence[Row]) -> list[Row]:
    """Return for each board size the row to be set: of those within 5 % of the fastest, that of the smallest batch.

    Fewer leaves at a time choose better moves with as many visits.
    """
    best = []
    for size in dict.fromkeys(row.size for row in rows if row.net != FREE):
        here = [row for row in rows if row.size == size and row.net != FREE]
        fastest = max(row.visits_per_second for row in here)
        near = [row for row in here if row.visits_per_second >= 0.95 * fastest]
        best.append(min(near, key=lambda row: (row.batch, row.threads)))
    return best


def advice(row: Row) -> str:
    """Return a recommendation as text."""
    settings = f"--set net.threads={row.threads} --set search.batch_size={row.asked}"
    return f"{row.size}x{row.size}: {settings}  ({row.visits_per_second:.0f} visits/s, {row.batch:.1f} leaves a batch)"


def cpu_flags() -> str:
    """Return which of the instruction sets that matter to nets the processor has; empty where that cannot be read."""
    try:
        words = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").split()
    except OSError:
        return ""
    return " ".join(flag for flag in FLAGS if flag in words)


def numbers(text: str) -> list[int]:
    """Read "9,13,19"."""
    return [int(part) for part in text.split(",")]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table, or one JSON object with --json."""
    parser = Parser(prog="keisei bench search", description="Speed of the search.")
    parser.add_argument("--net", help="file or name; default: the net that comes with the engine; none: no net")
    parser.add_argument("--visits", type=int, default=400, help="of each search (%(default)s)")
    parser.add_argument("--positions", type=int, default=4, help="searched on each board (%(default)s)")
    parser.add_argument("--sizes", type=numbers, default=[9, 13, 19], help="board sizes (9,13,19)")
    parser.add_argument("--threads", type=numbers, default=[1, 2], help="CPU threads of the net (1,2)")
    parser.add_argument(
        "--batch-sizes", "--batch-size", type=numbers, default=[0], metavar="N,N",
        help="leaves in a batch; 0 chooses (0)",
    )
    parser.add_argument("--runtime", default="auto", help="auto, openvino or torch")
    parser.add_argument("--one-batch", action="store_true", help="only one batch in flight")
    parser.add_argument("--exact-cache", action="store_true", help="share no evaluation where recent moves differ")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda:N")
    parser.add_argument("--precision", default="auto", help="auto, float32, bfloat16, float16 or int8")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(argv)
    rows = run(options)
    if options.json:
        each = [{**asdict(row), "outside_the_net": row.outside_the_net} for row in rows]
        best = [asdict(row) for row in recommended(rows)]
        answer = {"visits": options.visits, "rows": each, "recommended": best, "signature": signature()}
        print(json.dumps({**answer, "cpu_flags": cpu_flags()}))
    else:
        print(table(rows))
        print("".join(f"\n{advice(row)}" for row in recommended(rows)))
        print(f"\nthis processor: {cpu_flags() or 'flags not known'}")
        print(f"\nsignature {signature()}")
    return 0
