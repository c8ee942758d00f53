"""`keisei bench net`: evaluations a second of a net by board size, threads, batch and runtime, in one table.

Bare net, no search and no planes: random positions go through the evaluator as the search uses it. "evaluate" waits for
each batch; "in flight" keeps two going. Other programs share the machine, so runtimes take turns in short windows, the
best window of each counts, and the processor time of an evaluation stands beside the rates: it hardly depends on them.
"""

from __future__ import annotations

import argparse
import functools
import json
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.usage import Parser

from ..config import build
from ..errors import ConfigError

WINDOWS = 10


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table, or one JSON object with --json."""
    options = _options(argv)
    logging.basicConfig(level=logging.WARNING)
    from ..nn.catalog import find
    from ..nn.net import load_net

    net = load_net(find(options.net))
    rows = []
    if not options.json:
        d = net.description
        print(f"{d.name}: {d.parameters / 1e6:.2f} M parameters, {d.blocks} blocks, {d.channels} channels")
        print(
            f"{'board':>7} {'threads':>7} {'runtime':>8} {'precision':>9} {'batch':>5} {'evaluate /s':>12}"
            f" {'in flight /s':>12} {'CPU ms':>7}"
        )
    for size in _numbers(options.sizes, "sizes", 2, 25):
        if not net.supports_size(size, size):
            continue
        for threads in _numbers(options.threads, "threads", 0, 256):
            for row in _measure(net, size, threads, options):
                rows.append(row)
                if not options.json:
                    print(
                        f"{size:>4}x{size:<2} {row['threads']:>7} {row['runtime']:>8} {row['precision']:>9} "
                        f"{row['batch']:>5} {row['evaluate']:>12.1f} {row['in_flight']:>12.1f} {row['cpu_ms']:>7.2f}",
                        flush=True,
                    )
    if options.json:
        print(json.dumps({"net": net.description.name, "sha256": net.description.sha256, "rows": rows}, sort_keys=True))
    return 0


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(prog="keisei bench net", description="Evaluations a second of a bare net.")
    parser.add_argument("--net", metavar="FILE|NAME", help="net file or shipped net (default: the net that plays)")
    parser.add_argument("--device", default="auto", metavar="auto|cpu|cuda:N")
    parser.add_argument("--precision", default="auto", choices=("auto", "float32", "bfloat16", "float16"))
    parser.add_argument(
        "--runtimes", default="auto", metavar="NAME,NAME", help="auto, openvino, torch: measured in turn (default auto)"
    )
    parser.add_argument("--sizes", default="19", metavar="N,N", help="board sizes (default 19)")
    parser.add_argument("--threads", default="0", metavar="N,N", help="CPU threads (default 0: all)")
    parser.add_argument("--batches", default="1,2,4,8,16", metavar="N,N", help="batch sizes (default 1,2,4,8,16)")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each figure (default 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args(argv)


def _numbers(text: str, what: str, low: int, high: int) -> list[int]:
    try:
        numbers = [int(word) for word in text.split(",")]
    except ValueError:
        raise ConfigError(f"--{what}: not whole numbers: {text}") from None
    if not all(low <= n <= high for n in numbers):
        raise ConfigError(f"--{what}: not all between {low} and {high}: {text}")
    return numbers


def _measure(net: Any, size: int, threads: int, options: argparse.Namespace) -> list[dict[str, Any]]:
    from ..nn.devices import choose_threads
    from ..nn.net_evaluator import make_evaluator
    from ..nn.settings import NetSettings

    batches = _numbers(options.batches, "batches", 1, 4096)
    evaluators = []
    for runtime in options.runtimes.split(","):
        values = {"device": options.device, "precision": options.precision, "threads": threads, "runtime": runtime}
        evaluators.append(make_evaluator(net, build(NetSettings, "net", {**values, "max_batch": max(batches)})))
    rng = np.random.default_rng(0)
    rows = []
    for batch in batches:
        waiting, flying = [], []
        for evaluator in evaluators:
            arrays = [evaluator.allocate(batch, size, size) for _ in range(2)]
            for spatial, globals_ in arrays:
                spatial[:] = rng.integers(0, 2, spatial.shape)
                spatial[:, 0] = 1.0
                globals_[:] = 0.1
            waiting.append(functools.partial(evaluator.evaluate, *arrays[0]))
            flying.append(Pipeline(evaluator, arrays))
        evaluate = _best(waiting, options.seconds)
        in_flight = _best(flying, options.seconds)
        for evaluator, alone, two in zip(evaluators, evaluate, in_flight, strict=True):
            rows.append(
                {
                    "board": size,
                    "threads": choose_threads(threads),
                    "runtime": evaluator.runtime,
                    "precision": evaluator.precision,
                    "batch": batch,
                    "evaluate": batch / alone.wall,
                    "in_flight": batch / two.wall,
                    "cpu_ms": 1000.0 * min(alone.cpu, two.cpu) / batch,
                }
            )
    for evaluator in evaluators:
        evaluator.close()
    return rows


class Pipeline:
    """A step that takes the older of two batches in flight and sends another."""

    def __init__(self, evaluator: Any, arrays: list[Any]) -> None:
        self._evaluator, self._arrays = evaluator, arrays
        self._flying: list[int] = []
        self._turn = 0

    def __call__(self) -> None:
        while len(self._flying) < 2:
            self._flying.append(self._evaluator.submit(*self._arrays[self._turn]))
            self._turn ^= 1
        self._evaluator.result(self._flying.pop(0))

    def drain(self) -> int:
        """Wait for what is in flight; return how many batches that was."""
        drained = len(self._flying)
        while self._flying:
            self._evaluator.result(self._flying.pop(0))
        return drained


class Cost(NamedTuple):
    """Seconds of a step."""

    wall: float
    cpu: float  # of all threads of this process


def _best(steps: Sequence[Callable[[], object]], seconds: float) -> list[Cost]:
    """Return the least mean cost of each step over ten windows that fill the time given, after two steps to warm up."""
    for step in steps:
        step()
        step()
    best = [Cost(float("inf"), float("inf")) for _ in steps]
    for _ in range(WINDOWS):
        for i, step in enumerate(steps):
            start, cpu, count = time.perf_counter(), time.process_time(), 0
            while count < 2 or time.perf_counter() - start < seconds / WINDOWS:
                step()
                count += 1
            if isinstance(step, Pipeline):
                count += step.drain()  # the next one's window is its own
            wall, cpu = time.perf_counter() - start, time.process_time() - cpu
            best[i] = Cost(min(best[i].wall, wall / count), min(best[i].cpu, cpu / count))
    return best
