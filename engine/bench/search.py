"""`keisei bench search`: visits a second, and where the time goes, for each board size and thread count, in one table.

The first rows have an evaluator that costs nothing, so that they show what the search itself costs. Each row searches
the same positions, with an empty tree and cache for each. The signature hashes the trees of a fixed synthetic net: it
changes only when the search behaves differently.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from engine.board.position import Position
from engine.evaluator import Evaluator
from engine.evaluator_fakes import HashEvaluator, UniformEvaluator
from engine.search.params import SearchParams
from engine.search.result import SearchStats
from engine.search.root import Limits
from engine.search.searcher import Searcher

PARTS = ("select", "encode", "net", "backup")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. Rates are per second of wall time, shares are of that time."""

    net: str
    size: int
    threads: int
    visits_per_second: float
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


def measure(evaluator: Evaluator, name: str, size: int, threads: int, options: argparse.Namespace) -> Row:
    """Search every position once and add the figures up."""
    params = SearchParams(
        batch_size=options.batch_size, cache_ignore_history=not options.exact_cache, two_batches=not options.one_batch
    )
    searcher = Searcher(evaluator, params)
    places = positions(size, options.positions)
    searcher.set_position(places[0])
    searcher.search(Limits(visits=min(100, options.visits)))  # warm up
    stats: list[SearchStats] = []
    for position in places:
        searcher.set_position(position)
        searcher.clear()
        stats.append(searcher.search(Limits(visits=options.visits)).stats)

    def total(field: str) -> float:
        return float(sum(getattr(each, field) for each in stats))

    seconds = total("elapsed")
    shares = [total(f"{part}_seconds") / seconds for part in PARTS]
    return Row(
        net=name,
        size=size,
        threads=threads,
        visits_per_second=total("playouts") / seconds,
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
        f"{'net':24} {'size':>4} {'thr':>3} {'visits/s':>9} {'evals/s':>9} {'batch':>6} {'hits':>6}"
        f" {'select':>7} {'encode':>7} {'net':>7} {'backup':>7} {'B/visit':>8}"
    )
    lines = [
        f"{row.net[:24]:24} {row.size:4} {row.threads:3} {row.visits_per_second:9.0f} {row.evaluations_per_second:9.0f}"
        f" {row.batch:6.1f} {row.cache_hits:6.1%} {row.select:7.1%} {row.encode:7.1%} {row.net_share:7.1%}"
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
    from engine.nn.settings import NetSettings
    from engine.nn.torch_evaluator import make_evaluator

    return make_evaluator(net, NetSettings(device=options.device, precision=options.precision, threads=threads))


def run(options: argparse.Namespace) -> list[Row]:
    """Measure everything that the options ask for."""
    rows = [measure(UniformEvaluator(), "(costs nothing)", size, 1, options) for size in options.sizes]
    found = real_net(options)
    if found is None:
        return rows
    net, name = found
    for threads in options.threads:
        evaluator = evaluator_for(net, threads, options)
        rows += [
            measure(evaluator, name, size, threads, options)
            for size in options.sizes
            if evaluator.supports_size(size, size)
        ]
        evaluator.close()
    return rows


def numbers(text: str) -> list[int]:
    """Read "9,13,19"."""
    return [int(part) for part in text.split(",")]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table, or one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="keisei bench search", description="Speed of the search.")
    parser.add_argument("--net", help="file or name; default: the net that comes with the engine; none: no net")
    parser.add_argument("--visits", type=int, default=400, help="of each search (%(default)s)")
    parser.add_argument("--positions", type=int, default=4, help="searched on each board (%(default)s)")
    parser.add_argument("--sizes", type=numbers, default=[9, 13, 19], help="board sizes (9,13,19)")
    parser.add_argument("--threads", type=numbers, default=[1, 2], help="CPU threads of the net (1,2)")
    parser.add_argument("--batch-size", type=int, default=0, help="leaves in a batch; 0 chooses (%(default)s)")
    parser.add_argument("--one-batch", action="store_true", help="only one batch in flight")
    parser.add_argument("--exact-cache", action="store_true", help="share no evaluation where recent moves differ")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda:N")
    parser.add_argument("--precision", default="auto", help="auto, float32, bfloat16 or float16")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(argv)
    rows = run(options)
    if options.json:
        each = [{**asdict(row), "outside_the_net": row.outside_the_net} for row in rows]
        print(json.dumps({"visits": options.visits, "rows": each, "signature": signature()}))
    else:
        print(table(rows))
        print(f"\nsignature {signature()}")
    return 0
