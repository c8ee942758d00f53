"""`keisei label --counted`: finished games whose recorded result a judge counts too, as a table of judged games.

Records say by how much a game was won, not which stones were dead. Where a judge over a strong net comes to exactly the
recorded margin, its marks are taken for the players' own; several teachers may be named, and the first one that agrees
with the record speaks. The table is one of judged games as any other (judged.py): `keisei label --judgment` and
`keisei evaluate thresholds` read it. Held-out games are never in it. A killed run goes on with the same command.
"""

from __future__ import annotations

import argparse
import logging
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine.board.position import BLACK, EMPTY, WHITE
from engine.errors import ConfigError, EngineError
from engine.usage import Parser

from .judged import JudgedGame, replay_judged, rules_of
from .nets import add_net_options, at_least, open_net
from .records import Game, read_any
from .selection import Selection

if TYPE_CHECKING:
    from engine.judge import Judgment
    from engine.judge.types import OpinionSource

log = logging.getLogger(__name__)

EXACT = 0.25  # points; scores are multiples of a half
COLUMNS = ("id", "size", "rules", "komi", "result", "first", "setup_black", "setup_white", "moves", "n_dead",
           "n_neutral", "board", "ownership", "teacher")  # fmt: skip


def judged_of(game: Game, name: str) -> JudgedGame | None:
    """Return a record as a judged game without marks; None if it was not counted or its komi is unknown."""
    if game.margin is None or game.komi is None:
        return None
    return JudgedGame(name, game, rules_of(game.rules), game.komi, game.margin, game.result)


def agreed(judged: JudgedGame, teachers: Sequence[tuple[str, OpinionSource]]) -> tuple[str, Judgment] | None:
    """Return the first teacher by whose opinion the judge counts the recorded margin, and the judgment; else None.

    Most games need no reading, so the judge is first asked without.

    Raises:
        RecordError: the game cannot be replayed.
    """
    from engine.judge import Judge, JudgeSettings
    from engine.judge.asking import GivenOpinion

    position = replay_judged(judged)
    assert judged.margin is not None
    for name, source in teachers:
        opinion = source.opinion(position) if source.supports_size(position.width, position.height) else None
        if opinion is None:
            continue
        for nodes in (0, JudgeSettings().nodes):
            judgment = Judge(GivenOpinion(opinion), JudgeSettings(nodes=nodes)).judge(position)
            if abs(judgment.score - judged.margin) < EXACT:
                return name, judgment
    return None


def row_of(judged: JudgedGame, judgment: Judgment, teacher: str) -> str:
    """Return the line of the table for a judgment that the record agrees with."""
    game = judged.game
    board = replay_judged(judged).board().ravel()
    owner = np.array([EMPTY, BLACK, WHITE])[judgment.territory.ravel().astype(int)]
    owner = np.where(board == EMPTY, owner, board)
    dead = list(judgment.dead)
    owner[dead] = BLACK + WHITE - board[dead]
    margin = judged.margin or 0.0
    fields = {
        "id": judged.id, "size": game.size, "rules": judged.rules, "komi": f"{judged.komi:g}",
        "result": f"{'B' if margin > 0 else 'W'}+{abs(margin):g}" if margin else "0",
        "first": "B" if game.first == BLACK else "W",
        "setup_black": game.setup_black, "setup_white": game.setup_white, "moves": game.moves,
        "n_dead": len(dead), "n_neutral": int((owner == EMPTY).sum()),
        "board": "".join(".XO"[c] for c in board), "ownership": "".join(".BW"[c] for c in owner), "teacher": teacher,
    }  # fmt: skip
    return "\t".join(str(fields[name]) for name in COLUMNS) + "\n"


class CountedTable:
    """The table and, beside it, `<table>.left` with the games that were left out and why.

    Args:
        path: a `.tsv`; continued if it is there.
    """

    def __init__(self, path: Path) -> None:
        self._files = path, path.with_name(path.name + ".left")
        path.parent.mkdir(parents=True, exist_ok=True)
        self.seen: set[str] = set()
        self.tally: Counter[str] = Counter()
        for file, header in zip(self._files, ("\t".join(COLUMNS), "id\twhy"), strict=True):
            text = file.read_bytes() if file.exists() else b""
            whole = text[: text.rfind(b"\n") + 1] or header.encode() + b"\n"
            if whole != text:
                file.write_bytes(whole)
            head, *lines = whole.decode().splitlines()
            if head != header:
                raise ConfigError(f"{file}: no table of counted games")
            for line in lines:
                self.seen.add(line.split("\t", 1)[0])
                self.tally["taken" if file == path else line.rsplit("\t", 1)[1]] += 1

    def take(self, line: str) -> None:
        """Add a row."""
        self._append(0, line, "taken")

    def leave(self, name: str, why: str) -> None:
        """Note that a game is left out."""
        self._append(1, f"{name}\t{why}\n", why)

    def _append(self, which: int, line: str, what: str) -> None:
        with self._files[which].open("a", encoding="utf-8") as file:
            file.write(line)
        self.seen.add(line.split("\t", 1)[0])
        self.tally[what] += 1


def candidates(paths: Sequence[Path], selection: Selection, limit: int, seed: int) -> Iterator[JudgedGame]:
    """Yield the counted games of tables that a selection lets pass, each table in a seeded order.

    Args:
        limit: at most so many of a table; 0: all.
    """
    seen: set[tuple[int, str]] = set()
    for path in paths:
        name = path.name.split(".")[0]
        numbered = [(number, game) for number, game in enumerate(read_any(path)) if game.margin is not None]
        random.Random(f"{seed}/{name}").shuffle(numbered)
        taken = 0
        for number, game in numbered:
            if limit and taken >= limit:
                break
            if selection.verdict(game, seen):
                continue
            judged = judged_of(game, f"{name}-{number}")
            if judged is not None:
                taken += 1
                yield judged


def count(
    games: Iterator[JudgedGame], teachers: Sequence[tuple[str, OpinionSource]], table: CountedTable,
    progress: Callable[[str], None] = log.info,
) -> None:  # fmt: skip
    """Judge every game that the table has not seen, and put it there or note why not."""
    start = said = time.monotonic()
    for number, judged in enumerate((game for game in games if game.id not in table.seen), start=1):
        try:
            found = agreed(judged, teachers)
            if found is None:
                table.leave(judged.id, "counted otherwise")
            else:
                table.take(row_of(judged, found[1], found[0]))
        except EngineError as error:
            table.leave(judged.id, "cannot be replayed")
            log.debug("left out: %s", error)
        if time.monotonic() - said > 60:
            said = time.monotonic()
            progress(f"{dict(table.tally)}, {number / (said - start):.1f} a second")
    progress(f"{dict(table.tally)}")


def main(argv: Sequence[str]) -> int:
    """Run `keisei label --counted`. Errors go to the caller as EngineError."""
    parser = Parser(prog="keisei label --counted", description=__doc__)
    parser.add_argument("--counted", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--games", type=Path, action="append", required=True, help="table of games; repeatable")
    parser.add_argument("--exclude", type=Path, action="append", default=[],
                        help="no game of this table, nor another record of one; repeatable")  # fmt: skip
    parser.add_argument("--teacher", action="append", required=True, help="net that judges; repeatable")
    parser.add_argument("--symmetries", type=int, default=2, choices=[1, 2, 3, 4])
    parser.add_argument("--limit", type=at_least(0), default=0, help="at most so many games of a table; 0: all")
    parser.add_argument("--seed", type=int, default=1, help="of the order")
    parser.add_argument("--out", type=Path, required=True, help="the table, a .tsv; the same command goes on with it")
    add_net_options(parser)
    options = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    if options.out.suffix != ".tsv":
        raise ConfigError(f"--out {options.out}: wants the ending .tsv")
    from engine.judge.asking import NetOpinion

    table = CountedTable(options.out)
    selection = Selection.excluding(options.exclude)
    opened = [(Path(name).name, open_net(name, options, max_batch=16)[0]) for name in options.teacher]
    teachers = [(name, NetOpinion(evaluator, symmetries=options.symmetries)) for name, evaluator in opened]
    count(candidates(options.games, selection, options.limit, options.seed), teachers, table)
    return 0
