"""Finds out whether a net can run in eight bits: calibrates on games of its own policy, then checks it on others.

`python -m engine.nn.quantize NET` does it and writes the plan (int8.py); the engine starts that as a process of its
own, of low priority, so that a failure costs nothing and the game goes on. It ends when its standard input does.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineError
from ..usage import Parser
from . import int8, policy_games
from .int8 import Figures, Plan, Range, Ranges
from .net import Net, load_net
from .openvino_graph import build_model
from .openvino_layers import Layers
from .openvino_ops import core, ov
from .openvino_runner import OpenVinoRunner
from .policy_games import Sample
from .spec import SCALARS

log = logging.getLogger(__name__)
FloatArray = NDArray[np.float32]
SIZES = (19, 13, 9)
GAMES, OTHER_GAMES = 9, 6  # on the largest size, and on each other
CALIBRATE = (False, True, False)  # every third game
CHECKED = 500  # positions, at least, where the games give them
ROWS = 8
SPEED_SECONDS = 2.0


def plan_name(net: Net) -> str:
    """Return the name of the net's plan with this runtime and processor (int8.key)."""
    processor = str(core().get_property("CPU", "FULL_DEVICE_NAME"))
    return int8.key(net.description.sha256, str(ov.__version__), processor)


def suits(net: Net) -> bool:
    """Tell whether eight bits are worth a try: not for attention, where they cost too much exactness for their gain."""
    return not net.has_attention and "INT8" in core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


def quantize(net: Net, plain: str = "bf16", meta: Callable[[int, int], Any] | None = None) -> Plan:
    """Calibrate and check a net.

    Args:
        plain: "bf16" or "f32": the precision of what is not in eight bits, and that to be compared with in speed.
        meta: the metadata row of nets that have such an input, for (width, height).
    """
    makers = Makers(net, meta)
    sizes = [s for s in SIZES if net.supports_size(s, s) and net.description.trained_for(s, s) is not False]
    sizes = sizes or [s for s in range(19, 1, -1) if net.supports_size(s, s)][:1]
    if not sizes:
        raise EngineError(f"{net.description.name} plays on no square board: eight bits are not tried")
    samples = [games_of(net, makers, plain, size, GAMES if i == 0 else OTHER_GAMES) for i, size in enumerate(sizes)]
    parts = [policy_games.split(sample, CALIBRATE) for sample in samples]
    ranges = calibrate(makers, [part[0] for part in parts])
    check = [part[1] for part in parts]
    exact = makers.runner(None, "f32")
    rough = makers.runner(ranges, plain)
    answers = [(run(exact, s), run(rough, s)) for s in check]
    speed = compare_speed(rough, makers.runner(None, plain), check[0])
    return Plan(compare(net, check, answers, speed), ranges)


class Makers:
    """Makes runners of one thread for a net."""

    def __init__(self, net: Net, meta: Callable[[int, int], Any] | None) -> None:
        self._net = net
        self._meta = meta

    def model(self, width: int, height: int, rows: int, layers: Layers) -> Any:
        """Return the graph for a board size."""
        row = self._meta(width, height) if self._meta else None
        size = {"width": width, "height": height, "batch": rows}
        return build_model(self._net.spec, self._net.arrays, **size, meta=row, layers=layers)

    def runner(self, ranges: Ranges | None, precision: str) -> OpenVinoRunner:
        """Return a runner."""

        def build(width: int, height: int, rows: int) -> Any:
            return self.model(width, height, rows, Layers(ranges))

        return OpenVinoRunner(build, threads=1, keep=len(SIZES), precision=precision)


def games_of(net: Net, makers: Makers, precision: str, size: int, games: int) -> Sample:
    """Play games on a size."""
    runner = makers.runner(None, precision)
    actions = size * size + 1
    return policy_games.play(
        lambda spatial, globals_: runner.evaluate(spatial, globals_)[:, :actions],
        net.description.encoding,
        size,
        games,
        pass_alive=bool(net.spec.get("pass_alive_under_suicide", False)),
        seed=1,
    )


def calibrate(makers: Makers, samples: Sequence[Sample]) -> dict[str, Range]:
    """Return the range of the inputs of every layer that may be in eight bits, over all positions."""
    found: dict[str, tuple[float, FloatArray]] = {}
    for sample in samples:
        layers = Layers(watch=True)
        model = makers.model(sample.size, sample.size, ROWS, layers)
        options = {"INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": "1"}
        request = core().compile_model(model, "CPU", options).create_infer_request()
        for start in range(0, len(sample.spatial) - ROWS + 1, ROWS):
            rows = slice(start, start + ROWS)
            request.infer([part[rows] for part in (sample.spatial, sample.globals_) if part.shape[1]])
            for i, name in enumerate(layers.names):
                low = float(request.get_output_tensor(1 + 2 * i).data)
                peaks = request.get_output_tensor(2 + 2 * i).data
                before = found.get(name, (low, peaks))
                found[name] = min(low, before[0]), np.maximum(peaks, before[1])
    return {name: (low, tuple(map(float, peaks))) for name, (low, peaks) in found.items()}


def run(runner: OpenVinoRunner, sample: Sample) -> FloatArray:
    """Return the packed rows of all positions."""
    starts = range(0, len(sample.spatial), ROWS)
    parts = [runner.evaluate(sample.spatial[i : i + ROWS], sample.globals_[i : i + ROWS]) for i in starts]
    return np.concatenate(parts)


def compare(net: Net, samples: Sequence[Sample], answers: Sequence[tuple[Any, Any]], speed: float) -> Figures:
    """Return how far the second answers are from the first."""
    same, divergence, winrate, lead = [], [], [], []
    for sample, (exact, rough) in zip(samples, answers, strict=True):
        actions = sample.legal.shape[1]
        p, q = (log_policy(rows[:, :actions], sample.legal) for rows in (exact, rough))
        same.append(p.argmax(axis=1) == q.argmax(axis=1))
        divergence.append((np.exp(p) * np.where(sample.legal, p - q, 0.0)).sum(axis=1))
        scalars = [np.abs(rough[:, actions + i] - exact[:, actions + i]) for i in range(len(SCALARS))]
        winrate.append(scalars[SCALARS.index("value")] / 2.0)
        lead.append(scalars[SCALARS.index("lead")])
    means = [float(np.concatenate(parts).mean()) for parts in (same, divergence, winrate, lead)]
    return Figures(sum(map(len, same)), means[0], means[1], means[2], means[3], speed)


def log_policy(logits: FloatArray, legal: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the logarithm of the softmax over the legal actions, -1e30 elsewhere."""
    x = np.where(legal, logits.astype(np.float64), -1e30)
    x -= x.max(axis=1, keepdims=True)
    return np.asarray(np.where(legal, x - np.log(np.exp(x).sum(axis=1, keepdims=True)), -1e30))


def compare_speed(rough: OpenVinoRunner, plain: OpenVinoRunner, sample: Sample) -> float:
    """Return how many times as fast the first is, by processor time, on single rows in turn."""
    rows = sample.spatial[:1], sample.globals_[:1]
    spent = [[], []]  # type: list[list[float]]
    for runner in (rough, plain):
        runner.evaluate(*rows)
    end = time.perf_counter() + SPEED_SECONDS
    while time.perf_counter() < end or len(spent[1]) < 5:
        for i, runner in enumerate((rough, plain)):
            start = time.process_time()
            for _ in range(4):
                runner.evaluate(*rows)
            spent[i].append(time.process_time() - start)
    return min(spent[1]) / max(min(spent[0]), 1e-9)


def main(argv: Sequence[str] | None = None) -> int:
    """Quantize a net and write its plan; with --watch, end when standard input ends."""
    parser = Parser(prog="python -m engine.nn.quantize")
    parser.add_argument("net", type=Path)
    parser.add_argument("--plain", default="bf16", choices=("bf16", "f32"))
    parser.add_argument("--profile", default="", help="player that a net trained on people's games imitates")
    parser.add_argument("--watch", action="store_true", help="end when standard input ends")
    options = parser.parse_args(argv)
    if options.watch:
        threading.Thread(target=_end_with_input, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(10)
    try:
        net = load_net(options.net)
    except EngineError as error:
        print(error, file=sys.stderr)
        return 1
    meta = None
    if net.spec.get("meta"):
        from .metadata_row import profile_row

        def meta(width: int, height: int) -> Any:
            return profile_row(options.profile, width, height)

    plan = quantize(net, options.plain, meta)
    where = int8.write(options.net, plan_name(net), plan)
    print(f"{plan.figures}\n{plan.figures.refusal() or 'accepted'}\n{where}")
    return 0 if where else 1


def _end_with_input() -> None:
    while os.read(0, 1 << 16):  # not sys.stdin: its lock, held here, would break the interpreter's end
        pass
    os._exit(3)


if __name__ == "__main__":
    raise SystemExit(main())
