"""The words of CGOS: what the server says, as data, and an engine's analysis as the server wants it.

The server speaks lines: protocol, username, password, info, setup, play, genmove, gameover; it answers wrong logins
with a line that begins `Error:` or `Sorry`. Source: docs/gtp.md and the behaviour of github.com/zakki/cgos.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from engine.errors import EngineError

CLIENT = "e1 Keisei"
ANALYSIS = "genmove_analyze"  # what both sides say if the server takes figures with a move
MOST_MOVES = 8  # of an analysis that is sent
_PLAYER = re.compile(r"([^\s()]+)(?:\((.*)\))?")
_MOVE = re.compile(r"(?:^|\s)([A-Za-z]\d{1,2}|[Pp][Aa][Ss][Ss])(?:\s(\{.*?\}))?\s(-?\d+)(?=\s|$)")


class CgosError(EngineError):
    """The server said something that cannot be understood, or will not have us."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A game that begins, or goes on after a lost connection."""

    game: str
    size: int
    komi: float
    milliseconds: int  # of each side, for the whole game
    white: str
    white_rating: str
    black: str
    black_rating: str
    moves: tuple[tuple[str, int], ...]  # (vertex, milliseconds left), Black's first


def parse_setup(text: str) -> Setup:
    """Return what `setup …` says, without its first word. Raises CgosError."""
    words = text.split(maxsplit=6)
    try:
        game, size, komi, milliseconds, white, black = words[:6]
        first, second = _PLAYER.fullmatch(white), _PLAYER.fullmatch(black)
        if first is None or second is None or not re.fullmatch(r"[\w.-]+", game):
            raise ValueError
        moves = tuple((found[1], int(found[3])) for found in _MOVE.finditer(words[6])) if len(words) > 6 else ()
        if not 2 <= int(size) <= 25:
            raise ValueError
        return Setup(game, int(size), float(komi), int(milliseconds), first[1], first[2] or "", second[1],
                     second[2] or "", moves)  # fmt: skip
    except ValueError:
        raise CgosError(f"the server said: setup {text[:80]}") from None


def analysis_json(line: str) -> str:
    """Return the JSON of an `info move …` line of kata-genmove_analyze, on one line; "" if it holds none."""
    moves: list[dict[str, Any]] = []
    for part in re.split(r"(?:^|\s)info\s+(?=move\s)", line)[1:]:
        found = _figures(part)
        if "move" in found:
            moves.append(found)
    if not moves:
        return ""
    best = moves[0]
    whole: dict[str, Any] = {key: best[key] for key in ("winrate", "score") if key in best}
    whole["visits"] = sum(move.get("visits", 0) for move in moves)
    whole["moves"] = moves[:MOST_MOVES]
    return json.dumps(whole, separators=(",", ":"))


def _figures(part: str) -> dict[str, Any]:
    words = part.split()
    found: dict[str, Any] = {}
    for i in range(0, len(words) - 1):
        word, value = words[i], words[i + 1]
        try:
            if word == "pv":
                found["pv"] = " ".join(w for w in words[i + 2 :] if re.fullmatch(r"[A-Z]{1,2}\d{1,2}|pass", w))
                break
            if word == "move" and "move" not in found:
                found["move"] = value
            elif word == "visits" and "visits" not in found:
                found["visits"] = int(value)
            elif word in ("winrate", "prior") and word not in found:
                found[word] = round(float(value), 4)
            elif word == "scoreLead":
                found["score"] = round(float(value), 2)
        except ValueError:
            continue
    return found
