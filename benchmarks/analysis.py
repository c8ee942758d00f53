"""How near `keisei analysis` comes to the speed of the bare net: 1000 positions asked for at once.

    python benchmarks/analysis.py [--net NAME] [--visits 1,16,100] [--positions 1000] [--shape games|queries]

Prints, for each number of visits, evaluations a second of the analysis (from the text of the queries to the text of
the answers) beside those of the bare net at its best batch size, measured by turns, and the same for a second of
processor time, which other programs on the machine disturb less. Nothing here is a test: figures are ratios.
"""

from __future__ import annotations

import argparse
import json
import random
import time

import numpy as np

from engine import factory
from engine.analysis.parse import Defaults
from engine.analysis.reader import Reader
from engine.analysis.scheduler import Scheduler
from engine.bench.records import GAMES
from engine.board.position import Position
from engine.board.vertex import format_vertex
from engine.evaluator import AsyncEvaluator
from engine.nn.settings import NetSettings
from engine.sgf.letters import letters_to_actions


class Sink:
    """Counts what it is given."""

    crowded = False

    def __init__(self) -> None:
        self.answers = self.bytes = 0

    def write(self, text: str) -> None:
        """Take a line."""
        self.answers += 1
        self.bytes += len(text)


def game(size: int, number: int) -> list[list[str]]:
    """Return the moves of a game as a query has them: a professional one on 19x19, else a random one."""
    if size == 19:
        actions = letters_to_actions(GAMES[number % len(GAMES)])
    else:
        rng, position, actions = random.Random(number), Position(size), []
        while len(actions) < size * size // 2:
            actions.append(rng.choice(np.flatnonzero(position.legal_mask())[:-1].tolist()))
            position.play(actions[-1])
    return [["BW"[index % 2], format_vertex(action, size, size)] for index, action in enumerate(actions)]


def queries(positions: int, size: int, visits: int, shape: str) -> list[bytes]:
    """Return lines that ask for so many positions: whole games by analyzeTurns, or each position by itself."""
    base = {"boardXSize": size, "boardYSize": size, "komi": 7.5, "rules": "chinese", "maxVisits": visits}
    lines: list[bytes] = []
    left, number = positions, 0
    while left:
        moves = game(size, number)
        number += 1
        length = min(left, len(moves))
        left -= length
        if shape == "games":
            data = {**base, "id": f"game{left}", "moves": moves, "analyzeTurns": list(range(length))}
            lines.append(json.dumps(data).encode())
        else:
            lines += [json.dumps({**base, "id": f"{left}-{n}", "moves": moves[:n]}).encode() for n in range(length)]
    return lines


class Clock:
    """Seconds, and seconds of processor time, that a block takes."""

    def __enter__(self) -> Clock:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall, self.cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu


def bare(evaluator: AsyncEvaluator, size: int, batch: int, seconds: float) -> tuple[float, float]:
    """Return rows a second, and a second of processor time, of the net alone with two batches in flight."""
    rng = np.random.default_rng(1)
    arrays = [evaluator.allocate(batch, size, size) for _ in range(2)]
    position = Position(size)
    from engine.board.planes import encode_into

    for spatial, globals_ in arrays:
        for row in range(batch):
            position.play(int(rng.choice(np.flatnonzero(position.legal_mask())[:-1])))
            encode_into(position, evaluator.encoding, spatial[row], globals_[row])
    rows, tickets = 0, [evaluator.submit(*arrays[0])]
    with Clock() as clock:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            tickets.append(evaluator.submit(*arrays[len(tickets) % 2]))
            evaluator.result(tickets[-2])
            rows += batch
    evaluator.result(tickets[-1])
    return rows / clock.wall, rows / clock.cpu


def analysed(
    settings: factory.EngineSettings, evaluator: AsyncEvaluator, lines: list[bytes], size: int = 19
) -> tuple[float, float, float]:
    """Return evaluations a second, a second of processor time, and a batch."""
    sink = Sink()
    scheduler = Scheduler(evaluator, settings.search, settings.analysis, sink)
    defaults = Defaults.of(settings.search, settings.player, settings.analysis)
    reader = Reader(scheduler, sink.write, defaults, list)
    for number in range(150):  # searchers are made once
        reader.line(json.dumps({"id": str(number), "boardXSize": size, "maxVisits": 2}).encode())
    scheduler.answer_all()
    before = scheduler.batches.evaluated, scheduler.batches.sent
    with Clock() as clock:
        for line in lines:
            reader.line(line)
        scheduler.answer_all()
    rows, batches = scheduler.batches.evaluated - before[0], scheduler.batches.sent - before[1]
    return rows / clock.wall, rows / clock.cpu, rows / batches


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="keisei analysis beside the bare net")
    parser.add_argument("--net")
    parser.add_argument("--size", type=int, default=19)
    parser.add_argument("--positions", type=int, default=1000)
    parser.add_argument("--visits", default="1,16,100")
    parser.add_argument("--shape", choices=("games", "queries"), default="games")
    parser.add_argument("--rows", type=int, default=0, help="analysis.rows")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--precision", default="auto")
    options = parser.parse_args()
    settings = factory.make_settings(factory.preset("analysis"), {"analysis": {"rows": options.rows}})
    evaluator = factory.load(options.net, NetSettings(precision=options.precision)).evaluator
    assert isinstance(evaluator, AsyncEvaluator)
    batches = [n for n in (8, 16, 32, 64, 128) if n <= evaluator.max_batch]
    for batch in batches:
        bare(evaluator, options.size, batch, 0.1)
    print(f"{evaluator.name}, {options.size}x{options.size}, {options.positions} positions, shape {options.shape}")
    for visits in map(int, options.visits.split(",")):
        positions = max(20, options.positions // (1 if visits < 10 else visits // 4))
        lines = queries(positions, options.size, visits, options.shape)
        rounds = []
        for _ in range(options.rounds):
            best = max((bare(evaluator, options.size, batch, 0.7) for batch in batches), key=lambda pair: pair[1])
            rounds.append((best, analysed(settings, evaluator, lines, options.size)))
        print(f"  {visits} visits, {positions} positions a round", flush=True)
        for (wall, cpu), (own_wall, own_cpu, batch) in rounds:
            print(f"    bare {wall:.0f}/s, {cpu:.0f}/cpu s; analysis {own_wall:.0f}/s, {own_cpu:.0f}/cpu s, "
                  f"batches of {batch:.1f}: ratio {own_wall / wall:.3f}, by processor time {own_cpu / cpu:.3f}",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
