"""`keisei evaluate calibration`: of the chains that a judge calls with confidence p, what share does it call rightly?

Asks a judge about finished games with known dead stones, sorts its calls of chains that it has not proven by their
confidence, and prints the share that is right in each range. A temperature (what the logit of a confidence is divided
by) is fitted so that the two agree best, and may be stored in a judgment net's file beside its thresholds.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import ConfigError, EngineError
from engine.train.judged import JudgedGame, read_judged, replay_judged
from engine.usage import Parser, install_hint

from .judges import OwnJudge, add_judge_options, make_judge
from .thresholds import MODULUS, store, validation_games

if TYPE_CHECKING:
    from engine.judge import Judgment

log = logging.getLogger(__name__)

EDGES = (0.0, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 1.0)
FLOOR = 1e-4  # a confidence counts as no nearer to 0 or 1 than that
TEMPERATURES = (0.2, 5.0)  # between which the best one is sought


@dataclass(frozen=True, slots=True)
class Call:
    """What a judge said of one chain that it has not proven."""

    confidence: float  # probability that the status is right, [0, 1]
    right: bool
    stones: int


def calls_of(judged: JudgedGame, judgment: Judgment) -> list[Call]:
    """Return the calls of a game's unproven chains: dead, or living in one way or another.

    A chain of which a record marks some stones only is left out.
    """
    assert judged.dead is not None
    found = []
    for chain in judgment.chains:
        marks = {bool(judged.dead[stone]) for stone in chain.stones}
        if not chain.proven and len(marks) == 1:
            right = (chain.status.value == "dead") is marks.pop()
            found.append(Call(chain.confidence, right, len(chain.stones)))
    return found


def at_temperature(confidence: float, temperature: float) -> float:
    """Return a confidence with its logit divided by a temperature.

    >>> round(at_temperature(0.9, 2.0), 3), at_temperature(0.5, 2.0)
    (0.75, 0.5)
    """
    p = min(max(confidence, FLOOR), 1.0 - FLOOR)
    return 1.0 / (1.0 + math.exp(-math.log(p / (1.0 - p)) / temperature))


def log_loss(calls: Sequence[Call], temperature: float = 1.0) -> float:
    """Return the mean surprise, in nats, that a call is right or wrong."""
    total = 0.0
    for call in calls:
        p = at_temperature(call.confidence, temperature)
        total -= math.log(p if call.right else 1.0 - p)
    return total / max(1, len(calls))


def fit_temperature(calls: Sequence[Call]) -> float:
    """Return the temperature with the least log loss (golden section over its logarithm)."""
    low, high = (math.log(bound) for bound in TEMPERATURES)
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    for _ in range(40):
        one, other = high - ratio * (high - low), low + ratio * (high - low)
        if log_loss(calls, math.exp(one)) < log_loss(calls, math.exp(other)):
            high = other
        else:
            low = one
    return round(math.exp((low + high) / 2.0), 3)


def reliability(calls: Sequence[Call], temperature: float = 1.0) -> list[dict[str, Any]]:
    """Return a row for each range of confidence with calls in it: how sure the judge was, how often it was right."""
    rows = []
    sure = [at_temperature(call.confidence, temperature) for call in calls]
    for low, high in pairwise(EDGES):
        inside = [(p, call) for p, call in zip(sure, calls, strict=True) if low <= p < high or p == high == 1.0]
        if inside:
            rows.append({
                "from": low, "to": high, "chains": len(inside), "stones": sum(call.stones for _, call in inside),
                "confidence": sum(p for p, _ in inside) / len(inside),
                "right": sum(call.right for _, call in inside) / len(inside),
            })  # fmt: skip
    return rows


def expected_error(rows: Iterable[dict[str, Any]]) -> float:
    """Return the mean distance between confidence and the share that is right, weighted by chains."""
    found = list(rows)
    chains = sum(row["chains"] for row in found)
    return float(sum(row["chains"] * abs(row["confidence"] - row["right"]) for row in found) / max(1, chains))


def report(calls: Sequence[Call]) -> dict[str, Any]:
    """Return the table as it is and at the best temperature, with log losses and expected errors."""
    best = fit_temperature(calls)
    result: dict[str, Any] = {"chains": len(calls), "wrong": sum(not call.right for call in calls), "temperature": best}
    for name, temperature in (("as_it_is", 1.0), ("fitted", best)):
        rows = reliability(calls, temperature)
        loss = round(log_loss(calls, temperature), 5)
        result[name] = {"log_loss": loss, "expected_error": round(expected_error(rows), 5), "rows": rows}
    return result


def text_of(whole: dict[str, Any]) -> str:
    """Return the report as text."""
    lines = [f"{whole['chains']} chains without proof, {whole['wrong']} called wrongly, best temperature "
             f"{whole['temperature']}"]  # fmt: skip
    for name, title in (("as_it_is", "as it is"), ("fitted", "at that temperature")):
        part = whole[name]
        lines.append(f"\n{title}: log loss {part['log_loss']}, expected error {part['expected_error']}")
        lines.append("confidence     chains   mean   right")
        lines += [
            f"{row['from']:.3f}–{row['to']:.3f}  {row['chains']:7d}  {row['confidence']:.3f}   {row['right']:.3f}"
            for row in part["rows"]
        ]
    return "\n".join(lines)


def draw(whole: dict[str, Any], path: Path) -> None:
    """Write the picture: confidence against the share that is right. Raises EngineError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise EngineError(f"--png needs matplotlib: {install_hint('matplotlib')}") from error
    figure = Figure(figsize=(5, 5))
    axes = figure.add_subplot(xlabel="confidence", ylabel="share that is right", title="chains without proof")
    axes.plot([0.5, 1], [0.5, 1], color="grey", linewidth=1)
    for name, title in (("as_it_is", "as it is"), ("fitted", f"temperature {whole['temperature']}")):
        rows = whole[name]["rows"]
        axes.plot([row["confidence"] for row in rows], [row["right"] for row in rows], marker="o", label=title)
    axes.legend()
    figure.savefig(path, bbox_inches="tight")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei evaluate calibration`. Errors go to the caller as EngineError."""
    parser = Parser(prog="keisei evaluate calibration", description=__doc__)
    add_judge_options(parser)
    parser.add_argument("--data", type=Path, action="append", required=True, help="table of judged games; repeatable")
    parser.add_argument("--modulus", type=int, default=MODULUS, help="which games validate; the net must not know them")
    parser.add_argument("--held-out", action="store_true", help="the held-out games instead, to report")
    parser.add_argument("--games", type=int, default=0, help="at most so many of a table; 0: all")
    parser.add_argument("--write", metavar="NET", help="store the temperature in this judgment net's file")
    parser.add_argument("--png", type=Path, help="picture of the table")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    if options.modulus < 1:
        raise ConfigError("--modulus: at least 1")
    if options.write and options.held_out:
        raise ConfigError("--write: nothing is fitted on held-out games")
    if len(options.judge) != 1:
        raise ConfigError("--judge: one judge at a time")
    judge = make_judge(options.judge[0], options)
    if not isinstance(judge, OwnJudge):
        raise ConfigError(f"--judge {options.judge[0]}: a program says no confidence")
    calls: list[Call] = []
    games = 0
    for path in options.data:
        for judged in _games(path, options):
            try:
                calls += calls_of(judged, judge.judgment(replay_judged(judged)))
                games += 1
            except EngineError as error:
                log.warning("left out: %s", error)
    if not any(not call.right for call in calls):
        raise ConfigError(f"{games} games, and not one chain called wrongly: too few to calibrate by")
    whole = {"judge": options.judge[0], "games": games, **report(calls)}
    if options.write:
        where = f"{games} validation games, modulus {options.modulus}"
        store(options.write, {"temperature": whole["temperature"]}, where)
    if options.png:
        draw(whole, options.png)
    print(json.dumps(whole) if options.json else text_of(whole))
    return 0


def _games(path: Path, options: argparse.Namespace) -> list[JudgedGame]:
    if not options.held_out:
        return validation_games(path, options.modulus, options.games)
    found = list(read_judged(path, only_held_out=True))
    return found[: options.games] if options.games else found
