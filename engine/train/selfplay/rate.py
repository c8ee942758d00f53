"""How strong the nets of a loop are: matches between its generations, ratings from all of them, and the plot.

Ratings are Elo by Bradley-Terry's model, draws half a point, with generation 0 at zero and a weak prior (one drawn game
of each net against an average one), so that a net that never lost has a finite rating.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..folder import mend_lines
from .arena import Score, play_match
from .loop import Loop
from .store import SelfplayError

if TYPE_CHECKING:
    from engine.evaluator import Evaluator

log = logging.getLogger(__name__)
FILE = "ratings.jsonl"
SEED = 1_000_000  # other games than the gates'
Pair = tuple[int, int]


def best_nets(lines: Sequence[dict[str, Any]]) -> list[int]:
    """Return the numbers of the nets that were the best at some time, the random one first."""
    return [0, *dict.fromkeys(line["best"] for line in lines if line["accepted"])]


def pairs_of(nets: Sequence[int]) -> list[Pair]:
    """Return the pairs to play: each net against net 0, the one before it, and the one three before it."""
    found: dict[Pair, None] = {}
    for i in range(1, len(nets)):
        for j in (0, i - 1, i - 3):
            if 0 <= j < i:
                found[nets[i], nets[j]] = None
    return list(found)


def rate(loop: Loop, games: int) -> Iterator[dict[str, Any]]:
    """Play the matches that `ratings.jsonl` does not hold yet; yield each one's line."""
    path = loop.folder / FILE
    mend_lines(path)
    known = {(line["net"], line["against"]) for line in read_lines(path)}
    open_one = _remembering(loop)
    for net, other in pairs_of(best_nets(loop.lines)):
        if (net, other) in known:
            continue
        score = play_match((open_one(net), open_one(other)), loop.match_plan(SEED + 1000 * net + other), games)
        line = {"net": net, "against": other, **score.figures()}
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        yield line


def _remembering(loop: Loop) -> Callable[[int], Evaluator]:
    kept: dict[int, Evaluator] = {}

    def open_one(number: int) -> Evaluator:
        if number not in kept:
            kept[number] = loop.open_net(loop.net(number))[0]
        return kept[number]

    return open_one


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file of JSON lines; none if there is no file. Raises SelfplayError naming a damaged one."""
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
    except ValueError as error:
        raise SelfplayError(f"{path}: {error}") from error


def ratings(lines: Sequence[dict[str, Any]]) -> dict[int, tuple[float, float]]:
    """Return each net's Elo and its standard error, net 0 at zero.

    Args:
        lines: of matches: net, against, won, drawn, lost.
    """
    nets = sorted({0} | {line[key] for line in lines for key in ("net", "against")})
    index = {net: i for i, net in enumerate(nets)}
    n = len(nets)
    points, games = np.zeros((n, n)), np.zeros((n, n))
    for line in lines:
        a, b, total = index[line["net"]], index[line["against"]], line["won"] + line["drawn"] + line["lost"]
        points[a, b] += line["won"] + line["drawn"] / 2
        points[b, a] += line["lost"] + line["drawn"] / 2
        games[a, b] += total
        games[b, a] += total
    strength = np.zeros(n)
    hessian = np.eye(n)
    for _ in range(100):
        expected = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        own = 1 / (1 + np.exp(-strength))
        gradient = (points - games * expected).sum(axis=1) + 0.5 - own
        weight = games * expected * (1 - expected)
        hessian = np.diag(weight.sum(axis=1) + own * (1 - own)) - weight
        step = np.linalg.solve(hessian, gradient)
        strength += np.clip(step, -1, 1)
        if abs(step).max() < 1e-9:
            break
    covariance = np.linalg.inv(hessian)
    unit = 400 / math.log(10)
    zero = index[0]
    spread = np.sqrt(np.maximum(0, covariance.diagonal() + covariance[zero, zero] - 2 * covariance[zero]))
    return {net: (unit * (strength[i] - strength[zero]), unit * float(spread[i])) for net, i in index.items()}


def plot(loop: Loop, path: Path) -> None:
    """Draw the ratings, or before there are any the gates' results, over the generations as a PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    lines = read_lines(loop.folder / FILE)
    against_zero = [line for line in lines if line["against"] == 0]
    figure, axes = pyplot.subplots(figsize=(7, 4), dpi=100)
    if lines:
        rated = ratings(lines)
        nets = sorted(rated)
        axes.errorbar(
            nets, [rated[net][0] for net in nets], yerr=[1.96 * rated[net][1] for net in nets],
            marker="o", markersize=3, capsize=2, label="Elo (95 %), net 0 = 0",
        )  # fmt: skip
        axes.set_ylabel("Elo")
        right = axes.twinx()
        right.plot(
            [line["net"] for line in against_zero], [100 * line["share"] for line in against_zero],
            color="tab:orange", linestyle=":", marker=".", label="points against net 0",
        )  # fmt: skip
        right.set_ylim(0, 102)
        right.set_ylabel("points against net 0, %")
    else:
        score = [(line["generation"] + 1, line["gate"]["share"]) for line in loop.lines]
        axes.plot([n for n, _ in score], [100 * share for _, share in score], marker="o", label="gate")
        axes.axhline(100 * loop.loop.gate_share, linestyle=":", color="gray")
        axes.set_ylabel("points against the best net, %")
    axes.set_xlabel("net (number of generations)")
    axes.legend(loc="lower right")
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


__all__ = ["Score", "best_nets", "pairs_of", "plot", "rate", "ratings", "read_lines"]
