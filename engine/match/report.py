"""From game results to figures: wins, Wilson interval, Elo difference, and the table that a person reads."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Z95 = 1.959963984540054  # two-sided 95 % of the normal distribution


def wilson(score: float, games: int, z: float = Z95) -> tuple[float, float]:
    """Return the Wilson score interval of a share.

    Args:
        score: wins, draws counting half.
        games: number of games; 0 gives (0, 1).

    Source: E. B. Wilson, JASA 22 (1927).
    """
    if games == 0:
        return 0.0, 1.0
    share = score / games
    spread = z * math.sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    centre = share + z * z / (2 * games)
    scale = 1 + z * z / games
    return max((centre - spread) / scale, 0.0), min((centre + spread) / scale, 1.0)


def elo(share: float) -> float | None:
    """Return the Elo difference that gives this share of points; None for 0 and 1, where there is none."""
    return 0.0 - 400 * math.log10(1 / share - 1) if 0 < share < 1 else None


def summarise(games: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures of a match, from A's point of view; games are the lines of games.jsonl."""
    total = _counts(games)
    low, high = wilson(total["score"], total["games"])
    share = total["score"] / total["games"] if games else None
    losses: dict[str, Counter[str]] = {"A": Counter(), "B": Counter()}
    for game in games:
        if game["winner"] is not None and game["reason"] not in ("score", "move limit", "resign"):
            losses["B" if game["winner"] == "A" else "A"][game["reason"]] += 1
    return {
        **total,
        "share": share,
        "interval95": [low, high],
        "elo": None if share is None else elo(share),
        "as_black": _counts([game for game in games if game["black"] == "A"]),
        "as_white": _counts([game for game in games if game["black"] == "B"]),
        "reasons": dict(Counter(game["reason"] for game in games)),
        "forfeits": {label: dict(counter) for label, counter in losses.items()},
        "duplicates": sum(game["duplicate_of"] is not None for game in games),
        "disputed": sum(game["disputed"] for game in games),
        "mean_moves": sum(game["moves"] for game in games) / len(games) if games else None,
    }


def _counts(games: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    wins = sum(game["winner"] == "A" for game in games)
    draws = sum(game["winner"] is None for game in games)
    return {
        "games": len(games),
        "wins": wins,
        "draws": draws,
        "losses": len(games) - wins - draws,
        "score": wins + draws / 2,
    }


def format_report(summary: Mapping[str, Any]) -> str:
    """Return the table of a match: summary as from summarise, with "a" and "b" (name and command of each engine)."""
    lines = [f"{label}: {summary[key]['name']} ({summary[key]['command']})" for label, key in (("A", "a"), ("B", "b"))]
    lines.append(f"{'':12} {'games':>6} {'wins':>6} {'draws':>6} {'losses':>6} {'score':>8}")
    for name, row in (("A as Black", summary["as_black"]), ("A as White", summary["as_white"]), ("A", summary)):
        share = f"{100 * row['score'] / row['games']:.1f} %" if row["games"] else "-"
        cells = " ".join(f"{row[key]:>6}" for key in ("games", "wins", "draws", "losses"))
        lines.append(f"{name:12} {cells} {share:>8}")
    low, high = summary["interval95"]
    difference = "none" if summary["elo"] is None else f"{summary['elo']:+.0f}"
    lines.append(f"95 % interval (Wilson): {100 * low:.1f} % to {100 * high:.1f} %; Elo difference {difference}")
    lines.append("games ended by: " + _listed(summary["reasons"]))
    for label in ("A", "B"):
        if summary["forfeits"][label]:
            lines.append(f"games that {label} lost without a score: " + _listed(summary["forfeits"][label]))
    if summary["duplicates"]:
        lines.append(f"warning: games that repeat an earlier one move for move: {summary['duplicates']}")
    if summary["disputed"]:
        lines.append(f"warning: finished games whose winner the engines disagree on: {summary['disputed']}")
    return "\n".join(lines)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items())) or "-"
