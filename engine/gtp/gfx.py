"""What a search found as drawing commands of GoGui, and its figures in words for people.

Scores and winning chances are said of a named color here, since nobody who looks at a board asks who searched.
Source: GoGui's manual, chapters "Analyze Commands" (type gfx) and "Live Graphics".
"""

from __future__ import annotations

from engine.board.vertex import format_vertex
from engine.judge.text import result_text
from engine.search.result import MoveInfo, SearchResult

MOST = 10
"""Moves drawn at most: more labels than that hide the board."""

_GREENS = ("#35c04a", "#7fd48c", "#a9dfb1", "#c9e9ce", "#e2f2e4")


def drawing(result: SearchResult) -> list[str]:
    """Return drawing commands: the moves looked at, the best one in the strongest green, and a line of text."""
    area = result.width * result.height
    shown = [move for move in result.moves[:MOST] if move.action < area]
    lines = []
    if shown:
        labels = " ".join(f"{_vertex(result, move.action)} {_label(move, result)}" for move in shown)
        lines.append(f"LABEL {labels}")
        colors = [_GREENS[min(rank, len(_GREENS) - 1)] for rank in range(len(shown))]
        for color in dict.fromkeys(colors):
            points = [_vertex(result, move.action) for move, own in zip(shown, colors, strict=True) if own == color]
            lines.append(f"COLOR {color} {' '.join(points)}")
    return [*lines, f"TEXT {in_words(result)}"]


def live(result: SearchResult) -> str:
    """Return what GoGui reads from the error stream while a command runs: the best variation and a line of text."""
    if not result.moves:
        return ""
    first = result.moves[0]
    side = result.color
    moves = []
    for action in first.pv:
        moves.append(f"{'bw'[side - 1]} {_vertex(result, action).replace('pass', 'PASS')}")
        side = 3 - side
    shares = " ".join(
        f"{_vertex(result, move.action)} {_signed(move.edge_visits / max(result.visits, 1), result.color):.2f}"
        for move in result.moves[:MOST]
        if move.action < result.width * result.height
    )
    lines = ["gogui-gfx:", f"VAR {' '.join(moves)}"]
    if shares:
        lines.append(f"INFLUENCE {shares}")
    return "\n".join([*lines, f"TEXT {in_words(result)}", "", ""])


LIVE_END = "gogui-gfx: CLEAR\n"
"""What takes live drawings away again."""


def in_words(result: SearchResult) -> str:
    """Return one line: who is ahead, by how much, after how many visits."""
    visits = f"{result.visits} visit{'' if result.visits == 1 else 's'}"
    if not result.judged:
        return visits
    return f"{chances(result, result.winrate, result.lead)}, {visits}"


def chances(result: SearchResult, winrate: float, lead: float) -> str:
    """Return a winrate and a lead, given in the view of the side that searched, as "Black 52.1 %, B+1.3"."""
    side = "Black" if result.color == 1 else "White"
    return f"{side} {100 * winrate:.1f} %, {result_text(round(_signed(lead, result.color), 1))}"


def variation(result: SearchResult, move: MoveInfo) -> str:
    """Return a principal variation as vertices."""
    return " ".join(_vertex(result, action) for action in move.pv)


def _label(move: MoveInfo, result: SearchResult) -> str:
    return f"{100 * (move.winrate if result.judged else move.prior):.0f}"


def _signed(value: float, color: int) -> float:
    return value if color == 1 else -value


def _vertex(result: SearchResult, action: int) -> str:
    return format_vertex(action, result.width, result.height)
