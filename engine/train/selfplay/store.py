"""What a self-play run writes: one table of games, and a manifest that says which parts are whole.

Games are written in parts of consecutive numbers. A part's games go to the end of `games.tsv`, then its line to
`manifest.jsonl`; what a killed run left behind an unfinished line is cut off when the run goes on. The table has the
columns of training's record tables (docs/training.md) and the game's number. Some games can be written as SGF too.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.board.vertex import format_vertex
from engine.errors import EngineError

from ..folder import mend_lines, write_whole
from .game import PlayedGame, Turn
from .plan import SelfplayPlan

FORMAT = "keisei-selfplay-1"
TABLE, MANIFEST = "games.tsv", "manifest.jsonl"
COLUMNS = ("size", "komi", "rules", "result", "date", "setup_black", "setup_white", "first", "moves", "number")


class SelfplayError(EngineError):
    """A folder of self-play games that is damaged or of another kind."""


class GameStore:
    """A folder of games, written part by part."""

    def __init__(self, path: Path, plan: SelfplayPlan, net: str) -> None:
        """Begin a folder, or go on with one.

        Args:
            path: the folder.
            plan: what is played.
            net: name and hash of the net that plays.

        Raises:
            SelfplayError: the folder holds games of another plan or net, or is damaged.
        """
        path.mkdir(parents=True, exist_ok=True)
        self.path, self.net = path, net
        head = {"format": FORMAT, "net": net, "plan": _plain(plan)}
        if not (path / MANIFEST).exists():
            write_whole(path / MANIFEST, json.dumps(head) + "\n")
        known, self.parts = read_store(path)
        for key, value in head.items():
            if known.get(key) != value:
                raise SelfplayError(f"{path}: holds games of another {key}; choose another folder")
        self._mend()

    def _mend(self) -> None:
        """Cut off what a killed run wrote of a part that it did not finish."""
        for manifest in (self.path / MANIFEST, self.path / "shards" / MANIFEST):
            mend_lines(manifest)
        length = self.parts[-1]["table_bytes"] if self.parts else 0
        table = self.path / TABLE
        have = table.stat().st_size if table.exists() else 0
        if have < length:
            raise SelfplayError(f"{table}: {have} bytes, the manifest knows of {length}")
        if have > length:
            os.truncate(table, length)

    def write_sgf(self, games: Sequence[PlayedGame], most: int) -> None:
        """Write the first games as SGF files into `sgf/`, what was known at each move as comments."""
        from engine.board.rules import parse_rules
        from engine.sgf import GameRecord, write

        for game in games[:most]:
            plan = game.plan
            (self.path / "sgf").mkdir(exist_ok=True)
            record = GameRecord(
                width=plan.size,
                height=plan.size,
                komi=plan.komi,
                rules=parse_rules(plan.rules),
                moves=tuple((turn.color, turn.action) for turn in game.turns),
                comments={i + 1: comment(turn, plan.size) for i, turn in enumerate(game.turns)},
                black=self.net.split()[0],
                white=self.net.split()[0],
                result=game.result,
            )
            write_whole(self.path / "sgf" / f"{plan.number:06d}.sgf", write(record))

    def write(self, games: Sequence[PlayedGame], note: dict[str, Any]) -> dict[str, Any]:
        """Write the next part.

        Args:
            games: in the order of their numbers.
            note: further figures for the manifest.

        Returns: the part's line of the manifest.
        """
        with (self.path / TABLE).open("ab") as table:
            if table.tell() == 0:
                table.write(("\t".join(COLUMNS) + "\n").encode())
            table.write("".join(row(game) + "\n" for game in games).encode())
            table.flush()
            os.fsync(table.fileno())
            length = table.tell()
        entry = {"part": len(self.parts), "games": len(games), **summary(games), **note, "table_bytes": length}
        with (self.path / MANIFEST).open("a", encoding="utf-8") as manifest:
            manifest.write(json.dumps(entry) + "\n")
        self.parts.append(entry)
        return entry


def read_store(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the manifest's head and one dictionary a whole part.

    Raises:
        SelfplayError: there is no readable manifest.
    """
    try:
        lines = (path / MANIFEST).read_text(encoding="utf-8").splitlines(keepends=True)
        head, *parts = [json.loads(line) for line in lines if line.endswith("\n")]
    except (OSError, ValueError) as error:  # no line at all too
        raise SelfplayError(f"{path}: no readable {MANIFEST} ({error})") from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise SelfplayError(f"{path / MANIFEST}: not of format {FORMAT}")
    for number, part in enumerate(parts):
        fits = isinstance(part, dict) and all(isinstance(part.get(key), int) for key in ("games", "table_bytes"))
        if not fits or part.get("part") != number:
            raise SelfplayError(f"{path / MANIFEST}, line {number + 2}: not part {number} of the games")
    return head, parts


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file. Raises SelfplayError naming it."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SelfplayError(f"{path}: {error}") from error
    if not isinstance(found, dict):
        raise SelfplayError(f"{path}: no JSON object")
    return found


def row(game: PlayedGame) -> str:
    """Return a game as a line of the table."""
    plan = game.plan
    fields = (plan.size, f"{plan.komi:g}", plan.rules, game.result, "", "", "", "B", letters(game), plan.number)
    return "\t".join(map(str, fields))


def letters(game: PlayedGame) -> str:
    """Return the moves of a game as SGF letter pairs, `zz` = pass."""
    size = game.plan.size
    pairs = (
        "zz" if t.action == size**2 else chr(97 + t.action % size) + chr(97 + t.action // size) for t in game.turns
    )
    return "".join(pairs)


def comment(turn: Turn, size: int) -> str:
    """Return what was known when a move was chosen: the mover's value, and the most visited moves."""
    text = f"value {turn.value:+.2f}"
    if turn.policy is not None:
        best = [int(action) for action in turn.policy.argsort()[::-1][:5] if turn.policy[action] > 0]
        names = (f"{format_vertex(action, size, size)} {turn.policy[action]:.0%}" for action in best)
        text += ", visits " + " ".join(names)
    return text


def summary(games: Sequence[PlayedGame]) -> dict[str, Any]:
    """Return the figures of some games."""
    moves = sum(len(game.turns) for game in games)
    return {
        "moves": moves,
        "black_won": sum(game.winner == 1 for game in games),
        "white_won": sum(game.winner == 2 for game in games),
        "resigned": sum(game.margin is None for game in games),
        "cut_off": sum(len(game.turns) >= game.plan.most_moves for game in games),
    }


def _plain(plan: SelfplayPlan) -> dict[str, Any]:
    return json.loads(json.dumps(dataclasses.asdict(plan)))  # type: ignore[no-any-return]
