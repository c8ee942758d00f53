"""`keisei records`: SGF folders and tables into one table of games, filtered, each game once, with a manifest.

The manifest (`<table>.json`) says of every source how many games were taken and left out and why, and names the records
that could not be read, with the reason. Held-out games stay in the table: who trains leaves them out (selection.py).
"""

from __future__ import annotations

import dataclasses
import json
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from engine.errors import ConfigError
from engine.usage import Parser

from .folder import write_whole
from .nets import at_least
from .records import Game, RecordError, read_any, write_table
from .selection import Selection, held_out, opening_key, quiet

log = logging.getLogger(__name__)

NAMED = 200  # unreadable records of a source that are named in the manifest


@dataclasses.dataclass(frozen=True, slots=True)
class Filter:
    """Which games are wanted besides what Selection asks."""

    even: bool = False  # no handicap and no other set-up
    decided: bool = False  # a winner is known
    sizes: frozenset[int] = frozenset()  # empty: all
    min_moves: int = 12
    excluded: frozenset[tuple[int, str]] = frozenset()

    def verdict(self, game: Game, seen: set[tuple[int, str]]) -> str:
        """Return why a game is left out, "" if it is wanted and not seen before."""
        if self.even and (game.setup_black or game.setup_white):
            return "handicap or set-up"
        if self.decided and not game.result:
            return "no winner"
        selection = Selection(held_out(game), self.excluded, self.min_moves, self.sizes)
        return selection.verdict(game, seen)


def collect(sources: Sequence[Path], wanted: Filter, told: dict[str, Any]) -> Iterator[Game]:
    """Yield the wanted games of the sources, in order; `told` gets what became of all of them.

    Raises:
        RecordError: a source is not there.
    """
    seen: set[tuple[int, str]] = set()
    for source in sources:
        tally: Counter[str] = Counter()
        faults: list[list[str]] = []

        def fault(where: str, why: str, tally: Counter[str] = tally, faults: list[list[str]] = faults) -> None:
            tally["unreadable"] += 1
            if len(faults) < NAMED:
                faults.append([where, why])

        for game in tqdm(read_any(source, fault), unit=" games", desc=source.name, disable=None):
            verdict = wanted.verdict(game, seen)
            tally[verdict or "taken"] += 1
            if not verdict:
                tally["of them held out"] += held_out(game)
                yield game
        told[str(source)] = {"games": dict(tally), "unreadable": faults}


def parse_sizes(text: str) -> frozenset[int]:
    """Read board sizes as "9,13,19"; nothing: all.

    Raises:
        ConfigError: a word is no board size.
    """
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    if wrong := [word for word in words if not word.isdigit() or not 2 <= int(word) <= 25]:
        raise ConfigError(f"--sizes {text!r}: {wrong[0]!r} is no board size")
    return frozenset(map(int, words))


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei records`. Errors go to the caller as EngineError."""
    parser = Parser(prog="keisei records", description=__doc__)
    parser.add_argument("sources", nargs="+", type=Path, help="SGF folder, SGF file or table (.tsv, .tsv.xz)")
    parser.add_argument("--out", required=True, type=Path, help="the table to write; .tsv or .tsv.xz")
    parser.add_argument("--exclude", action="append", default=[], type=Path, help="games never to take, as sources are")
    parser.add_argument("--sizes", default="", help="board sizes, as 9,13,19; default all")
    parser.add_argument("--min-moves", type=at_least(0), default=12)
    parser.add_argument("--even", action="store_true", help="no games with handicap or another set-up")
    parser.add_argument("--decided", action="store_true", help="only games whose winner is known")
    arguments = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    wanted = Filter(
        even=arguments.even,
        decided=arguments.decided,
        sizes=parse_sizes(arguments.sizes),
        min_moves=arguments.min_moves,
        excluded=frozenset(opening_key(game) for path in arguments.exclude for game in read_any(path, quiet)),
    )
    told: dict[str, Any] = {}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    count = write_table(arguments.out, collect(arguments.sources, wanted, told))
    settings = {"even": wanted.even, "decided": wanted.decided, "sizes": sorted(wanted.sizes)}
    settings |= {"min_moves": wanted.min_moves, "exclude": [str(path) for path in arguments.exclude]}
    manifest = {"format": "keisei-games-1", "games": count, "settings": settings, "sources": told}
    manifest_path = arguments.out.with_name(arguments.out.name + ".json")
    write_whole(manifest_path, json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    for source, what in told.items():
        log.info("%s: %s", source, ", ".join(f"{n} {name}" for name, n in what["games"].items()) or "no games")
        for where, why in what["unreadable"][:10]:
            log.warning("  %s: %s", where, why)
    log.info("%d games in %s; what was left out and why: %s", count, arguments.out, manifest_path)
    if not count:
        raise RecordError(f"{arguments.out}: no game was taken")
    return 0
