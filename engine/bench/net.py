"""`keisei bench net`: evaluations a second of a net by board size, threads and batch, in one table.

Bare net, no search and no planes: random positions go through the evaluator as the search uses it. "evaluate" waits for
each batch; "in flight" keeps two going. The best of several short runs counts, since other programs share the machine.
"""

from __future__ import annotations

import argparse
import functools
import json
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ConfigError


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
        print(f"{'board':>7} {'threads':>7} {'precision':>9} {'batch':>5} {'evaluate /s':>12} {'in flight /s':>12}")
    for size in _numbers(options.sizes, "sizes", 2, 25):
        if not net.supports_size(size, size):
            continue
        for threads in _numbers(options.threads, "threads", 0, 256):
            for row in _measure(net, size, threads, options):
                rows.append(row)
                if not options.json:
                    print(
                        f"{size:>4}x{size:<2} {row['threads']:>7} {row['precision']:>9} {row['batch']:>5} "
                        f"{row['evaluate']:>12.1f} {row['in_flight']:>12.1f}",
                        flush=True,
                    )
    if options.json:
        print(json.dumps({"net": net.description.name, "sha256": net.description.sha256, "rows": rows}, sort_keys=True))
    return 0


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="keisei bench net", description="Evaluations a second of a bare net.")
    parser.add_argument("--net", metavar="FILE|NAME", help="net file or shipped net (default: the net that plays)")
    parser.add_argument("--device", default="auto", metavar="auto|cpu|cuda:N")
    parser.add_argument("--precision", default="auto", choices=("auto", "float32", "bfloat16", "float16"))
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
    from ..nn.settings import NetSettings
    from ..nn.torch_evaluator import make_evaluator

    batches = _numbers(options.batches, "batches", 1, 4096)
    settings = NetSettings(
        device=options.device, precision=options.precision, threads=threads, max_batch=max(batches)
    )
    evaluator = make_evaluator(net, settings)
    rng = np.random.default_rng(0)
    rows = []
    for batch in batches:
        arrays = [evaluator.allocate(batch, size, size) for _ in range(2)]
        for spatial, globals_ in arrays:
            spatial[:] = rng.integers(0, 2, spatial.shape)
            spatial[:, 0] = 1.0
            globals_[:] = 0.1
        rows.append(
            {
                "board": size,
                "threads": choose_threads(threads),
                "precision": evaluator.precision,
                "batch": batch,
                "evaluate": batch / _best(functools.partial(evaluator.evaluate, *arrays[0]), options.seconds),
                "in_flight": batch / _best(_pipeline(evaluator, arrays), options.seconds),
            }
        )
    evaluator.close()
    return rows


def _pipeline(evaluator: Any, arrays: list[Any]) -> Callable[[], object]:
    """Return a step that takes the older of two batches in flight and sends another."""
    flying = [evaluator.submit(*pair) for pair in arrays]
    turn = [0]

    def step() -> None:
        evaluator.result(flying.pop(0))
        flying.append(evaluator.submit(*arrays[turn[0]]))
        turn[0] ^= 1

    return step


def _best(step: Callable[[], object], seconds: float) -> float:
    """Return the shortest mean time of a step over ten windows that fill the time given, after two steps to warm up."""
    step()
    step()
    best = float("inf")
    end = time.perf_counter() + seconds
    while True:
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < seconds / 10 or count == 0:
            step()
            count += 1
        now = time.perf_counter()
        best = min(best, (now - start) / count)
        if now >= end:
            return best
