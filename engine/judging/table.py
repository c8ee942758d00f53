"""`keisei judge --alphago50 FOLDER`: who is ahead in the last position of each game, as different judges see it.

FOLDER holds 01.sgf … and table2.tsv, the paper's table: game, actual winner, influence score Black − White. Printed are
our influence score beside it, and our judgment; then how often each has the winner right, and how near the rebuilt
influence function comes to the paper's figures.
"""

from __future__ import annotations

import argparse
import csv
import time
from dataclasses import dataclass
from pathlib import Path

from engine.errors import EngineError
from engine.files import sgf_files
from engine.judge.influence_judge import InfluenceJudge
from engine.sgf import read


@dataclass(frozen=True, slots=True)
class Row:
    """One game. Scores are Black − White with komi."""

    game: str
    winner: str
    paper: float | None
    influence: float
    judged: float
    winrate: float | None


def print_table(folder: Path, options: argparse.Namespace) -> int:
    """Print the table. Raises EngineError if the folder has no games."""
    from engine.judging.cli import make_judge

    judge, influence = make_judge(options), InfluenceJudge()
    paper = read_paper(folder / "table2.tsv")
    files = sgf_files(folder, deep=False)
    if not files:
        raise EngineError(f"{folder}: no .sgf files")
    rows = []
    started = time.perf_counter()
    for path in files:
        record = read(path)
        position = record.position()
        judgment = judge.judge(position)
        key = path.stem.lstrip("0") or path.stem
        winner = record.result[:1].upper() or (paper[key][0] if key in paper else "?")
        given = paper[key][1] if key in paper else None
        rows.append(Row(path.stem, winner, given, influence.judge(position).score, judgment.expected_score,
                        judgment.winrate))  # fmt: skip
    seconds = time.perf_counter() - started
    print("\n".join(lines_of(rows)))
    print(f"{seconds / len(rows):.3f} s a game for both judges")
    return 0


def read_paper(path: Path) -> dict[str, tuple[str, float]]:
    """Return game -> (winner, the paper's score); empty without the file. Raises EngineError if it is no such table."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        table = list(csv.reader(file, delimiter="\t"))
    try:
        return {row[0]: (row[1], float(row[2])) for row in table[1:] if row}
    except (IndexError, ValueError):
        raise EngineError(f"{path}: not a table of game, winner, score") from None


def lines_of(rows: list[Row]) -> list[str]:
    """Return the table and its sums as lines."""
    lines = ["game  winner   paper  influence   judge  Black wins"]
    for row in rows:
        paper = "      –" if row.paper is None else f"{row.paper:7.1f}"
        winrate = "–" if row.winrate is None else f"{100 * row.winrate:.0f} %"
        lines.append(f"{row.game:>4}  {row.winner:>6} {paper}    {row.influence:7.1f} {row.judged:7.1f}  {winrate:>10}")
    known = [row for row in rows if row.paper is not None]
    lines.append("")
    if known:
        errors = [abs(row.influence - (row.paper or 0.0)) for row in known]
        exact = sum(error < 1e-6 for error in errors)
        lines.append(f"influence against the paper: mean error {sum(errors) / len(errors):.2f} points, {exact} exact")
        lines.append(f"winner right, paper's influence: {_right(known, [row.paper or 0.0 for row in known])}")
    lines.append(f"winner right, our influence: {_right(rows, [row.influence for row in rows])}")
    lines.append(f"winner right, judge's expected score: {_right(rows, [row.judged for row in rows])}")
    if all(row.winrate is not None for row in rows):
        lines.append(f"winner right, judge's winrate: {_right(rows, [(row.winrate or 0.0) - 0.5 for row in rows])}")
    return lines


def _right(rows: list[Row], leads: list[float]) -> str:
    right = sum(row.winner == ("B" if lead > 0 else "W") for row, lead in zip(rows, leads, strict=True))
    return f"{right} of {len(rows)}"
