"""From SGF text to a GameRecord: the main line of the first game, and where in the file each of its nodes stands.

nodes.py makes the record; book.py reads all games and variations.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from itertools import islice
from pathlib import Path

from sgfmill import sgf_grammar

from engine.errors import SgfError
from engine.files import read_small, reason

from .nodes import NodeReader
from .record import GameRecord
from .values import Node, fail

GAME = re.compile(rb"\(\s*;")
_BESIDE = re.compile(rb"\)[^()]*\(\s*;")  # the end of a game or variation, and a further one
_BRACKETS = re.compile(rb"\[[^\\\]]*(?:\\.[^\\\]]*)*\]|[()]", re.DOTALL)
TOKEN = re.compile(rb"\s*(?:\[(?P<V>[^\\\]]*(?:\\.[^\\\]]*)*)\]|(?P<I>[A-Za-z]{1,64})|(?P<D>[;()]))", re.DOTALL)
# (token, next token) -> what is wrong with the next; ( ) ; stand for themselves, I is an identifier, V a value.
_FAULTS = {
    (b"(", b"("): "a variation without a node",
    (b"(", b")"): "a variation without a node",
    (b"(", b"I"): "a property outside a node",
    (b"(", b"V"): "a value without a property",
    (b")", b";"): "a node after a variation",
    (b")", b"I"): "a property outside a node",
    (b")", b"V"): "a value without a property",
    (b";", b"V"): "a value without a property",
    (b"I", b"I"): "a property without a value",
    (b"I", b"("): "a property without a value",
    (b"I", b")"): "a property without a value",
    (b"I", b";"): "a property without a value",
}
_PIECES = re.compile(rb"\[[^\\\]]*(?:\\.[^\\\]]*)*\]|;", re.DOTALL)  # a value, or the start of a node


def read(path: str | Path) -> GameRecord:
    """Read the first game of a file. Raises SgfError if it cannot be read or is broken."""
    try:
        data = read_small(path)
    except (OSError, ValueError) as error:
        raise SgfError(f"{path}: {reason(error)}") from None
    return parse(data, name=str(path))


def parse(data: bytes | str, name: str = "<sgf>") -> GameRecord:
    """Read the first game of SGF text. Raises SgfError naming `name`, the line and the reason."""
    raw = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
    nodes, lines = _main_line(raw, name)
    reader = NodeReader(nodes[0], lines[0], name, encoding="utf-8" if isinstance(data, str) else None)
    for node, line in zip(nodes, lines, strict=True):
        reader.add(node, line)
    return replace(reader.record(), games=_count_games(raw))


def _line_ends(data: bytes) -> list[int]:
    """Return the offsets after each line end: LF, CR or CRLF."""
    return [end.end() for end in re.finditer(rb"\r\n|\n|\r", data)]


def end_of_game(data: bytes, start: int) -> tuple[int, str | None]:
    """Return where the game that starts there ends; or where it breaks the grammar, and how.

    sgfmill does not tell the place.
    """
    depth = 0
    previous = b""  # kind of the last token: one of ( ) ; or I (identifier), V (value)
    offset = start
    while True:
        token = TOKEN.match(data, offset)
        if token is None:
            break
        kind = token["D"] or (b"I" if token["I"] else b"V")
        fault = _FAULTS.get((previous, kind))
        if fault is not None:
            return token.end() - len(token[0].lstrip()), fault
        depth += {b"(": 1, b")": -1}.get(kind, 0)
        previous, offset = kind, token.end()
        if depth == 0:
            return offset, None
    rest = data[offset:].lstrip()
    offset = len(data) - len(rest)
    if rest.startswith(b"["):
        return offset, "a '[' is never closed"
    if rest:
        return offset, f"no SGF: {rest[:12].decode('ascii', 'backslashreplace')!r}"
    return max(len(data) - 1, 0), "the text ends before the game does: a ')' is missing"


def _main_line(data: bytes, name: str) -> tuple[list[Node], list[int]]:
    """Return the property maps of the main line and the line on which each node starts."""
    start = re.search(rb"\(\s*;", data)
    if start is None:
        fail(name, 1, "no SGF game found: it would start with '(;'")
    try:
        tree = sgf_grammar.parse_sgf_game(data)
    except ValueError as error:
        offset, fault = end_of_game(data, start.start())
        fail(name, 1 + bisect_right(_line_ends(data), offset), fault or str(error))
    nodes = list(sgf_grammar.main_sequence_iter(tree))
    # The main line comes first in the text, so its nodes are the first ones.
    starts = (piece.start() for piece in _PIECES.finditer(data, start.start()) if piece.group() == b";")
    ends = _line_ends(data)
    return nodes, [1 + bisect_right(ends, offset) for offset in islice(starts, len(nodes))]


def _count_games(data: bytes) -> int:
    """Return how many games a well-formed text holds. Cheap where nothing can follow the first one."""
    if _BESIDE.search(data) is None:
        return 1
    games, offset = 0, 0
    while (start := GAME.search(data, offset)) is not None:
        games += 1
        depth, offset = 0, len(data)
        for piece in _BRACKETS.finditer(data, start.start()):
            depth += {b"(": 1, b")": -1}.get(piece.group(), 0)
            if depth == 0:
                offset = piece.end()
                break
    return games
