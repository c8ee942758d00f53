"""A match's folder: settings.json, games.jsonl (a line after each game), games/NNNN.sgf, summary.json, report.md, logs.

The SGF is written before the line, and the line is flushed to the disk, so that a match killed at any moment goes on
from its last finished game. A torn last line is cut off.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine import sgf
from engine.errors import ConfigError, EngineError
from engine.files import reason

from . import lock
from .game import GameResult
from .schedule import Game

NEEDED = ("game", "black", "white", "winner", "reason", "key", "moves", "disputed", "duplicate_of")


class MatchStore:
    """Keeps the results of a match in a folder.

    Args:
        folder: made if absent.
        settings: what must not change between runs of one match.
        resume: go on with the games that are there; otherwise the folder must hold none.

    Raises ConfigError if the folder holds games and resume is not set, if they were played under other settings, or if
    another match is writing into the folder.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any], *, resume: bool) -> None:
        self.folder = folder
        self._lines = folder / "games.jsonl"
        try:
            (folder / "games").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot make {folder}: {reason(error)}") from None
        try:
            self._lock = lock.take(folder / "lock")
        except OSError as error:
            raise ConfigError(f"cannot write into {folder}: {reason(error)}") from None
        if self._lock is None:
            raise ConfigError(f"another match is being played into {folder}")
        self.games: dict[int, dict[str, Any]] = {}
        if self._lines.exists():
            if not resume:
                raise ConfigError(f"{folder} already holds a match: say --resume to go on with it, or choose another")
            self._check(settings)
            self._load()
        write_json(folder / "settings.json", settings)
        self._keys = {game["key"]: number for number, game in sorted(self.games.items(), reverse=True)}

    def _check(self, settings: Mapping[str, Any]) -> None:
        try:
            old = json.loads((self.folder / "settings.json").read_text("utf-8"))
        except (OSError, ValueError):
            raise ConfigError(f"{self.folder}: settings.json is missing or broken") from None
        sizes = [f"{kept.get('width')}x{kept.get('height')}" for kept in (old, settings)]
        if sizes[0] != sizes[1]:
            raise ConfigError(f"{self.folder}: size was {sizes[0]}, not {sizes[1]}")
        for key in sorted(settings.keys() | old.keys()):
            if settings.get(key) != old.get(key):
                raise ConfigError(f"{self.folder}: {key} was {old.get(key)!r}, not {settings.get(key)!r}")

    def _load(self) -> None:
        """Read the finished games and cut off what was being written when the match was killed."""
        data = self._lines.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                game = json.loads(line)
                missing = [key for key in NEEDED if key not in game]
                if missing:
                    raise KeyError(*missing)
                self.games[int(game["game"])] = game
            except (ValueError, KeyError, TypeError):
                raise ConfigError(f"{self._lines}, line {number}: not a game") from None
        if len(whole) < len(data):
            with open(self._lines, "r+b") as file:
                file.truncate(len(whole))

    def close(self) -> None:
        """Let another match use the folder."""
        if self._lock is not None:
            self._lock.close()

    def remove_unused(self) -> None:
        """Remove the folder of a match that could not begin, but for what its engines said on their standard error.

        To be called before `close`, else it would remove what another match has begun there.
        """
        if self._lines.exists():
            return
        if sys.platform == "win32":  # where a file that is open cannot be removed
            self.close()
        for path in [self.folder / "lock", self.folder / "settings.json", *(self.folder / "logs").glob("*")]:
            with contextlib.suppress(OSError):
                if path.parent == self.folder or not path.stat().st_size:
                    path.unlink()
        for path in (self.folder / "logs", self.folder / "games", self.folder):
            with contextlib.suppress(OSError):  # not empty
                path.rmdir()

    def add(self, game: Game, result: GameResult, record: sgf.GameRecord, *, own_cpu: float = 0.0) -> dict[str, Any]:
        """Write one game's SGF and line; return the line as a dictionary.

        Args:
            own_cpu: processor seconds of the match's own process since the last game.

        Raises EngineError if they cannot be written.
        """
        moves = " ".join(f"{color}{action}" for color, action in (*record.setup, *record.moves))
        key = hashlib.sha1(moves.encode()).hexdigest()
        path = f"games/{game.number:04d}.sgf"
        line = {"game": game.number, "opening": game.opening, **asdict(result), "own_cpu": own_cpu, "key": key}
        line["sgf"] = path
        line["duplicate_of"] = self._keys.get(key)
        self._keys.setdefault(key, game.number)
        try:
            write_text(self.folder / path, sgf.write(record))
            with open(self._lines, "ab") as file:
                file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise EngineError(f"cannot write game {game.number} into {self.folder}: {reason(error)}") from None
        self.games[game.number] = line
        return line


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_suffix(path.suffix + ".tmp")
    try:
        temporary.write_text(text, "utf-8")
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file whole or not at all."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")
