"""Where the openings of a match come from: random ones by seed, or the beginnings in SGF files; balanced or not.

Balanced means: a net gives both sides about the same chance. All of it is reproducible: the same options give the same
openings in the same order, and a longer match begins with those of a shorter one.
"""

from __future__ import annotations

import logging
import random
import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine import factory, sgf
from engine.board.position import Position
from engine.board.rules import parse_rules
from engine.errors import ConfigError, EngineError
from engine.files import sgf_files
from engine.nn.settings import NetSettings
from engine.player.rawnet import raw_output

from .game import GameSettings
from .openings import canonical_key, draw_openings

if TYPE_CHECKING:
    from .local import NetPool

BALANCE = 0.15  # how far from 0.5 the winrate may be
PLIES = 8  # of an SGF game
MAX_TRIES = 200  # openings that may be refused in a row

log = logging.getLogger(__name__)

Accept = Callable[[list[int]], bool]


@dataclass(frozen=True)
class OpeningOptions:
    """The options as they were given."""

    openings: str = "1/4"
    plies: int | None = None
    balance: str | None = None


def openings_for(options: OpeningOptions, count: int, settings: GameSettings, nets: NetPool) -> list[list[int]]:
    """Return `count` openings, each a list of actions from Black's first move on. Raises ConfigError, EngineError."""
    accept = _accept(options.balance, settings, nets)
    seeded = re.fullmatch(r"(\d{1,9})(?:/(\d{1,3}))?", options.openings, re.ASCII)
    if seeded is not None:
        plies = int(seeded[2] or 4)
        source = draw_openings(plies, settings.width, settings.height, int(seeded[1]))
        return _take(source, count, accept, repeat=False)
    path = Path(options.openings)
    if not path.exists():
        raise ConfigError(f"--openings: neither SEED/PLIES nor a file: {options.openings}")
    return _take(iter(sgf_openings(path, options.plies or PLIES, settings)), count, accept, repeat=True)


def sgf_openings(path: Path, plies: int, settings: GameSettings) -> list[list[int]]:
    """Return the different openings of an SGF file or of all in a folder, shuffled the same way each time.

    A file gives those of all its games and variations. Games of another size, with set-up stones, passes or moves out
    of turn in the opening, or shorter, are left out, and so are positions that occurred before (rotations and
    reflections count as the same).

    Raises ConfigError if there are none, which says of files that cannot be read.
    """
    openings, errors = [], []
    sequences: set[bytes] = set()
    seen: set[bytes] = set()
    rules = parse_rules(settings.rules)
    for file in sgf_files(path) if path.is_dir() else [path]:
        try:
            for record in sgf.read_beginnings(file, plies):
                actions = _opening(record, plies, settings)
                if actions is None or (sequence := array("H", actions).tobytes()) in sequences:
                    continue
                sequences.add(sequence)
                position = Position(settings.width, settings.height, rules=rules)
                if not all(_played(position, action) for action in actions):
                    continue
                key = canonical_key(position.board())
                if key not in seen:
                    seen.add(key)
                    openings.append(actions)
        except EngineError as error:
            errors.append(str(error))
    if not openings:
        size = f"{settings.width}x{settings.height}"
        broken = f" ({errors[0]}{', and other files' if len(errors) > 1 else ''})" if errors else ""
        raise ConfigError(f"--openings: no game of {size} with {plies} moves in {path}{broken}")
    random.Random("openings").shuffle(openings)
    return openings


def _opening(record: sgf.GameRecord, plies: int, settings: GameSettings) -> list[int] | None:
    """Return the actions of a record's first moves; None if no game of this match can begin so."""
    moves = record.moves[:plies]
    area = settings.width * settings.height
    fits = (record.width, record.height) == (settings.width, settings.height) and not record.setup
    in_turn = [color for color, _ in moves] == [1 + i % 2 for i in range(plies)]
    if not fits or not in_turn or any(action == area for _, action in moves):
        return None
    return [action for _, action in moves]


def _played(position: Position, action: int) -> bool:
    try:
        position.play(action)
    except EngineError:
        return False
    return True


def _take(source: Iterator[list[int]], count: int, accept: Accept | None, *, repeat: bool) -> list[list[int]]:
    """Return the first openings that are accepted; where there are too few, all of them again and again."""
    taken: list[list[int]] = []
    refused = 0
    for opening in source:
        if len(taken) == count:
            break
        if accept is None or accept(opening):
            taken.append(opening)
            refused = 0
            continue
        refused += 1
        if not repeat and refused >= MAX_TRIES:
            raise ConfigError(f"--balance: {refused} openings in a row are not even enough; allow more")
    if not taken:
        raise ConfigError("--balance: no opening is even enough; allow more")
    if len(taken) < count:
        words = "1 opening" if len(taken) == 1 else f"{len(taken)} openings"
        log.warning("%s for %d pairs of games: played over and over", words, count)
    return [taken[i % len(taken)] for i in range(count)]


def _accept(balance: str | None, settings: GameSettings, nets: NetPool) -> Accept | None:
    """Return whether a net calls an opening even, as a function; None if nobody asks."""
    if balance is None:
        return None
    name, _, share = balance.rpartition(":") if re.search(r":0?\.\d+$", balance) else (balance, "", "")
    most = float(share) if share else BALANCE
    net_settings: NetSettings = factory.make_settings(factory.preset("gtp")).net
    net = nets.get(name or None, net_settings)

    def accept(opening: list[int]) -> bool:
        position = Position(settings.width, settings.height, rules=parse_rules(settings.rules), komi=settings.komi)
        for action in opening:
            position.play(action)
        raw = raw_output(net.evaluator, position, position.to_play, 0)
        return abs(raw.white_win - raw.white_loss) / 2 <= most

    return accept
