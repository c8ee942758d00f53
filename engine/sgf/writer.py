"""From a GameRecord to SGF text: FF[4], UTF-8, no blank lines (they would end a GTP reply)."""

from __future__ import annotations

import re

from sgfmill import sgf_grammar

from engine import __version__
from engine.board.position import BLACK, WHITE
from engine.board.rules import NAMED, Rules

from .record import GameRecord
from .values import LETTERS


def write(record: GameRecord) -> str:
    """Return a record as SGF text: FF[4], UTF-8, one line per few moves, without blank lines."""
    root: dict[str, list[bytes]] = {}

    def put(key: str, text: str) -> None:
        if text:
            root[key] = [_escaped(text)]

    size = str(record.width) if record.width == record.height else f"{record.width}:{record.height}"
    for key, text in (("FF", "4"), ("CA", "UTF-8"), ("GM", "1"), ("AP", f"Keisei:{__version__}"), ("SZ", size)):
        root[key] = [text.encode()]
    put("KM", "" if record.komi is None else f"{record.komi:g}")
    put("RU", record.rules_text or _rules_text(record.rules))
    put("HA", str(record.handicap) if record.handicap else "")
    put("PB", record.black)
    put("PW", record.white)
    put("RE", record.result)
    put("DT", record.date)
    put("C", record.comments.get(0, ""))
    for color, key in ((BLACK, "AB"), (WHITE, "AW")):
        points = [_point_text(action, record) for stone, action in record.setup if stone == color]
        if points:
            root[key] = points
    if record.setup:
        root["PL"] = [b"B" if record.to_play == BLACK else b"W"]
    tree = sgf_grammar.Coarse_game_tree()
    tree.sequence = [root]
    for i, (color, action) in enumerate(record.moves):
        node = {"B" if color == BLACK else "W": [_point_text(action, record)]}
        if record.comments.get(i + 1):
            node["C"] = [_escaped(record.comments[i + 1])]
        tree.sequence.append(node)
    serialised: bytes = sgf_grammar.serialise_game_tree(tree)
    return serialised.decode("utf-8")


def _point_text(action: int, record: GameRecord) -> bytes:
    if action == record.width * record.height:
        return b""
    return (LETTERS[action % record.width] + LETTERS[action // record.width]).encode()


def _rules_text(rules: Rules | None) -> str:
    """Return the first known name of a rule set, else its JSON; "" for None."""
    if rules is None:
        return ""
    return next((name for name, known in NAMED.items() if known == rules), rules.to_json())


def _escaped(text: str) -> bytes:
    """Return text as a property value; blank lines go, since they would end a GTP reply."""
    text = re.sub(r"\s*\n\s*\n", "\n", text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", ""))
    escaped: bytes = sgf_grammar.escape_text(text.encode("utf-8", "replace"))
    return escaped
