"""Reads the words behind a GTP command. What cannot be read is "syntax error"."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from engine.errors import InvalidVertex
from engine.gtp.protocol import SYNTAX_ERROR, GtpError

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?", re.ASCII)
_VERTEX = re.compile(r"[a-hj-z]{1,2}[0-9]{1,4}|\([0-9]{1,4},[0-9]{1,4}\)|pass", re.ASCII | re.IGNORECASE)


def exactly(args: Sequence[str], count: int) -> None:
    """Check the number of arguments."""
    if len(args) != count:
        raise GtpError(SYNTAX_ERROR)


def integer(text: str) -> int:
    """Read a whole number."""
    if not _INTEGER.fullmatch(text):
        raise GtpError(SYNTAX_ERROR)
    return int(text)


def number(text: str) -> float:
    """Read a finite decimal number. A decimal comma is an error, not the end of the number."""
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise GtpError(SYNTAX_ERROR)
    return value


def boolean(text: str) -> bool:
    """Read true or false."""
    word = text.lower()
    if word not in ("true", "false"):
        raise GtpError(SYNTAX_ERROR)
    return word == "true"


def is_color(text: str) -> bool:
    """Tell whether the text names a color."""
    return text.lower() in ("b", "black", "w", "white")


def color(text: str) -> int:
    """Read a color: 1 is Black, 2 White."""
    if not is_color(text):
        raise GtpError(SYNTAX_ERROR)
    return 1 if text[0] in "bB" else 2


def vertex(text: str, width: int, height: int) -> int:
    """Read a vertex or pass; return the action. Well-formed but off the board raises InvalidVertex."""
    from engine.board.vertex import parse_vertex

    if not _VERTEX.fullmatch(text):
        raise GtpError(SYNTAX_ERROR)
    return parse_vertex(text, width, height)


def vertices(words: Sequence[str], width: int, height: int) -> list[int]:
    """Read a list of board points, no pass among them. Raises GtpError("invalid vertex list")."""
    try:
        actions = [vertex(word, width, height) for word in words]
    except (GtpError, InvalidVertex):
        actions = []
    if not actions or width * height in actions:
        raise GtpError("invalid vertex list")
    return actions


def board_size(args: Sequence[str]) -> tuple[int, int]:
    """Read "N" or "W H"."""
    if len(args) not in (1, 2):
        raise GtpError(SYNTAX_ERROR)
    sides = [integer(word) for word in args]
    return sides[0], sides[-1]
