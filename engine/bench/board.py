"""`keisei bench board`: how fast the board is, in one table, beside plain Python in the same run.

Every figure is the mean over a fixed set of games of each game's best time, so that a busy machine disturbs it little.
The signature hashes every position the walks passed through: it changes only when the rules of play do.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from sgfmill import boards

from engine.board.position import Position
from engine.board.walk import random_walk
from engine.usage import Parser


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    name: str
    value: float
    unit: str
    target: float | None = None  # the value should not be above
    plain: float | None = None  # the same work in plain Python, same unit
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times faster than plain Python."""
        return None if self.plain is None else self.plain / self.value


@dataclass(frozen=True)
class Effort:
    """How much to run."""

    games: int = 50
    rounds: int = 15
    moves: int = 400  # a game; 1.1 times the board's area on 19x19


def best_means(jobs: Sequence[Callable[[], object]], rounds: int) -> float:
    """Run all jobs `rounds` times; return the mean over jobs of each job's shortest time, in ns."""
    best = [2**62] * len(jobs)
    for _ in range(rounds):
        for number, job in enumerate(jobs):
            start = time.perf_counter_ns()
            job()
            best[number] = min(best[number], time.perf_counter_ns() - start)
    return sum(best) / len(best)


def walk_figure(size: int, rules: str, effort: Effort, target: float | None = None) -> tuple[Figure, int]:
    """Time random walks: a random empty point, its full legality, the move. Returns the figure and the signature."""
    moves = max(1, effort.moves * size * size // 361)
    position = Position(size, rules=rules)
    signatures: dict[int, int] = {}

    def job(seed: int) -> Callable[[], None]:
        def run() -> None:
            position.clear()
            signatures[seed] = random_walk(position, moves, seed)[1]

        return run

    def clear_only() -> None:
        position.clear()

    idle = best_means([clear_only] * 5, effort.rounds)
    total = best_means([job(seed) for seed in range(1, effort.games + 1)], effort.rounds)
    signature = 0
    for seed in sorted(signatures):
        signature = (signature * 31 + signatures[seed]) % 2**64
    plain = plain_walk(size, moves) if size == 19 else None
    name = f"legality + play, {size}x{size} random walk, {rules}"
    return Figure(name, (total - idle) / moves, "ns a move", target, plain, f"{moves} moves a game"), signature


def plain_walk(size: int, moves: int) -> float:
    """The same kind of walk on sgfmill's board, which finds captures by flood fill and knows no superko; ns a move."""
    rng = random.Random(1)

    def run() -> None:
        board, color = boards.Board(size), "b"
        for _ in range(moves):
            row, column = rng.randrange(size), rng.randrange(size)
            while board.get(row, column) is not None:
                row, column = rng.randrange(size), rng.randrange(size)
            board.play(row, column, color)
            color = "w" if color == "b" else "b"

    return best_means([run], 3) / moves


def midgames(count: int) -> list[Position]:
    """Return positions after 250 random moves. Many: one alone would be learnt by heart by the branch predictor."""
    positions = [Position(19, rules="chinese-ogs") for _ in range(count)]
    for seed, position in enumerate(positions, start=1):
        random_walk(position, 250, seed)
    return positions


def mask_figure(effort: Effort) -> Figure:
    """Time the legality of all points at once after 250 random moves, superko included."""
    value = best_means([position.legal_mask for position in midgames(effort.games)], effort.rounds)
    return Figure("all legal moves, 19x19 after 250 moves", value / 1000, "µs")


def copy_figure(effort: Effort) -> Figure:
    """Time a whole copy, history included, as a search makes one before each descent."""
    value = best_means([position.copy for position in midgames(effort.games)], effort.rounds)
    return Figure("copy of a position, 19x19 after 250 moves", value / 1000, "µs")


def undo_figure(effort: Effort) -> Figure:
    """Time undo, which plays the game again, in games of 400 random moves."""
    jobs = [undo_job(seed) for seed in range(max(1, effort.games // 5))]
    return Figure("undo in a game of 400 moves", best_means(jobs, effort.rounds) / 1000, "µs")


def undo_job(seed: int) -> Callable[[], None]:
    """Make a game of 400 random moves; return what takes its last move back and passes instead."""
    position = Position(19)
    rng = random.Random(seed)
    while position.n_moves < 400:
        action = rng.randrange(position.area)
        if position.is_legal(action):
            position.play(action)

    def run() -> None:
        position.undo()
        position.play(position.area)

    return run


def measure(effort: Effort) -> tuple[list[Figure], int]:
    """Return all figures and the signature of the 19x19 walks."""
    main_figure, signature = walk_figure(19, "chinese-ogs", effort, target=120)
    figures = [
        main_figure,
        walk_figure(19, "chinese", effort)[0],
        walk_figure(9, "chinese-ogs", effort)[0],
        mask_figure(effort),
        copy_figure(effort),
        undo_figure(effort),
    ]
    return figures, signature


def table(figures: Sequence[Figure], signature: int) -> str:
    """Return the figures as text, one a line."""
    lines = []
    for figure in figures:
        words = [f"{figure.name:<58}{figure.value:>9.1f} {figure.unit}"]
        if figure.target is not None:
            words.append(f"target {figure.target:g}")
        if figure.plain is not None:
            words.append(f"plain Python {figure.plain:.0f}, {figure.ratio:.0f} times slower")
        lines.append("; ".join(words))
    lines.append(f"{'signature of the 19x19 walks':<58}{signature:016x}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table, or one JSON object with --json."""
    from engine.bench import board_planes  # it needs the names above

    parser = Parser(prog="keisei bench board", description="Speed of the board.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--games", type=int, default=Effort.games, help="random walks of each kind (%(default)s)")
    parser.add_argument("--rounds", type=int, default=Effort.rounds, help="times each walk is run (%(default)s)")
    parser.add_argument("--no-planes", action="store_true", help="leave the encodings out")
    board_planes.add_options(parser)
    options = parser.parse_args(argv)
    figures, signature = measure(Effort(games=max(1, options.games), rounds=max(1, options.rounds)))
    if not options.no_planes:
        figures += board_planes.planes_figures(options, max(1, options.rounds // 3))
    if options.json:
        rows = [{**asdict(figure), "ratio": figure.ratio} for figure in figures]
        print(json.dumps({"figures": rows, "signature": f"{signature:016x}"}, ensure_ascii=False))
    else:
        print(table(figures, signature))
    return 0
