"""Which games a stage may see: held-out games, exclusions, duplicates. Every stage selects with this code alone."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.board.symmetry import symmetry_table

from .records import Game, read_any


def strip_passes(moves: str) -> str:
    """Return the moves without the passes at their end."""
    while moves.endswith("zz"):
        moves = moves[:-2]
    return moves


def held_out(game: Game) -> bool:
    """Tell whether this game is kept for evaluation: one game in ten, by a hash of its moves alone.

    The rule is a function of the moves, so a game and its twin in another collection always fall on the same side.
    """
    digest = hashlib.sha1(strip_passes(game.moves).encode("ascii")).hexdigest()
    return int(digest, 16) % 10 == 0


def opening_key(game: Game, moves: int = 60) -> tuple[int, str]:
    """Return a key that two records of the same game share in spite of board symmetry or another ending.

    The least of the eight transforms of the first `moves` moves. Games shorter than that only match in full.
    """
    size, pairs = game.size, strip_passes(game.moves)[: 2 * moves]
    numbers = [
        size * size if pairs[i : i + 2] == "zz" else (ord(pairs[i + 1]) - 97) * size + ord(pairs[i]) - 97
        for i in range(0, len(pairs), 2)
    ]
    variants = ("".join(map(table.__getitem__, numbers)) for table in _letter_tables(size))
    return size, min(variants)


@cache
def _letter_tables(size: int) -> list[list[str]]:
    """Return, for each dihedral symmetry, action -> its letter pair after the symmetry (pass stays pass)."""
    letters = [chr(97 + action % size) + chr(97 + action // size) for action in range(size * size)] + ["zz"]
    return [[letters[action] for action in symmetry_table(size, size, number)] for number in range(8)]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which games a stage may see."""

    held_out: bool = False  # False: training games; True: the held-out games alone
    excluded: frozenset[tuple[int, str]] = frozenset()  # opening keys of games never used
    min_moves: int = 12
    sizes: frozenset[int] = frozenset()  # empty: all

    @staticmethod
    def excluding(paths: Iterable[Path], *, held_out: bool = False, min_moves: int = 12) -> Selection:
        """Return a selection without the games found at these paths (nor another record of one of them)."""
        keys = frozenset(opening_key(game) for path in paths for game in read_any(path))
        return Selection(held_out, keys, min_moves)

    def verdict(self, game: Game, seen: set[tuple[int, str]]) -> str:
        """Return why a game is left out, "" if it passes (then it is among the seen)."""
        if self.sizes and game.size not in self.sizes:
            return "another size"
        if game.n_moves < self.min_moves:
            return "too short"
        if held_out(game) is not self.held_out:
            return "not held out" if self.held_out else "held out"
        key = opening_key(game)
        if key in self.excluded:
            return "excluded"
        if key in seen:
            return "another record of a game taken before"
        seen.add(key)
        return ""

    def select(
        self, games: Iterable[Game], seen: set[tuple[int, str]] | None = None, tally: Counter[str] | None = None
    ) -> Iterator[Game]:
        """Yield the games that pass, each one once (two records of one game count as one).

        Args:
            games: in the order of preference.
            seen: keys of games taken before; give the same set again to tell games apart over several collections.
            tally: counts what became of the games: "taken", or why not.
        """
        seen = set() if seen is None else seen
        for game in games:
            verdict = self.verdict(game, seen)
            if tally is not None:
                tally[verdict or "taken"] += 1
            if not verdict:
                yield game


def held_out_keys(paths: Iterable[Path]) -> frozenset[tuple[int, str]]:
    """Return the opening keys of all held-out games at these paths.

    Another record of a held-out game (another ending, say) has another hash and so may fall on the training side; who
    leaves out these keys trains on no record of a held-out game.
    """
    return frozenset(opening_key(game) for path in paths for game in read_any(path, quiet) if held_out(game))


def quiet(where: str, reason: str) -> None:
    """Take a fault without a word: somebody else reports it."""
