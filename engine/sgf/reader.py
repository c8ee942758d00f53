"""From SGF text to a GameRecord: the main line of the first game, and where in the file each of its nodes stands.

book.py reads all games and variations with what is here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from sgfmill import sgf_grammar

from engine.board.position import BLACK, WHITE
from engine.errors import SgfError
from engine.files import read_small, reason

from .record import GameRecord
from .values import Node, ValueReader, encoding_of, fail, recognise_rules

COLOR_NAMES = {"B": BLACK, "BLACK": BLACK, "1": BLACK, "W": WHITE, "WHITE": WHITE, "2": WHITE}
_GAME = re.compile(rb"\(\s*;")
_BESIDE = re.compile(rb"\)[^()]*\(\s*;")  # the end of a game or variation, and a further one
_BRACKETS = re.compile(rb"\[[^\\\]]*(?:\\.[^\\\]]*)*\]|[()]", re.DOTALL)
_TOKEN = re.compile(rb"\s*(?:\[(?P<V>[^\\\]]*(?:\\.[^\\\]]*)*)\]|(?P<I>[A-Za-z]{1,64})|(?P<D>[;()]))", re.DOTALL)
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
    record = record_of(nodes, lines, name, encoding="utf-8" if isinstance(data, str) else None)
    return replace(record, games=_count_games(raw))


def record_of(nodes: Sequence[Node], lines: Sequence[int], name: str, *, encoding: str | None = None) -> GameRecord:
    """Return the record of one line of play.

    Args:
        nodes: from the root on.
        lines: of the file, on which each node stands; for errors.
        name: of the file, likewise.
        encoding: None for the one that the root names.

    Raises SgfError.
    """
    root = nodes[0]
    reader = ValueReader(name, encoding or encoding_of(root))
    if reader.text(root, "GM").strip() not in ("", "1"):
        fail(name, lines[0], f"not a game of Go: GM[{reader.text(root, 'GM')}]")
    width, height = reader.size(root, lines[0])
    reader.width, reader.height = width, height
    record = GameRecord(width=width, height=height, name=name)
    rules_text = reader.text(root, "RU").strip()
    record = replace(
        record,
        komi=reader.komi(root, lines[0]),
        rules=recognise_rules(rules_text),
        rules_text=rules_text,
        handicap=reader.handicap(root, lines[0]),
        black=reader.text(root, "PB"),
        white=reader.text(root, "PW"),
        result=reader.text(root, "RE").strip(),
        date=reader.text(root, "DT"),
    )
    return _with_moves(record, reader, nodes, lines)


def _line_ends(data: bytes) -> list[int]:
    """Return the offsets after each line end: LF, CR or CRLF."""
    return [end.end() for end in re.finditer(rb"\r\n|\n|\r", data)]


def _first_fault(data: bytes, start: int) -> tuple[int, str] | None:
    """Return where SGF text breaks the grammar, and how; None where it does not. sgfmill does not tell the place."""
    depth = 0
    previous = b""  # kind of the last token: one of ( ) ; or I (identifier), V (value)
    offset = start
    while True:
        token = _TOKEN.match(data, offset)
        if token is None:
            break
        kind = token["D"] or (b"I" if token["I"] else b"V")
        fault = _FAULTS.get((previous, kind))
        if fault is not None:
            return token.end() - len(token[0].lstrip()), fault
        depth += {b"(": 1, b")": -1}.get(kind, 0)
        previous, offset = kind, token.end()
        if depth == 0:
            return None
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
        offset, reason = _first_fault(data, start.start()) or (len(data), str(error))
        fail(name, 1 + bisect_right(_line_ends(data), offset), reason)
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
    while (start := _GAME.search(data, offset)) is not None:
        games += 1
        depth, offset = 0, len(data)
        for piece in _BRACKETS.finditer(data, start.start()):
            depth += {b"(": 1, b")": -1}.get(piece.group(), 0)
            if depth == 0:
                offset = piece.end()
                break
    return games


def _with_moves(
    record: GameRecord, reader: ValueReader, nodes: Sequence[Node], lines: Sequence[int]
) -> GameRecord:
    """Return the record with set-up, moves and comments read from its nodes."""
    stones: dict[int, int] = {}
    moves: list[tuple[int, int]] = []
    move_lines: list[int] = []
    comments: dict[int, str] = {}
    to_play = 0
    setup_line = 1
    for node, line in zip(nodes, lines, strict=True):
        set_up = [key for key in ("AB", "AW", "AE") if key in node]
        if set_up and moves:
            fail(reader.name, line, f"stones set up ({set_up[0]}) after move {len(moves)}: not supported")
        for key in set_up:
            setup_line = line
            for action in reader.points(node[key], line):
                stones.pop(action, None)
                if key != "AE":
                    stones[action] = BLACK if key == "AB" else WHITE
        if "PL" in node and not moves:
            text = reader.text(node, "PL").strip()
            if text.upper() not in COLOR_NAMES:
                fail(reader.name, line, f"no color: PL[{text[:20]}]")
            to_play = COLOR_NAMES[text.upper()]
        if "B" in node and "W" in node:
            fail(reader.name, line, "a node with a move of both colors")
        for key, color in (("B", BLACK), ("W", WHITE)):
            if key in node:
                moves.append((color, reader.point(node[key][0], line, may_pass=True)))
                move_lines.append(line)
        comment = reader.text(node, "C")
        if comment:
            comments[len(moves)] = comments[len(moves)] + "\n" + comment if len(moves) in comments else comment
    if moves:
        to_play = moves[0][0]
    elif not to_play:
        to_play = WHITE if stones and all(color == BLACK for color in stones.values()) else BLACK
    return replace(
        record,
        setup=tuple((color, action) for action, color in sorted(stones.items())),
        to_play=to_play,
        moves=tuple(moves),
        comments=comments,
        setup_line=setup_line,
        lines=tuple(move_lines),
    )
