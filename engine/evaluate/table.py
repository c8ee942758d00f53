"""Sums over comparisons: one row for a judge, rules and share of the game, as numbers and as a text table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from .cases import END

Comparison = Mapping[str, Any]


def share_of(values: list[bool]) -> float | None:
    """Return the share that is true, None of nothing."""
    return sum(values) / len(values) if values else None


def summarise(comparisons: Iterable[Comparison]) -> dict[str, Any]:
    """Return one row: how many positions, what share was right, seconds a judgment.

    A position without an answer counts as wrong wherever the truth is known.
    """
    rows = list(comparisons)
    wrong = [row["stones_wrong"] for row in rows if row.get("stones_wrong") is not None]
    points = sum(row["points"] for row in rows if "points" in row)
    return {
        "positions": len(rows),
        "dead_exact": share_of([row["dead_exact"] for row in rows if "dead_exact" in row]),
        "stones_wrong": sum(wrong) / len(wrong) if wrong else None,  # a game
        "score_exact": share_of([row["score_exact"] for row in rows if "score_exact" in row]),
        "score_within_1": share_of([row["score_within_1"] for row in rows if "score_within_1" in row]),
        "winner": share_of([row["winner"] for row in rows]),
        "points_right": sum(row["points_right"] for row in rows if "points" in row) / points if points else None,
        "seconds": median(row["seconds"] for row in rows) if rows else None,
        "errors": sum("error" in row for row in rows),
    }


def tabulate(comparisons: Iterable[Comparison], judge: str) -> list[dict[str, Any]]:
    """Return the rows of one judge: all rules together, then by rules, for each share of the game."""
    found = list(comparisons)
    rows = []
    for share in sorted({row["share"] for row in found}, reverse=True):
        here = [row for row in found if row["share"] == share]
        names = sorted({row["rules"] for row in here})
        for rules in ["all", *(names if len(names) > 1 else [])]:
            chosen = [row for row in here if rules in ("all", row["rules"])]
            rows.append({"judge": judge, "share": share, "rules": rules, **summarise(chosen)})
    return rows


HEADINGS = {
    "judge": "judge", "share": "at", "rules": "rules", "positions": "games", "dead_exact": "dead set exact",
    "stones_wrong": "stones wrong", "score_exact": "score exact", "score_within_1": "within 1", "winner": "winner",
    "points_right": "points right", "seconds": "s", "errors": "errors",
}  # fmt: skip


def text_of(rows: list[dict[str, Any]]) -> str:
    """Return the table as text, columns aligned; columns without a figure are left out."""
    used = [name for name in HEADINGS if any(row.get(name) not in (None, "") for row in rows)]
    if not any(row.get("errors") for row in rows):
        used = [name for name in used if name != "errors"]
    lines = [[HEADINGS[name] for name in used]] + [[_cell(name, row.get(name)) for name in used] for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(used))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < 3 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "–"
    if name == "share":
        return "end" if value == END else f"{value} %"
    if name in ("dead_exact", "score_exact", "score_within_1", "winner", "points_right"):
        return f"{100 * value:.1f} %"
    return f"{value:.3f}" if name == "seconds" else f"{value:.2f}" if name == "stones_wrong" else str(value)


def disagreements(by_judge: Mapping[str, Mapping[str, Comparison]]) -> list[str]:
    """Return the keys of finished games that every judge counts otherwise than the record.

    Such a record may be wrong: its players may have marked a dead stone alive, or not agreed on what is on the board.
    Otherwise means another set of dead stones or, where that is not known, another score. Games that were not counted
    are never among them.
    """
    keys = set.intersection(*(set(found) for found in by_judge.values())) if by_judge else set()
    return sorted(key for key in keys if all(_otherwise(found[key]) for found in by_judge.values()))


def _otherwise(row: Comparison) -> bool:
    if row["share"] != END:
        return False
    return not row["dead_exact"] if "dead_exact" in row else row.get("score_exact") is False
