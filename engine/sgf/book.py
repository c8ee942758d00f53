"""All the beginnings that an SGF file holds: of every game in it, and of every variation.

Everything here takes time in proportion to the text, and no memory but for the line that is being read: a file may hold
millions of variations, and nest them deeper than Python does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.errors import SgfError
from engine.files import read_small, reason

from .nodes import Mark, NodeReader
from .reader import GAME, TOKEN, end_of_game
from .record import GameRecord
from .values import fail

_LOWER = bytes(range(ord("a"), ord("z") + 1))


def read_beginnings(path: str | Path, moves: int) -> Iterator[GameRecord]:
    """Yield the beginnings of a file, in the order of the text: each the nodes up to the move of that number.

    A variation that begins later than that is none. What is shorter comes too. Comments do not. Games and variations
    that are not fit (of another kind than Go, with stones set up between moves) are left out if others are, and so is
    what stands from the first broken game on.

    Raises SgfError if the file cannot be read, if its first game is broken, or if nothing in it is fit.
    """
    try:
        data = read_small(path)
    except (OSError, ValueError) as error:
        raise SgfError(f"{path}: {reason(error)}") from None
    name = str(path)
    first_error: SgfError | None = None
    found = False
    for start, end, line in _whole_games(data, name):
        for item in _beginnings(data, start, end, line, moves, name):
            if isinstance(item, GameRecord):
                found = True
                yield item
            else:
                first_error = first_error or item
    if first_error is not None and not found:
        raise first_error


def _whole_games(data: bytes, name: str) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, line of the start) of the games before a broken one. Raises SgfError if there is none."""
    offset, line = 0, 1
    while (start := GAME.search(data, offset)) is not None:
        line += _line_ends(data, offset, start.start())
        end, fault = end_of_game(data, start.start())
        if fault is not None:
            if offset == 0:
                fail(name, line + _line_ends(data, start.start(), end), fault)
            return
        yield start.start(), end, line
        line += _line_ends(data, start.start(), end)
        offset = end
    if offset == 0:
        fail(name, 1, "no SGF game found: it would start with '(;'")


def _beginnings(data: bytes, start: int, end: int, line: int, moves: int, name: str) -> Iterator[GameRecord | SgfError]:
    """Yield the beginnings in a well-formed game, and what is wrong with those that are not fit."""
    reader: NodeReader | None = None  # None before the root
    going_on = True  # False: the line ended before this node, or it is not fit
    branches: list[tuple[Mark | None, bool]] = []
    node: dict[str, list[bytes]] | None = None
    values: list[bytes] = []
    inner = False  # the last token is no end of a variation
    at = start
    for token in TOKEN.finditer(data, start, end):
        kind = token.lastgroup
        if kind == "V":
            if node is not None:
                values.append(token["V"])
            continue
        if kind == "I":
            if node is not None:
                values = node.setdefault(token["I"].translate(None, _LOWER).decode("ascii"), [])
            continue
        if node is not None:
            try:
                if reader is None:
                    reader = NodeReader(node, line, name, comments=False)
                reader.add(node, line)
            except SgfError as error:
                going_on = False
                yield error
            else:
                if reader.n_moves >= moves:
                    going_on = False
                    yield reader.record()
        sign, node = token["D"], None
        if sign == b"(":
            branches.append((reader.mark() if going_on and reader is not None else None, going_on))
        elif sign == b")":
            if inner and going_on and reader is not None:
                yield reader.record()
            mark, going_on = branches.pop()
            if mark is not None and reader is not None:
                reader.back(mark)
        elif going_on:
            node = {}
            line += _line_ends(data, at, token.end())
            at = token.end()
        inner = sign != b")"


def _line_ends(data: bytes, start: int, end: int) -> int:
    """Return how many lines end in a part of a text that does not cut a CRLF: at LF, CR or CRLF."""
    feeds = data.count(b"\n", start, end)
    returns = data.count(b"\r", start, end)
    return feeds + returns - (data.count(b"\r\n", start, end) if feeds and returns else 0)
