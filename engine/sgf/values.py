"""The values of SGF properties: text, numbers, points, rules. Every complaint carries the file and the line."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

from sgfmill import sgf_grammar

from engine.board.rules import Rules, parse_rules
from engine.errors import ConfigError, SgfError

LETTERS = "abcdefghijklmnopqrstuvwxy"  # columns and rows of the largest board, 25
RULE_ALIASES = {"nz": "new-zealand", "jp": "japanese", "kr": "korean", "cn": "chinese", "tt": "tromp-taylor"}
# Fox writes komi in hundredths, and Chinese komi in stones of one side.
FOX_KOMI = {375.0: 7.5, 325.0: 6.5, 650.0: 6.5, 750.0: 7.5}
MAX_KOMI = 1000.0

Node = Mapping[str, Sequence[bytes]]  # one node's properties: raw values without their brackets


def fail(name: str, line: int, reason: str) -> NoReturn:
    raise SgfError(f"{name}, line {line}: {reason}")


def encoding_of(root: Node) -> str:
    """Return the encoding named by CA, UTF-8 where there is none or it is unknown."""
    name = root.get("CA", [b""])[0].decode("ascii", "replace").strip() or "utf-8"
    try:
        "".encode(name)
        b"a".decode(name)
    except (LookupError, ValueError, TypeError):
        return "utf-8"
    return name


def recognise_rules(text: str) -> Rules | None:
    """Return the rule set that an RU text names (a known name, a common short form, or KataGo's JSON), else None."""
    text = text.strip()
    try:
        return parse_rules(RULE_ALIASES.get(text.lower(), text)) if text else None
    except ConfigError:
        return None


class ValueReader:
    """Reads the values of properties; every complaint carries the file and the line."""

    def __init__(self, name: str, encoding: str) -> None:
        self.name = name
        self.encoding = encoding
        self.width = self.height = 19

    def text(self, node: Node, key: str) -> str:
        """Return a text property, "" where absent. Bytes that do not fit the encoding are read as Latin-1."""
        if key not in node:
            return ""
        raw = (sgf_grammar.text_value if key == "C" else sgf_grammar.simpletext_value)(node[key][0])
        try:
            return str(raw.decode(self.encoding))
        except (UnicodeError, LookupError):
            return str(raw.decode("latin-1"))

    def size(self, root: Node, line: int) -> tuple[int, int]:
        """Return (width, height) from SZ[19] or SZ[9:7]; 19 where absent."""
        text = self.text(root, "SZ").strip() or "19"
        match = re.fullmatch(r"(\d{1,3})(?:\s*:\s*(\d{1,3}))?", text, re.ASCII)
        if match is None:
            fail(self.name, line, f"no board size: SZ[{text[:20]}]")
        width, height = int(match[1]), int(match[2] or match[1])
        if not (2 <= width <= len(LETTERS) and 2 <= height <= len(LETTERS)):
            fail(self.name, line, f"unsupported board size {text}: 2 to {len(LETTERS)}")
        return width, height

    def komi(self, root: Node, line: int) -> float | None:
        """Return KM in points, None where absent or empty."""
        text = self.text(root, "KM").strip()
        if not text:
            return None
        try:
            komi = float(text.replace(",", "."))
        except ValueError:
            komi = math.nan
        komi = FOX_KOMI.get(komi, komi)
        if not abs(komi) <= MAX_KOMI:
            fail(self.name, line, f"no komi: KM[{text[:20]}]")
        return komi

    def handicap(self, root: Node, line: int) -> int:
        """Return HA, 0 where absent."""
        text = self.text(root, "HA").strip() or "0"
        if not re.fullmatch(r"\d{1,3}", text, re.ASCII):
            fail(self.name, line, f"no number of handicap stones: HA[{text[:20]}]")
        return int(text)

    def point(self, raw: bytes, line: int, *, may_pass: bool) -> int:
        """Return the action of a point; an empty value, or tt on boards up to 19, is a pass."""
        text = raw.decode("latin-1").strip()
        if may_pass and (not text or (text == "tt" and max(self.width, self.height) <= 19)):
            return self.width * self.height
        x, y = (LETTERS.find(letter) for letter in text) if len(text) == 2 else (-1, -1)
        if not (0 <= x < self.width and 0 <= y < self.height):
            fail(self.name, line, f"no point of a {self.width}x{self.height} board: [{text[:20]}]")
        return y * self.width + x

    def points(self, raws: Sequence[bytes], line: int) -> list[int]:
        """Return the actions of a list of points, rectangles like aa:cc spelled out."""
        actions = []
        for raw in raws:
            first, colon, last = raw.partition(b":")
            corner = self.point(first, line, may_pass=False)
            other = self.point(last, line, may_pass=False) if colon else corner
            rows = sorted((corner // self.width, other // self.width))
            columns = sorted((corner % self.width, other % self.width))
            actions += [
                y * self.width + x for y in range(rows[0], rows[1] + 1) for x in range(columns[0], columns[1] + 1)
            ]
        return actions
