"""The positions that judges are asked about, and what is known of them: tables of judged games, records with results.

A game is asked about at its end (final passes taken back) and, where wanted, when a share of its moves was played. Only
held-out games of judged tables are used. Records without point-by-point truth still have a winner, and a margin where
the result was counted.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.files import sgf_files
from engine.train.judged import JudgedGame, margin_of, read_judged, replay_judged, rules_of
from engine.train.records import Game, RecordError, read_any, read_sgf
from engine.train.selection import held_out

if TYPE_CHECKING:
    from engine.board.position import Position

log = logging.getLogger(__name__)

END = 100  # percent


@dataclass(frozen=True, slots=True)
class Case:
    """One position of one game."""

    judged: JudgedGame
    share: int  # percent of the moves that were played; END = all

    @property
    def key(self) -> str:
        """What answers are filed under."""
        return f"{self.judged.game.source}/{self.judged.id}@{self.share}"

    def position(self) -> Position:
        """Replay the game. Raises RecordError."""
        ply = None if self.share == END else round(self.judged.n_moves * self.share / END)
        return replay_judged(self.judged, ply)


def read_cases(path: Path, *, games: int = 0, shares: Sequence[int] = (END,), seed: int = 1) -> list[Case]:
    """Return the cases of a table of judged games, a table of games, an SGF file or a folder of SGF files.

    Args:
        games: at most so many, a seeded choice, of which a smaller one is a part; 0: all.
        shares: percents of the moves.

    Raises:
        RecordError: there is nothing that can be used.
    """
    found = list(_judged_games(path))
    if not found:
        raise RecordError(f"{path}: no held-out game with a known result")
    if games and games < len(found):
        random.Random(seed).shuffle(found)
        found = found[:games]
    return [Case(judged, share) for judged in found for share in sorted(set(shares), reverse=True)]


def _judged_games(path: Path) -> Iterator[JudgedGame]:
    if path.is_file() and path.suffix.lower() != ".sgf" and _has_truth(path):
        yield from read_judged(path, only_held_out=True)
    elif path.is_dir() or path.suffix.lower() == ".sgf":
        yield from _from_sgf(path)
    else:
        table = (game for game in read_any(path) if held_out(game))
        for number, game in enumerate(table):
            if game.result:
                yield _of_game(game, str(number), None)


def _has_truth(path: Path) -> bool:
    import lzma

    opener = lzma.open if path.suffix == ".xz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            header = next(lines, "").rstrip("\n").split("\t")
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise RecordError(f"{path}: {error}") from error
    return "board" in header and bool({"ownership", "owner_area"} & set(header))


def _from_sgf(path: Path) -> Iterator[JudgedGame]:
    """Yield the games of SGF files that have a result; a folder's are all used: who names it knows where it is from."""
    from engine.sgf import read

    files = sgf_files(path) if path.is_dir() else [path]
    for file in files:
        try:
            game, margin = read_sgf(file), margin_of(read(file).result)
        except EngineError as error:
            log.warning("left out: %s", error)
            continue
        if game.result or margin == 0.0:
            yield _of_game(game, file.stem, margin)


def _of_game(game: Game, name: str, margin: float | None) -> JudgedGame:
    rules = rules_of(game.rules)
    komi = game.komi if game.komi is not None else 7.5 if rules == "chinese" else 6.5
    winner = game.result if margin is None else 1 if margin > 0 else 2 if margin < 0 else 0
    return JudgedGame(name, game, rules, komi, margin, winner)
