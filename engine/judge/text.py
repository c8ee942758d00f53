"""A judgment written down: as JSON data, in words, and drawn with letters. Vertices are GTP's."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from engine.board.position import BLACK, EMPTY, Position
from engine.board.scoring import score as board_score
from engine.board.vertex import format_vertex
from engine.judge.score import all_alive
from engine.judge.types import Judgment, OpenItem, SideScore, Status

COLOR_LETTERS = {1: "B", 2: "W"}


def result_text(score: float) -> str:
    """Write a score (positive: Black wins) as GTP has it: "B+3.5", "W+12", "0"."""
    if score == 0:
        return "0"
    return f"{'B' if score > 0 else 'W'}+{abs(score):g}"


def as_dict(position: Position, judgment: Judgment) -> dict[str, Any]:
    """Return the judgment as data for JSON (docs/judge.md lists the keys)."""

    def names(actions: Iterable[int]) -> list[str]:
        return [format_vertex(action, judgment.width, judgment.height) for action in actions]

    data: dict[str, Any] = {
        "width": judgment.width,
        "height": judgment.height,
        "rules": json.loads(position.rules.to_json()),
        "komi": position.komi,
        "moves": position.n_moves,
        "to_play": COLOR_LETTERS[position.to_play],
        "result": result_text(judgment.score),
        "score": judgment.score,
        "finished": judgment.finished,
        "expected_score": round(judgment.expected_score, 2),
        "score_low": _finite(judgment.score_low),
        "score_high": _finite(judgment.score_high),
        "winrate": None if judgment.winrate is None else round(judgment.winrate, 4),
        "black": _side(judgment.black),
        "white": _side(judgment.white),
        "chains": [
            {
                "color": COLOR_LETTERS[chain.color],
                "status": str(chain.status),
                "confidence": round(chain.confidence, 4),
                "proven": chain.proven,
                "group": chain.group,
                "stones": names(chain.stones),
            }
            for chain in judgment.chains
        ],
        "groups": [
            {
                "color": COLOR_LETTERS[group.color],
                "status": str(group.status),
                "confidence": round(group.confidence, 4),
                "chains": list(group.chains),
                "eyes": names(group.eyes),
            }
            for group in judgment.groups
        ],
    }
    for name in ("black_territory", "white_territory", "dame", "seki_points"):
        data[name] = names(judgment.points(name))
    data["open"] = [
        {
            "kind": item.kind,
            "points": names(item.points),
            "black_move": None if item.black_move is None else names([item.black_move])[0],
            "white_move": None if item.white_move is None else names([item.white_move])[0],
            "swing": round(item.swing, 1),
        }
        for item in judgment.open
    ]
    if all_alive(position):
        data["score_as_it_stands"] = board_score(position)
    if judgment.ownership is not None:
        data["ownership"] = [[round(float(value), 3) for value in row] for row in judgment.ownership]
    data["source"] = judgment.source
    return data


def _finite(value: float) -> float | None:
    return round(value, 2) if math.isfinite(value) else None


def _side(side: SideScore) -> dict[str, float]:
    return {**asdict(side), "total": side.total}


LARGE = 12
"""Points of an open border beyond which it is called an area."""


def is_area(item: OpenItem) -> bool:
    """Tell whether an open item is ground that nobody has bordered rather than a border."""
    return item.kind == "border" and len(item.points) > LARGE


def area_words(item: OpenItem, width: int, height: int) -> str:
    """Name an open area by its size and the point of it that is nearest to its middle."""
    n = len(item.points)
    y = sum(action // width for action in item.points) / n
    x = sum(action % width for action in item.points) / n
    middle = min(item.points, key=lambda action: (action // width - y) ** 2 + (action % width - x) ** 2)
    return f"open area ({n} points, around {format_vertex(middle, width, height)})"


def bonus_parts(side: SideScore) -> dict[str, float]:
    """Return what a side gets beside the board, by name."""
    return {"komi": side.komi, "handicap bonus": side.handicap_bonus, "button": side.button}


def drawing(position: Position, judgment: Judgment) -> str:
    """Draw the board: X O living, x o dead, capital S s in seki (Black's, White's); territory +, -; dame :; seki %.

    Points of an open area are dots, whoever may get them.
    """
    board = position.board()
    areas = {action for item in judgment.open if is_area(item) for action in item.points}
    letters = {action: "xo"[chain.color - 1] for chain in judgment.chains for action in chain.stones
               if chain.status == Status.DEAD}  # fmt: skip
    letters |= {action: "Ss"[chain.color - 1] for chain in judgment.chains for action in chain.stones
                if chain.status == Status.SEKI}  # fmt: skip
    columns = " ".join(format_vertex(x, judgment.width, judgment.height).rstrip("0123456789")[-1]
                       for x in range(judgment.width))  # fmt: skip
    lines = [f"    {columns}"]
    for y in range(judgment.height):
        cells = []
        for x in range(judgment.width):
            action = y * judgment.width + x
            if board[y, x] != EMPTY:
                cells.append(letters.get(action, "XO"[int(board[y, x]) - 1]))
            elif judgment.seki_points[y, x]:
                cells.append("%")
            elif judgment.dame[y, x]:
                cells.append(":")
            elif action in areas:
                cells.append(".")
            else:
                cells.append("+" if judgment.territory[y, x] > 0 else "-" if judgment.territory[y, x] < 0 else ".")
        lines.append(f"{judgment.height - y:3} {' '.join(cells)}")
    return "\n".join(lines)


def in_words(position: Position, judgment: Judgment) -> str:
    """Describe the judgment in lines for people."""
    lines = [drawing(position, judgment), ""]
    lines.append("X O living   x o dead   S s in seki (Black, White)   + Black's   - White's   : dame   % in a seki"
                 "   . open")  # fmt: skip
    lines.append("")
    if judgment.finished:
        lines.append(f"Finished. Result: {result_text(judgment.score)}")
    else:
        low, high = result_text(round(judgment.score_low, 1)), result_text(round(judgment.score_high, 1))
        expected = result_text(round(judgment.expected_score, 1))
        lines.append(f"Not finished. Expected: {expected} (80 %: {low} to {high}); "
                     f"as it stands {result_text(judgment.score)}")  # fmt: skip
    if judgment.winrate is not None and not judgment.finished:
        lines.append(f"Black wins with {100 * judgment.winrate:.1f} %")
    for name, side in (("Black", judgment.black), ("White", judgment.white)):
        lines.append(f"{name}: {_sum_text(side)}")
    for status in (Status.DEAD, Status.SEKI):
        for chain in judgment.chains:
            if chain.status == status:
                first = format_vertex(chain.stones[0], judgment.width, judgment.height)
                sure = "proven" if chain.proven else f"{100 * chain.confidence:.0f} %"
                who = "Black" if chain.color == BLACK else "White"
                count = f"{len(chain.stones)} stone{'s' if len(chain.stones) > 1 else ''}"
                lines.append(f"{who} {first} ({count}): {'in seki' if status == Status.SEKI else status} ({sure})")
    lines += [_open_text(item, judgment) for item in judgment.open]
    if all_alive(position):
        lines.append(f"These rules take no dead stones off: as it stands {result_text(board_score(position))}")
    return "\n".join(lines)


def _sum_text(side: SideScore) -> str:
    words = [("stones", side.stones), ("territory", side.territory), ("dead", side.dead), ("prisoners", side.prisoners),
             ("tax", -side.tax), *bonus_parts(side).items()]  # fmt: skip
    return f"{side.total:g} = " + (" + ".join(f"{value:g} {name}" for name, value in words if value) or "0")


def _open_text(item: OpenItem, judgment: Judgment) -> str:
    def name(action: int | None) -> str:
        return "?" if action is None else format_vertex(action, judgment.width, judgment.height)

    moves = f"Black settles it at {name(item.black_move)}, White at {name(item.white_move)}"
    if is_area(item):
        where = area_words(item, judgment.width, judgment.height)
        return f"O{where[1:]}; Black plays {name(item.black_move)}, White {name(item.white_move)}"
    points = " ".join(name(action) for action in item.points[:8]) + (" …" if len(item.points) > 8 else "")
    return f"Open {item.kind}: {points}; {moves}"
