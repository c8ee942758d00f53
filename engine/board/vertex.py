"""GTP's texts for points and colors, to and from actions (row-major from the top left, the last one is pass).

Columns run A..Z without I, then AA, AB … without I in either letter; rows count from the bottom. "(x,y)" counts from 0
at the top left.
"""

from __future__ import annotations

import re

from engine.errors import InvalidVertex

BLACK = 1
WHITE = 2
LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
_VERTEX = re.compile(r"([A-Z]{1,2})([0-9]{1,4})", re.ASCII)
_PAIR = re.compile(r"\(\s*([0-9]{1,4})\s*,\s*([0-9]{1,4})\s*\)", re.ASCII)
_COLORS = {"B": BLACK, "BLACK": BLACK, "W": WHITE, "WHITE": WHITE}


def parse_vertex(text: str, width: int, height: int) -> int:
    """Return the action of a vertex: "D4", "aa1", "(3,15)" or "pass", in any case.

    Raises InvalidVertex if the text names no point of a width x height board.
    """
    word = text.strip().upper()
    if word == "PASS":
        return width * height
    if match := _PAIR.fullmatch(word):
        x, y = int(match[1]), int(match[2])
    elif (match := _VERTEX.fullmatch(word)) and "I" not in match[1]:
        x, y = _column_number(match[1]), height - int(match[2])
    else:
        raise InvalidVertex(f"invalid vertex: {text}")
    if not (0 <= x < width and 0 <= y < height):
        raise InvalidVertex(f"invalid vertex: {text} is off the {width}x{height} board")
    return y * width + x


def format_vertex(action: int, width: int, height: int) -> str:
    """Return the vertex of an action, "pass" for the last one. Raises InvalidVertex if there is no such action."""
    if action == width * height:
        return "pass"
    if not 0 <= action < width * height:
        raise InvalidVertex(f"invalid action: {action} on a {width}x{height} board")
    y, x = divmod(action, width)
    return f"{column_name(x)}{height - y}"


def column_name(x: int) -> str:
    """Return the letters of a column, 0 being A."""
    if x < len(LETTERS):
        return LETTERS[x]
    first, second = divmod(x - len(LETTERS), len(LETTERS))
    return LETTERS[first] + LETTERS[second]


def _column_number(letters: str) -> int:
    if len(letters) == 1:
        return LETTERS.index(letters)
    return (1 + LETTERS.index(letters[0])) * len(LETTERS) + LETTERS.index(letters[1])


def parse_color(text: str) -> int:
    """Return BLACK (1) or WHITE (2) from b, black, w or white in any case. Raises ValueError on other text."""
    color = _COLORS.get(text.strip().upper())
    if color is None:
        raise ValueError(f"invalid color: {text}")
    return color


def format_color(color: int) -> str:
    """Return "B" or "W"."""
    return " BW"[color] if color in (BLACK, WHITE) else "?"
