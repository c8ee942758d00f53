"""Writes a search result as the JSON line that CGOS keeps with a move and its viewer draws.

Everything is in the view of the side that moves. Ownership is a letter a point, row by row from the top left: 63
letters from -1 (the opponent's for certain) to 1 (one's own). Source: docs/gtp.md of the CGOS server.
"""

from __future__ import annotations

import json
from typing import Any

from engine.board.vertex import format_vertex
from engine.search.result import FloatArray, SearchResult

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+"
MOST = 20
"""Moves written at most: the server keeps the line of every move of every game."""


def cgos_line(result: SearchResult, *, moves: int = MOST, pv_length: int = 15) -> str:
    """Return the line, without spaces but between the moves of a variation."""
    size = result.width, result.height
    data: dict[str, Any] = {"visits": result.visits}
    if result.judged:
        data = {"winrate": round(result.winrate, 4), "score": round(result.lead, 2), **data}
    data["moves"] = [
        {
            "move": format_vertex(move.action, *size),
            **({"winrate": round(move.winrate, 4), "score": round(move.lead, 2)} if result.judged else {}),
            "prior": round(move.prior, 4),
            "visits": move.visits,
            "pv": " ".join(format_vertex(action, *size) for action in move.pv[:pv_length]),
        }
        for move in result.moves[:moves]
    ]
    if result.ownership is not None:
        data["ownership"] = ownership_letters(result.ownership)
    return json.dumps(data, separators=(",", ":"))


def ownership_letters(values: FloatArray) -> str:
    """Return a letter for each point of a map with values in [-1, 1]."""
    top = len(LETTERS) - 1
    return "".join(LETTERS[round((min(max(value, -1.0), 1.0) + 1.0) / 2.0 * top)] for value in values.ravel().tolist())
