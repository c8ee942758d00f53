"""Finished games whose truth is known point by point: the tables of judged games, read and replayed.

A judged game is a record with the dead stones and the owner of every point that its players agreed on. Training reads
the games that are not held out, measuring the held-out ones; both replay them here, so both see the same position.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError

from .records import BLACK, COLUMNS, WHITE, Game, RecordError, letters_to_actions, parse_row
from .selection import held_out, strip_passes

if TYPE_CHECKING:
    from engine.board.position import Position

RULES = {"chinese": "chinese", "japanese": "japanese", "korean": "korean", "aga": "aga", "nz": "new-zealand",
         "area": "chinese", "territory": "japanese"}  # fmt: skip
OWNERS = {".": 0, "B": BLACK, "W": WHITE}


@dataclass(frozen=True, slots=True)
class JudgedGame:
    """A record and what is known of its end. Point arrays are flat, row-major from the top left."""

    id: str
    game: Game
    rules: str  # a name that engine.board.rules knows
    komi: float
    margin: float | None  # Black − White as recorded, komi and compensation counted; None: only the winner is known
    winner: int  # BLACK, WHITE, 0 for a draw
    owner: NDArray[np.uint8] | None = None  # 0, BLACK or WHITE; None: unknown
    dead: NDArray[np.bool_] | None = None  # stones on the board at the end that are dead; None: unknown
    seki: bool = False  # the table says that some living stones are in seki

    @property
    def size(self) -> int:
        """Points a side."""
        return self.game.size

    @property
    def n_moves(self) -> int:
        """Moves of the record without the passes at its end."""
        return len(strip_passes(self.game.moves)) // 2


def margin_of(result: str) -> float | None:
    """Return Black − White of a counted result, None for any other.

    >>> margin_of("W+3.50"), margin_of("0"), margin_of("B+R")
    (-3.5, 0.0, None)
    """
    text = result.strip().lower()
    if text in ("0", "draw", "jigo"):
        return 0.0
    try:
        return float(text[2:]) * (1 if text[0] == "b" else -1) if text[1:2] == "+" else None
    except ValueError:
        return None


def rules_of(text: str) -> str:
    """Return the name of the rules that a record means; Chinese where it says nothing that is known."""
    return RULES.get(text.strip().lower(), "chinese")


def read_judged(path: Path, *, only_held_out: bool | None = None) -> Iterator[JudgedGame]:
    """Yield the games of a table of judged games.

    Args:
        path: `.tsv` or `.tsv.xz` with the columns size, rules, komi, result, moves, board and either `ownership`
            (a stone on the other side's ownership is dead) or `dead` and `owner_area`.
        only_held_out: True the held-out games alone, False the others, None all of them.

    Raises:
        RecordError: the table has other columns, or a row makes no sense.
    """
    opener = lzma.open if path.suffix == ".xz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            header = next(lines, "").rstrip("\n").split("\t")
            needed = {"size", "rules", "komi", "result", "moves", "board"}
            if not needed <= set(header) or not {"ownership", "owner_area"} & set(header):
                raise RecordError(f"{path}: no table of judged games")
            for number, line in enumerate(lines, start=2):
                fields = dict(zip(header, line.rstrip("\n").split("\t"), strict=False))
                try:
                    judged = parse_judged(fields, path.name.split(".")[0])
                except (RecordError, KeyError, ValueError) as error:
                    raise RecordError(f"{path}:{number}: {error}") from error
                if only_held_out is None or held_out(judged.game) is only_held_out:
                    yield judged
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise RecordError(f"{path}: {error}") from error


def parse_judged(fields: dict[str, str], source: str) -> JudgedGame:
    """Make a judged game of one row.

    Raises:
        RecordError, KeyError, ValueError: the row makes no sense.
    """
    setup = fields.get("setup_black", "").replace(",", "")
    row = dict.fromkeys(COLUMNS, "") | {"first": "W" if setup else "B", **fields, "setup_black": setup}
    game = parse_row(row, source)
    area = game.size * game.size
    owner = np.array([OWNERS[c] for c in fields.get("ownership") or fields["owner_area"]], np.uint8)
    board = np.array([".XO".index(c) for c in fields["board"]], np.uint8)
    marked = fields.get("dead")
    dead = (board != 0) & (owner != board) if marked is None else np.array([c == "1" for c in marked])
    if not len(owner) == len(board) == len(dead) == area:
        raise RecordError("board and ownership are not of the size of the board")
    margin = margin_of(fields["result"])
    seki = int(fields.get("n_neutral") or fields.get("n_seki_stones") or 0) > 0
    rules, komi = rules_of(fields["rules"]), float(fields["komi"] or 0.0)
    winner = game.result if margin is None else BLACK if margin > 0 else WHITE if margin < 0 else 0
    return JudgedGame(fields.get("id") or "", game, rules, komi, margin, winner, owner, dead, seki)


def replay_judged(judged: JudgedGame, ply: int | None = None, *, passes: bool = False) -> Position:
    """Return the position after `ply` moves (all by default).

    Args:
        passes: also play the passes at the record's end; only without `ply`.

    Raises:
        RecordError: the record holds a move that no rule allows.
    """
    from engine.board.position import Position

    game = judged.game
    moves = game.moves if passes and ply is None else strip_passes(game.moves)
    position = Position(game.size, rules=judged.rules, komi=judged.komi)
    try:
        stones = [(BLACK, a) for a in letters_to_actions(game.setup_black, game.size)]
        stones += [(WHITE, a) for a in letters_to_actions(game.setup_white, game.size)]
        if stones or game.first == WHITE:
            position.set_up(stones, game.first)
        color = game.first
        for action in letters_to_actions(moves, game.size)[:ply]:
            position.play(action, color, tolerant=True, allow_superko=True)
            color = BLACK + WHITE - color
    except EngineError as error:
        raise RecordError(f"game {judged.id}: {error}") from error
    return position
