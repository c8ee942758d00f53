"""`keisei ladder DIR …`: one scale for the engines of several matches, as tables and as a picture.

Reads the folders that `keisei match` writes, finished or not. Engines are the same if they have the same name, or,
where none was given, the same command.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import ConfigError, EngineError
from engine.files import reason
from engine.usage import Parser

from .bradley_terry import Rating, rate
from .engines import UNNAMED
from .report import ladder_rows, ladder_table, markdown_table, results_of
from .store import write_json, write_text

log = logging.getLogger(__name__)

WIDTH = 80  # of a terminal
CONDITIONS = ("width", "height", "komi", "rules", "time", "visits")


@dataclass(frozen=True)
class Folder:
    """What a match folder holds for a ladder."""

    path: Path
    conditions: dict[str, Any]
    commands: dict[str, str]  # by name
    games: list[dict[str, Any]]  # lines of games.jsonl, engines by name
    original: frozenset[str]  # the names before any renaming


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(prog="keisei ladder", description="Rate the engines of several matches together.")
    add = parser.add_argument
    add("folders", nargs="+", type=Path, metavar="DIR", help="folders of keisei match")
    add("--anchor", metavar="NAME=ELO", help="an engine whose rating is known (default: the mean is 0)")
    add("--mixed", action="store_true", help="join matches under different conditions (board, komi, rules, time)")
    add("--same", action="append", default=[], metavar="NAME=OTHER", help="NAME is the engine that others call OTHER")
    add("--title", default="", help="of the picture")
    add("--png", type=Path, metavar="FILE", help="draw the ladder (needs matplotlib)")
    add("--json", type=Path, metavar="FILE", help="write it as JSON")
    add("--markdown", type=Path, metavar="FILE", help="write it as Markdown")
    arguments = parser.parse_args(argv)
    logging.basicConfig(format="keisei ladder: %(message)s", level=logging.WARNING)
    try:
        return run(arguments)
    except EngineError as error:
        print(f"keisei ladder: {error}", file=sys.stderr)
        return 1


def run(arguments: argparse.Namespace) -> int:
    """Make the ladder as the options say. Raises EngineError."""
    same = dict(_renaming(text) for text in arguments.same)
    folders = [read_folder(path, same) for path in arguments.folders]
    for name in same.keys() - {name for folder in folders for name in folder.original}:
        raise ConfigError(f"--same {name}={same[name]}: no engine is called {name}")
    if not arguments.mixed:
        _check_conditions(folders)
    commands = _join_commands(folders)
    games = [game for folder in folders for game in folder.games]
    results = results_of(games)
    if not results:
        raise ConfigError("there is no finished game in these folders")
    try:
        ratings = rate(results, anchor=None if arguments.anchor is None else _anchor(arguments.anchor))
    except ValueError as error:
        raise ConfigError(str(error)) from None
    ladder = ladder_rows(ratings)
    text = "\n".join([*ladder_table(ladder), "", *results_table(ratings, results)])
    if arguments.json is not None:
        points = [{"for": a, "against": b, "points": value} for (a, b), value in sorted(results.items())]
        found = {"ladder": ladder, "results": points, "commands": commands}
        write_json(arguments.json, {**found, "conditions": [folder.conditions for folder in folders]})
    if arguments.markdown is not None:
        write_text(arguments.markdown, text + "\n")
    if arguments.png is not None:
        from .picture import draw_ladder

        draw_ladder(ratings, arguments.png, title=arguments.title or _title(folders))
    print(text)
    return 0


def read_folder(path: Path, same: Mapping[str, str] | None = None) -> Folder:
    """Read a match folder, engines renamed as `same` says. Raises ConfigError if it is none."""
    try:
        settings = json.loads((path / "settings.json").read_text("utf-8"))
        text = (path / "games.jsonl").read_text("utf-8") if (path / "games.jsonl").exists() else ""
        commands: Mapping[str, str] = settings["engines"]
        names = {label: command if UNNAMED.fullmatch(label) else label for label, command in commands.items()}
        original = frozenset(names.values())
        names = {label: (same or {}).get(name, name) for label, name in names.items()}
        games = []
        for line in text.split("\n")[:-1]:  # what stands after the last newline was being written
            game = json.loads(line)
            who = {key: names[game[key]] for key in ("black", "white")}
            winner = None if game["winner"] is None else names[game["winner"]]
            games.append({**game, **who, "winner": winner})
    except OSError as error:
        raise ConfigError(f"{path} is no match folder: {reason(error)}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} is no folder of such a match: {error!r}") from None
    if len(set(names.values())) < len(names):
        raise ConfigError(f"{path}: two engines of this match have one name or command: {', '.join(names.values())}")
    conditions = {key: settings.get(key) for key in CONDITIONS}
    return Folder(path, conditions, {names[label]: command for label, command in commands.items()}, games, original)


def results_table(ratings: Sequence[Rating], results: Mapping[tuple[str, str], float]) -> list[str]:
    """Return points of every engine against every other, in the order of the ladder: all in one square where that fits
    into WIDTH characters, else a line for each two that met."""
    names = [rating.name for rating in ratings]

    def points(name: str, other: str) -> str:
        won, lost = results.get((name, other), 0.0), results.get((other, name), 0.0)
        return f"{won:g}-{lost:g}" if won or lost else ""

    rows = [["", *(str(i) for i in range(1, len(names) + 1))]]
    rows += [[f"{i} {name}", *(points(name, other) for other in names)] for i, name in enumerate(names, 1)]
    square = markdown_table(rows)
    if len(square[0]) <= WIDTH:
        return square
    met = [
        [f"{i} {name}", f"{j} {other}", points(name, other)]
        for i, name in enumerate(names, 1)
        for j, other in enumerate(names[i:], i + 1)
        if points(name, other)
    ]
    return markdown_table([["", "", "points"], *met])


def _check_conditions(folders: Sequence[Folder]) -> None:
    first = folders[0]
    for folder in folders[1:]:
        for key in CONDITIONS:
            if folder.conditions[key] != first.conditions[key]:
                has, had = folder.conditions[key], first.conditions[key]
                raise ConfigError(f"{folder.path}: {key} is {has!r}, in {first.path} {had!r} (--mixed joins them)")


def _join_commands(folders: Sequence[Folder]) -> dict[str, str]:
    commands: dict[str, str] = {}
    for folder in folders:
        for name, command in folder.commands.items():
            if commands.setdefault(name, command) != command:
                log.warning("%s: %s was %r, here it is %r", folder.path, name, commands[name], command)
    return commands


def _renaming(text: str) -> tuple[str, str]:
    name, _, other = text.rpartition("=")
    if not name or not other:
        raise ConfigError(f"--same is NAME=OTHER, not {text!r}")
    return name, other


def _anchor(text: str) -> tuple[str, float]:
    name, _, elo = text.rpartition("=")
    try:
        value = float(elo)
    except ValueError:
        value = float("nan")
    if not name or not abs(value) <= 10_000:
        raise ConfigError(f"--anchor is NAME=ELO, not {text!r}")
    return name, value


def _title(folders: Sequence[Folder]) -> str:
    conditions = folders[0].conditions
    if any(folder.conditions != conditions for folder in folders):
        return "mixed conditions"
    return f"{conditions['width']}x{conditions['height']}, komi {conditions['komi']:g}, {conditions['rules']}"
