"""The encoding part of `keisei bench board`: KataGo V7 planes with ladders over professional games, move by move.

The slow encoder of the tests, run on some of the same positions, gives the comparison; it is at hand in a source
checkout only. Every figure counts the call from Python.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import numpy as np

from engine.bench.board import Figure
from engine.bench.records import GAMES, read_games
from engine.board import planes
from engine.board.position import Position
from engine.sgf import letters_to_actions

TARGET = 100.0  # µs, mean
PLAIN_EVERY = 90  # moves between the positions that plain Python encodes


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--records", type=Path, help="encode games of this table (.tsv, .tsv.xz), not those built in")
    parser.add_argument("--records-count", type=int, default=50, help="games to take from it (%(default)s)")
    parser.add_argument(
        "--oracles", type=Path, default=Path("tests/oracles"), help="folder of the slow encoder (%(default)s)")


def planes_figures(options: argparse.Namespace, rounds: int) -> list[Figure]:
    """Return the figures of encoding."""
    games = [letters_to_actions(moves) for moves in GAMES]
    if options.records:
        games = read_games(options.records, options.records_count)
    plain = plain_mean(games, options.oracles)
    of = f"{len(games)} professional games"
    return [
        encode_figure(f"V7 planes with ladders, {of}", games, rounds, target=TARGET, plain=plain),
        encode_figure("the same, no ladder remembered", games, rounds, forget=True),
        encode_figure("AlphaGo Zero planes", games, rounds, encoding="alphagozero-17"),
    ]


def encode_figure(
    name: str,
    games: Sequence[Sequence[int]],
    rounds: int,
    *,
    encoding: str = "katago-v7",
    forget: bool = False,
    target: float | None = None,
    plain: float | None = None,
) -> Figure:
    """Time encoding after every move of the games; a position counts with its best time in all rounds."""
    count, n_globals = planes.ENCODINGS[encoding]
    spatial, globals_ = np.empty((count, 19, 19), dtype=np.float32), np.empty(n_globals, dtype=np.float32)
    best: list[int] = []
    for game in games:
        times = [2**62] * len(game)
        for _ in range(rounds):
            planes.clear_ladder_cache()
            position = Position(19, rules="chinese-ogs", komi=7.5)
            for number, action in enumerate(game):
                position.play(action, allow_superko=True)
                if forget:
                    planes.clear_ladder_cache()
                start = time.perf_counter_ns()
                planes.encode_into(position, encoding, spatial, globals_)
                times[number] = min(times[number], time.perf_counter_ns() - start)
        best += times
    return Figure(name, sum(best) / len(best) / 1000, "µs", target, plain, f"{len(best)} positions")


def plain_mean(games: Sequence[Sequence[int]], folder: Path) -> float | None:
    """Return the mean time in µs of the tests' slow encoder on some positions, None where it is not at hand."""
    if not (folder / "planes_oracle.py").is_file():
        return None
    with imported(folder) as oracle:
        rules = Position(19, rules="chinese-ogs").rules
        total = count = 0
        for game in games[:8]:
            slow = oracle.Game(oracle.Record(19, 19, rules, 7.5))
            for number, action in enumerate(game):
                slow.play(1 + number % 2, action)
                if number % PLAIN_EVERY == PLAIN_EVERY // 2:
                    start = time.perf_counter_ns()
                    try:
                        oracle.encode(slow, "katago-v7", 2 - number % 2)
                    except oracle.ladder_oracle.Undecided:
                        continue
                    total += time.perf_counter_ns() - start
                    count += 1
        return total / count / 1000 if count else None


@contextmanager
def imported(folder: Path) -> Iterator[ModuleType]:
    """Import the slow encoder from its folder."""
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("planes_oracle")
    finally:
        sys.path.remove(str(folder))
