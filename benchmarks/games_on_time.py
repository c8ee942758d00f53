"""Self-play under time controls, with the clock kept as a server keeps it: is a game lost on time, is the time used?

    python benchmarks/games_on_time.py OUT.jsonl --games 50 --sizes 9,19 --busy 2 --lag 0.1

Every finished game is a line of OUT.jsonl, and a second run goes on from there. Two engine processes play each game
without resigning; whole seconds are told with `time_left`, as servers do; `lag` seconds are added to each move. With
`--fixed SECONDS` Black and White in turn think that long about every move instead and are told no clock: is the same
time spent better by the clock?

With `--slow MS` the engines wait so long for every batch instead of working, as for a slow GPU: many games can
then be played at the same time (`--jobs`), and what is measured is the clock, not the processor.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import multiprocessing
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.board.position import BLACK, WHITE, Position
from engine.board.rules import parse_rules
from engine.board.scoring import score
from engine.board.vertex import parse_vertex
from engine.match.gtp_client import GtpProcess

SYSTEMS = {
    "byoyomi": "byoyomi 10 1 3",
    "absolute": "absolute 60",
    "canadian": "canadian 0 10 15",
    "fischer": "fischer 30 2",
}


@dataclass
class ServerClock:
    """One side's time as a server keeps it. Everything in seconds; `count` is of periods or of moves left in one."""

    words: str
    main: float = 0.0
    period: float = 0.0
    count: int = 0
    increment: float = 0.0
    overtime: bool = False  # it has begun
    seconds: float = 0.0  # left of the period
    used: float = 0.0
    moves: int = 0
    worst: float = math.inf  # least that was left before losing, over all moves
    _full: int = field(default=0)

    def __post_init__(self) -> None:
        self.system, *numbers = self.words.split()
        values = [float(number) for number in numbers]
        self.main = values[0]
        if self.system == "fischer":
            self.increment = values[1]
        if self.system in ("byoyomi", "canadian"):
            self.period, self.count = values[1], int(values[2])
            self._full, self.seconds = self.count, self.period
            self.overtime = self.main <= 0

    @property
    def told(self) -> str:
        """The arguments of time_left behind the color, whole seconds."""
        return f"{int(self.seconds)} {self.count}" if self.overtime else f"{int(self.main)} 0"

    @property
    def available(self) -> float:
        """What could have been used by now without losing."""
        main = float(self.words.split()[1])
        if self.system == "byoyomi":
            return main + (self._full - 1 + self.moves) * self.period
        if self.system == "canadian":
            return main + self.moves * self.period / self._full
        return main + self.moves * self.increment

    def spend(self, seconds: float) -> bool:
        """Take a move's time; False: lost on time."""
        self.used += seconds
        self.moves += 1
        if not self.overtime:
            self.main -= seconds
            if self.main > 0 or not self.period:
                self.worst = min(self.worst, self.main + (self.count if self.system == "byoyomi" else 1) * self.period)
                alive = self.main >= 0
                self.main += self.increment
                return alive
            seconds, self.main, self.overtime = -self.main, 0.0, True
        if self.system == "byoyomi":
            self.worst = min(self.worst, self.count * self.period - seconds)
            self.count -= max(math.ceil(seconds / self.period) - 1, 0)
            return self.count > 0
        self.seconds -= seconds
        self.count -= 1
        self.worst = min(self.worst, self.seconds)
        alive = self.seconds >= 0
        if self.count == 0:
            self.seconds, self.count = self.period, self._full
        return alive


def busy() -> None:
    """Keep a core busy as long as the process that started this one lives."""
    parent = multiprocessing.parent_process()
    while parent is None or parent.is_alive():
        for _ in range(1_000_000):
            pass


def set_up(engine: GtpProcess, size: int, komi: float, rules: str, words: str | None) -> None:
    """Begin a game."""
    for line in (f"boardsize {size}", "clear_board", f"kata-set-rules {rules}", f"komi {komi}"):
        engine.send(line, 120.0)
    if words is not None:
        system = "kata" if words.startswith("fischer") else "kgs"
        engine.send(f"{system}-time_settings {words}", 10.0)


def play(options: argparse.Namespace, name: str, size: int, number: int, pair: list[GtpProcess]) -> dict[str, Any]:
    """Play one game and return its line."""
    komi, words = (7.0 if size <= 9 else 7.5), SYSTEMS.get(name, name)
    position = Position(size, rules=parse_rules(options.rules), komi=komi)
    fixed = None if options.fixed is None else (BLACK, WHITE)[number % 2]
    engines = dict(zip((BLACK, WHITE), pair, strict=True))
    clocks = {color: ServerClock(words) for color in (BLACK, WHITE)}
    for color, engine in engines.items():
        set_up(engine, size, komi, options.rules, None if color == fixed else words)
        engine.send(f"kata-set-param player.time {options.fixed if color == fixed else 'none'}", 10.0)
        if color == fixed:
            engine.send("kgs-time_settings none", 10.0)
    for engine in pair:
        engine.send("kata-raw-nn 0", 120.0)  # the net is there, as it is on a server
    lost: int | None = None
    log: list[float] = []
    for color, action in opening(options, position, number):
        for engine in engines.values():
            engine.send(f"play {'bw'[color - 1]} {vertex(position, action)}", 10.0)
        position.play(action, color)
    while not position.ended and position.n_moves < 2 * size * size and lost is None:
        color = position.to_play
        clock, engine = clocks[color], engines[color]
        if color != fixed:
            engine.send(f"time_left {'bw'[color - 1]} {clock.told}", 10.0)
        begin = time.monotonic()
        move = engine.send(f"genmove {'bw'[color - 1]}", 600.0)
        seconds = time.monotonic() - begin
        log.append(round(seconds, 3))
        if not clock.spend(seconds + options.lag) and color != fixed:
            lost = color
        action = parse_vertex(move, size, size)
        position.play(action, color, allow_superko=True)
        engines[3 - color].send(f"play {'bw'[color - 1]} {move}", 60.0)
    sides = [clocks[color] for color in (BLACK, WHITE)]
    return {
        "system": name, "size": size, "number": number, "moves": position.n_moves, "ended": position.ended,
        "lost": lost, "fixed": fixed, "score": final(engines[BLACK], position),
        "worst": [round(clock.worst, 3) for clock in sides], "longest": max(log, default=0.0),
        "used": [round(clock.used - options.lag * clock.moves, 2) for clock in sides],
        "share": [round(clock.used / max(clock.available, 1e-9), 3) for clock in sides],
        "turns": [clock.moves for clock in sides], "seconds": log,
    }  # fmt: skip


def vertex(position: Position, action: int) -> str:
    """Return the GTP text of an action."""
    from engine.board.vertex import format_vertex

    return format_vertex(action, position.width, position.height)


def opening(options: argparse.Namespace, position: Position, number: int) -> list[tuple[int, int]]:
    """Return a few first moves, another set for each pair of games, so that no game repeats another."""
    import random

    chance = random.Random(f"{options.seed} {position.width} {number // 2}")
    width = position.width
    inner = [y * width + x for y in range(2, width - 2) for x in range(2, width - 2)]
    return list(zip((BLACK, WHITE, BLACK, WHITE), chance.sample(inner, options.opening), strict=False))


def final(engine: GtpProcess, position: Position) -> float:
    """Return Black's score as the engine counts it; of an unfinished game by area."""
    if not position.ended:
        return float(score(position))
    text = engine.send("final_score", 120.0)
    return 0.0 if text == "0" else float(text[2:]) * (1 if text[0] == "B" else -1)


def wilson(hits: float, tries: int) -> tuple[float, float]:
    """Return the 95 % interval of a rate."""
    if tries == 0:
        return 0.0, 1.0
    z, rate = 1.96, hits / tries
    centre = rate + z * z / (2 * tries)
    spread = z * math.sqrt(rate * (1 - rate) / tries + z * z / (4 * tries * tries))
    return (centre - spread) / (1 + z * z / tries), (centre + spread) / (1 + z * z / tries)


def table(lines: list[dict[str, Any]]) -> str:
    """Return what the games say, a row for each system and size."""
    rows = ["system    size games lost  Wilson 95 %    least left  longest  share used  moves"]
    for key in sorted({(line["system"], line["size"]) for line in lines}):
        games = [line for line in lines if (line["system"], line["size"]) == key]
        lost = sum(line["lost"] is not None for line in games)
        low, high = wilson(lost, len(games))
        shares = [share for line in games for color, share in enumerate(line["share"], 1) if color != line["fixed"]]
        worst = min(w for line in games for color, w in enumerate(line["worst"], 1) if color != line["fixed"])
        rows.append(
            f"{key[0]:10}{key[1]:4}{len(games):6}{lost:5}  {low:5.1%}-{high:6.1%}{worst:10.2f} s"
            f"{max(line['longest'] for line in games):8.2f} s  {sum(shares) / len(shares):9.0%}"
            f"{sum(line['moves'] for line in games) / len(games):8.0f}"
        )
    against = [line for line in lines if line["fixed"] is not None and (line["score"] != 0 or line["lost"])]
    if against:
        won = sum((line["score"] > 0) == (line["fixed"] == WHITE) and not line["lost"] for line in against)
        low, high = wilson(won, len(against))
        each = {
            who: sum(line["used"][c - 1] for line in against for c in (1, 2) if (c == line["fixed"]) == who)
            for who in (True, False)
        }
        games = len(against)
        rows.append(f"clock against fixed time: {won} of {games}, {won / games:.1%} ({low:.1%}-{high:.1%})")
        rows.append(f"seconds thought a game: clock {each[False] / games:.1f}, fixed {each[True] / games:.1f}")
    return "\n".join(rows)


class SlowNet:
    """A net whose every batch takes so many seconds of waiting besides."""

    def __init__(self, inner: Any, seconds: float) -> None:
        self._inner, self._seconds = inner, seconds
        self.encoding, self.name, self.max_batch, self.preferred_batch = inner.encoding, inner.name, 2, 2
        self.pass_alive_under_suicide = getattr(inner, "pass_alive_under_suicide", False)
        self.supports_size, self.allocate = inner.supports_size, inner.allocate

    def evaluate(self, spatial: Any, globals_: Any, *, ownership: bool = False) -> Any:
        time.sleep(self._seconds)
        return self._inner.evaluate(spatial, globals_, ownership=ownership)


def serve(seconds: float, words: list[str]) -> int:
    """Be an engine with a slow net."""
    from dataclasses import replace

    from engine import cli, factory

    load = factory.load_judging

    def slowly(*args: Any, **options: Any) -> Any:
        loaded = load(*args, **options)
        return replace(loaded, evaluator=SlowNet(loaded.evaluator, seconds))

    factory.load_judging = slowly
    return cli.main(["gtp", *words])


def main() -> None:
    if sys.argv[1:2] == ["--serve"]:
        sys.exit(serve(float(sys.argv[2]), sys.argv[3:]))
    """Read the options, play, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="of " + ", ".join(SYSTEMS) + ", or KGS's words")
    parser.add_argument("--sizes", default="9,19")
    parser.add_argument("--games", type=int, default=50, help="of each system, spread over the sizes")
    parser.add_argument("--lag", type=float, default=0.1, help="seconds added to each move")
    parser.add_argument("--busy", type=int, default=0, help="busy loops beside")
    parser.add_argument("--jobs", type=int, default=1, help="games at the same time")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no game after so many")
    parser.add_argument("--fixed", type=float, help="seconds a move of the other side, which has no clock")
    parser.add_argument("--rules", default="chinese")
    parser.add_argument("--opening", type=int, default=4, help="random first moves")
    parser.add_argument("--seed", type=int, default=0, help="of the openings")
    parser.add_argument("--slow", type=float, help="milliseconds that every batch waits")
    parser.add_argument("--engine", default=f"{sys.executable} -m engine gtp")
    parser.add_argument("--options", default="--set player.resign=false", help="of the engines")
    options = parser.parse_args()
    if options.slow is not None:
        options.engine = f"{sys.executable} {__file__} --serve {options.slow / 1000}"
    options.engine = f"{options.engine} {options.options}"
    done = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    known = {(line["system"], line["size"], line["number"]) for line in done}
    sizes = [int(size) for size in options.sizes.split(",")]
    todo = [
        (name, sizes[number % len(sizes)], number // len(sizes))
        for number in range(options.games)
        for name in options.systems.split(",")
    ]
    todo = [game for game in todo if game not in known]
    begin = time.monotonic()
    loops = [multiprocessing.get_context("spawn").Process(target=busy, daemon=True) for _ in range(options.busy)]
    for loop in loops:
        loop.start()

    def work(_: int) -> None:
        pair = [GtpProcess(options.engine) for _ in (BLACK, WHITE)]
        with contextlib.suppress(IndexError):
            while time.monotonic() - begin < 60 * options.minutes:
                line = play(options, *todo.pop(0), pair)
                with options.out.open("a") as file:
                    file.write(json.dumps(line) + "\n")
                print(json.dumps(line), file=sys.stderr, flush=True)
        for engine in pair:
            engine.close()

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(work, range(options.jobs)))
    for loop in loops:
        loop.terminate()
    print(table([json.loads(line) for line in options.out.read_text().splitlines()]))


if __name__ == "__main__":
    main()
