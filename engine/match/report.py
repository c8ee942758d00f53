"""From finished games to figures, and from figures to the report that a person reads.

The report is Markdown, aligned, so that it is fit for a terminal too. A pairing's figures are its first engine's. Games
are lines of games.jsonl.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from .bradley_terry import Rating, rate
from .elo import elo, elo_interval, wilson
from .schedule import Pairing, points
from .sprt import Verdict, finished_pairs

Game = Mapping[str, Any]
ON_BOARD = ("score", "move limit", "resign")  # how games end without anybody's fault


def summarise_pairing(
    pairing: Pairing, games: Sequence[Game], scores: Sequence[float | None], verdict: Verdict | None = None
) -> dict[str, Any]:
    """Return the figures of one pairing.

    Args:
        games: its finished games.
        scores: the first engine's points by game in their order; None: not finished.
        verdict: what the rule says, where there is one.
    """
    a, b = pairing
    total = _counts(games, a)
    pairs = finished_pairs(scores)
    return {
        "a": a,
        "b": b,
        **total,
        "interval95": list(wilson(total["score"], total["games"])),
        "elo": elo(total["score"] / total["games"]) if games else None,
        "elo95": list(elo_interval([score for score in scores if score is not None], pairs)),
        "pairs": {f"{2 * pair:g}": count for pair, count in sorted(Counter(pairs).items())},
        "rule": None if verdict is None else vars(verdict),
        "as_black": _counts([game for game in games if game["black"] == a], a),
        "as_white": _counts([game for game in games if game["black"] == b], a),
        "reasons": dict(Counter(game["reason"] for game in games)),
        "forfeits": {label: _forfeits(games, label) for label in pairing},
        "duplicates": sum(game["duplicate_of"] is not None for game in games),
        "disputed": sum(game["disputed"] for game in games),
        "mean_moves": _mean([game["moves"] for game in games]),
        "mean_seconds": _mean([game.get("seconds") for game in games]),
        "mean_cpu": {label: _mean([(game.get("cpu") or {}).get(label) for game in games]) for label in pairing},
        "mean_own_cpu": _mean([game.get("own_cpu") for game in games]),
    }


def results_of(games: Sequence[Game]) -> dict[tuple[str, str], float]:
    """Return points by (for, against) of games that name both players."""
    table: defaultdict[tuple[str, str], float] = defaultdict(float)
    for game in games:
        for label, other in ((game["black"], game["white"]), (game["white"], game["black"])):
            table[label, other] += points(game, label)
    return dict(table)


def ladder_rows(ratings: Sequence[Rating]) -> list[dict[str, Any]]:
    """Return ratings as JSON has them."""
    return [
        {"name": r.name, "elo": round(r.elo, 1), "error95": round(r.error, 1), "games": r.games, "points": r.points}
        for r in ratings
    ]


def summarise(
    engines: Mapping[str, Mapping[str, str]],
    settings: Mapping[str, Any],
    pairings: Sequence[Mapping[str, Any]],
    games: Sequence[Game],
) -> dict[str, Any]:
    """Return summary.json: engines (name and command by label), settings, pairings, and the ladder if it has rungs."""
    ladder = None
    if len(engines) > 2 and games:
        try:
            ladder = ladder_rows(rate(results_of(games)))
        except ValueError:  # not all of them have met yet
            ladder = None
    return {"engines": engines, "settings": settings, "pairings": pairings, "ladder": ladder}


def format_report(summary: Mapping[str, Any]) -> str:
    """Return the Markdown report of a match."""
    summary = _with_names(summary)
    settings = summary["settings"]
    board = f"{settings['width']}x{settings['height']}, komi {settings['komi']:g}, {settings['rules']}"
    limits = [f"time {settings['time']}" if settings.get("time") else "",
              f"{settings['visits']} visits" if settings.get("visits") else ""]  # fmt: skip
    lines = [f"# Match on {', '.join([board, *filter(None, limits)])}", ""]
    for label, engine in summary["engines"].items():
        lines.append(f"- {label}: {engine['name']} (`{engine['command']}`)")
    lines += ["", *pairing_table(summary["pairings"])]
    for pairing in summary["pairings"]:
        lines += ["", *_notes(pairing)]
    if summary["ladder"]:
        lines += ["", *ladder_table(summary["ladder"])]
    return "\n".join(lines)


def _with_names(summary: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a summary with engines called as people read them, where it says how (`shown`)."""
    shown = {label: engine.get("shown", label) for label, engine in summary["engines"].items()}
    pairings = [
        {**pairing, "a": shown[pairing["a"]], "b": shown[pairing["b"]]}
        | {key: {shown[label]: value for label, value in pairing[key].items()} for key in ("mean_cpu", "forfeits")}
        for pairing in summary["pairings"]
    ]
    ladder = summary["ladder"] and [{**row, "name": shown[row["name"]]} for row in summary["ladder"]]
    engines = {shown[label]: engine for label, engine in summary["engines"].items()}
    return {**summary, "engines": engines, "pairings": pairings, "ladder": ladder}


def pairing_table(pairings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the rows of all pairings, with the colors apart."""
    rows = [["", "games", "won-drawn-lost", "score in %", "Elo (95 %)"]]
    for pairing in pairings:
        for name, part in ((f"{pairing['a']} as Black", "as_black"), (f"{pairing['a']} as White", "as_white")):
            if pairing[part]["games"]:
                rows.append([name, *_cells(pairing[part]), ""])
        low, high = pairing["interval95"]
        name, cells = f"{pairing['a']} - {pairing['b']}", _cells(pairing)
        if pairing["games"]:
            cells[-1] += f" ({100 * low:.0f} to {100 * high:.0f})"
        rows.append([name, *cells, elo_text(pairing["elo"], pairing["elo95"])])
    return markdown_table(rows)


def ladder_table(ladder: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the rows of a ladder."""
    rows = [["", "engine", "Elo", "± 95 %", "games", "score"]]
    for place, row in enumerate(ladder, 1):
        share = f"{100 * row['points'] / row['games']:.1f} %" if row["games"] else "-"
        rows.append([f"{place}", row["name"], f"{row['elo']:.0f}", f"{row['error95']:.0f}", f"{row['games']:g}", share])
    return markdown_table(rows)


def markdown_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table with aligned columns; the first row is its head."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def _notes(pairing: Mapping[str, Any]) -> list[str]:
    lines = [f"{pairing['a']} - {pairing['b']}: games ended by: {_listed(pairing['reasons'])}"]
    if pairing["rule"] is not None:
        lines.append(pairing["rule"]["text"] + ("" if pairing["rule"]["decision"] else ", undecided"))
    if pairing["games"]:
        cost = [f"{pairing['mean_moves']:.0f} moves", f"{pairing['mean_seconds']:.1f} s"]
        cost += [f"{label} {cpu:.1f} CPU s" for label, cpu in pairing["mean_cpu"].items() if cpu is not None]
        cost.append(f"match itself {pairing['mean_own_cpu'] or 0.0:.1f} CPU s")
        lines.append("a game: " + ", ".join(cost))
    for label in (pairing["a"], pairing["b"]):
        if pairing["forfeits"][label]:
            lines.append(f"games that {label} lost without a score: {_listed(pairing['forfeits'][label])}")
    if pairing["duplicates"]:
        lines.append(f"warning: games that repeat an earlier one move for move: {pairing['duplicates']}")
    if pairing["disputed"]:
        lines.append(f"warning: finished games whose winner the engines disagree on: {pairing['disputed']}")
    return [f"- {line}" for line in lines]


def _counts(games: Sequence[Game], label: str) -> dict[str, Any]:
    wins = sum(game["winner"] == label for game in games)
    draws = sum(game["winner"] is None for game in games)
    score = wins + draws / 2
    return {"games": len(games), "wins": wins, "draws": draws, "losses": len(games) - wins - draws, "score": score}


def _forfeits(games: Sequence[Game], label: str) -> dict[str, int]:
    lost = (game for game in games if game["reason"] not in ON_BOARD and game["winner"] not in (None, label))
    return dict(Counter(game["reason"] for game in lost))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _cells(row: Mapping[str, Any]) -> list[str]:
    share = f"{100 * row['score'] / row['games']:.1f}" if row["games"] else "-"
    return [f"{row['games']}", f"{row['wins']}-{row['draws']}-{row['losses']}", share]


def elo_text(value: float | None, ends: Sequence[float | None]) -> str:
    """Return an Elo difference with its interval; of one-sided results, which have none, the bound that there is."""
    low, high = ends
    if low is None and high is None:
        return "-"
    if low is None or high is None:
        return f"below {high:+.0f}" if low is None else f"above {low:+.0f}"
    interval = f"{low:+.0f} to {high:+.0f}"
    return interval if value is None else f"{value:+.0f} ({interval})"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items())) or "-"
