"""KataGo beside this engine: visits a second and processor time of a visit with the same net file, in one run.

    python benchmarks/versus_katago.py --katago PATH --net g170-b6c96.bin.gz --sizes 19,9 --threads 2,1

The two take turns, position by position, so that what else runs on the machine hits both alike; the ratios count, not
the rates. Each search begins with an empty tree and cache and has the settings of `keisei gtp` (each evaluation in a
random symmetry, so that none is shared with a mirror image). KataGo runs as a GTP process (`kata-search`), this
engine in this process; both search to the same number of visits. The binary is found by --katago or the variable
KEISEI_KATAGO; without one the script says so and ends. Processor time of the other process is read where the system
tells it (Linux).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.bench.records import GAMES
from engine.bench.search import cpu_flags, evaluator_for, numbers
from engine.board.position import Position
from engine.board.vertex import format_vertex
from engine.factory import make_settings, preset
from engine.match.gtp_client import EngineFailed, GtpProcess
from engine.nn.catalog import find
from engine.nn.net import load_net
from engine.search.params import SearchParams
from engine.search.root import Limits
from engine.search.searcher import Searcher
from engine.sgf import letters_to_actions

TIMEOUT = 600.0  # seconds for one answer
RULES, KOMI = "chinese", 7.5
CONFIG = """logToStderr = false
logAllGTPCommunication = false
logSearchInfo = false
rules = {rules}
allowResignation = false
resignThreshold = -1
resignConsecTurns = 100
ponderingEnabled = false
maxVisits = {visits}
numSearchThreads = {threads}
"""


@dataclass
class Side:
    """What one program did in one row of the table."""

    visits: int = 0
    wall: list[float] = field(default_factory=list)  # seconds, one a position
    cpu: float = 0.0

    @property
    def rate(self) -> float:
        """Visits a second."""
        return self.visits / sum(self.wall)

    @property
    def cpu_ms(self) -> float:
        """Processor time of a visit in milliseconds, all threads; 0 where it is not known."""
        return 1000.0 * self.cpu / self.visits


class KataGo:
    """A KataGo process with one net and one number of threads. Raises EngineFailed where it cannot run."""

    def __init__(self, binary: str, net: Path, threads: int, visits: int, folder: Path) -> None:
        config = folder / f"{threads}-{visits}.cfg"
        config.write_text(CONFIG.format(rules=RULES, visits=visits, threads=threads), encoding="ascii")
        words = [binary, "gtp", "-model", str(net), "-config", str(config), "-override-config", f"homeDataDir={folder}"]
        self._process = GtpProcess(" ".join(f"'{word}'" for word in words))
        self.name = f"{self._say('name')} {self._say('version')}"

    def _say(self, command: str) -> str:
        return self._process.send(command, TIMEOUT)

    def search(self, position: Position) -> tuple[float, float]:
        """Search a position; return seconds of wall and of processor time."""
        self._say(f"boardsize {position.width}")
        self._say("clear_board")
        self._say(f"komi {position.komi}")
        for color, action in position.moves:
            vertex = format_vertex(action, position.width, position.height)
            self._say(f"play {'BW'[color - 1]} {vertex}")
        self._say("clear_cache")
        before, begin = self._process.cpu_seconds() or 0.0, time.perf_counter()
        self._say(f"kata-search {'BW'[len(position.moves) % 2]}")
        wall = time.perf_counter() - begin
        return wall, (self._process.cpu_seconds() or 0.0) - before

    def close(self) -> None:
        """End the process."""
        self._process.close()


class Keisei:
    """This engine with one net and one number of threads."""

    def __init__(self, net: Any, threads: int, visits: int, options: argparse.Namespace) -> None:
        self.evaluator = evaluator_for(net, threads, options)
        search = make_settings(preset("gtp")).search
        self._searcher = Searcher(
            self.evaluator, replace(search, batch_size=options.batch_size, symmetry=options.symmetry or search.symmetry)
        )
        self._limits = Limits(visits=visits)

    def search(self, position: Position) -> tuple[float, float]:
        """Search a position; return seconds of wall and of processor time."""
        self._searcher.set_position(position)
        self._searcher.clear()
        before, begin = time.process_time(), time.perf_counter()
        self._searcher.search(self._limits)
        return time.perf_counter() - begin, time.process_time() - before


def places(size: int, count: int, evaluator: Any) -> Iterator[Position]:
    """Give positions of games: professionals' on 19x19, elsewhere of a short search against itself."""
    if size == 19:
        for i in range(count):
            moves = letters_to_actions(GAMES[i % len(GAMES)])
            position = Position(19, rules=RULES, komi=KOMI)
            for action in moves[: 10 + 160 * i // max(1, count)]:
                position.play(action, allow_superko=True)
            yield position
        return
    searcher = Searcher(evaluator, SearchParams(batch_size=1), seed=size)
    position = Position(size, rules=RULES, komi=KOMI)
    for i in range(count):
        yield position.copy()
        for _ in range(max(1, size * size // 2 // count)):
            searcher.set_position(position)
            position.play(searcher.search(Limits(visits=16)).chosen)
        if position.ended:
            position = Position(size, rules=RULES, komi=KOMI)
            position.play(i)


def compare(
    net: Any, binary: str, size: int, threads: int, options: argparse.Namespace, folder: Path
) -> dict[str, Any]:
    """Measure one row."""
    theirs = KataGo(binary, Path(net.description.file), threads, options.visits, folder)
    try:
        ours = Keisei(net, threads, options.visits, options)
        sides = Side(), Side()
        found = list(places(size, options.positions, ours.evaluator))
        for i, position in enumerate([found[0], *found]):  # the first time to warm up
            for player, side in ((theirs, sides[0]), (ours, sides[1])):
                wall, cpu = player.search(position)
                if i:
                    side.visits += options.visits
                    side.wall.append(wall)
                    side.cpu += cpu
        name = theirs.name
        precision = str(ours.evaluator.precision)
        ours.evaluator.close()
    finally:
        theirs.close()
    each = [a / b for a, b in zip(sides[0].wall, sides[1].wall, strict=True)]
    return {
        "katago": name, "size": size, "threads": threads, "visits": options.visits, "positions": len(each),
        "precision": precision, "batch": options.batch_size,
        "katago_rate": sides[0].rate, "keisei_rate": sides[1].rate, "ratio": sides[1].rate / sides[0].rate,
        "median_ratio": statistics.median(each), "katago_cpu_ms": sides[0].cpu_ms, "keisei_cpu_ms": sides[1].cpu_ms,
        "cpu_ratio": sides[0].cpu_ms / sides[1].cpu_ms if sides[1].cpu else 0.0,
        "sides": [asdict(side) for side in sides],
    }  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run the comparison and print a table, or one JSON object with --json."""
    parser = argparse.ArgumentParser(description="KataGo and Keisei in turn, with the same net file.")
    parser.add_argument("--katago", default=os.environ.get("KEISEI_KATAGO", "katago"), help="its binary")
    parser.add_argument("--net", help="net file that both can read (KataGo's format)", required=True)
    parser.add_argument("--sizes", type=numbers, default=[19], help="board sizes (19)")
    parser.add_argument("--threads", type=numbers, default=[1, 2], help="threads of both (1,2)")
    parser.add_argument("--visits", type=int, default=400, help="of each search (%(default)s)")
    parser.add_argument("--positions", type=int, default=6, help="a row (%(default)s)")
    parser.add_argument("--batch-size", type=int, default=0, help="our leaves in a batch; 0 chooses (0)")
    parser.add_argument("--symmetry", help="ours: fixed, random or average; as in `keisei gtp` if not given")
    parser.add_argument("--runtime", default="auto", help="ours: auto, openvino or torch")
    parser.add_argument("--precision", default="auto", help="ours: auto, float32, bfloat16 or int8")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(argv)
    options.device = "cpu"
    binary = shutil.which(options.katago)
    if binary is None:
        print(f"skipped: no KataGo at {options.katago!r} (give --katago or set KEISEI_KATAGO)", file=sys.stderr)
        return 0
    net = load_net(find(options.net))
    rows = []
    if not options.json:
        print(f"{net.description.name}; this processor: {cpu_flags() or 'flags not known'}")
        print("size thr visits  KataGo/s  Keisei/s  ratio (median) | CPU ms a visit, ratio | precision")
    with tempfile.TemporaryDirectory() as folder:
        for size in options.sizes:
            for threads in options.threads:
                try:
                    row = compare(net, binary, size, threads, options, Path(folder))
                except EngineFailed as error:
                    print(f"KataGo failed: {error}", file=sys.stderr)
                    return 1
                rows.append(row)
                if not options.json:
                    print(
                        f"{size:4} {threads:3} {row['visits']:6} {row['katago_rate']:9.1f} {row['keisei_rate']:9.1f}"
                        f" {row['ratio']:6.2f} ({row['median_ratio']:.2f}) | {row['katago_cpu_ms']:6.2f}"
                        f" {row['keisei_cpu_ms']:6.2f} {row['cpu_ratio']:6.2f} | {row['precision']}",
                        flush=True,
                    )
    if options.json:
        print(json.dumps({"net": net.description.name, "cpu_flags": cpu_flags(), "rows": rows}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
