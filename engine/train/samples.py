"""Which positions training learns from: a plan (part of a recipe) turned into a reproducible stream of samples.

A sample is a game, a ply and what to do before the position is labelled: a few random moves (so that nets and their
values also see positions after bad moves, which a search visits all the time), other rules, another komi. The stream
is a function of the plan, the seed and the games alone, so labelling can stop, resume and be split over machines.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.board.rules import parse_rules
from engine.errors import ConfigError, IllegalMove
from engine.sgf.letters import letters_to_actions

from .records import BLACK, Game, RecordError, read_any
from .selection import Selection, held_out_keys

if TYPE_CHECKING:
    from engine.board.position import Position

log = logging.getLogger(__name__)

RULES = {"chinese": 0.4, "chinese-ogs": 0.4, "japanese": 0.2}  # area under simple ko (what GTP's "chinese" is) too
STANDARD_KOMI = {"area": 7.5, "territory": 6.5}


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """How many positions come from one collection."""

    path: str  # relative to the data root
    positions: int
    per_game: int = 4  # at most, of one game
    since: float = 0.0  # share of a game's moves that come before its first position

    def __post_init__(self) -> None:
        if self.positions < 1 or self.per_game < 1:
            raise ConfigError(f"[samples.sources] {self.path}: positions and per_game are at least 1")
        if not 0 <= self.since <= 1:
            raise ConfigError(f"[samples.sources] {self.path}: since = {self.since}: from 0 to 1")


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """How positions are drawn and varied. Shares are probabilities."""

    sources: tuple[SourcePlan, ...]
    exclude: tuple[str, ...] = ()  # collections whose games are never used, relative to the data root
    seed: int = 1
    astray_share: float = 0.3  # positions reached from the game's by random moves
    astray_moves: int = 3  # at most that many
    pass_share: float = 0.03  # positions after a pass that was not in the game
    komi_share: float = 0.35  # positions with a random komi
    komi_spread: float = 12.0  # standard deviation of the random komi, points
    rules: dict[str, float] = field(default_factory=lambda: dict(RULES))  # name -> weight

    def __post_init__(self) -> None:
        for name in ("astray_share", "pass_share", "komi_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"[samples] {name} = {getattr(self, name)}: from 0 to 1")
        if self.astray_moves < 1 or self.komi_spread < 0:
            raise ConfigError("[samples] astray_moves is at least 1, komi_spread not below 0")
        for name in self.rules:
            parse_rules(name)


@dataclass(frozen=True, slots=True)
class Sample:
    """One position to label. `played` and `result` are from the record, -1 and 0 when moves were added."""

    game: Game
    ply: int
    astray: int  # random moves to add
    passed: bool  # add a pass
    rules: str
    komi: float
    seed: int  # of the random moves

    @property
    def played(self) -> int:
        """Action that the game went on with, -1 if none or if the position is not the game's."""
        if self.astray or self.passed or self.ply >= self.game.n_moves:
            return -1
        return letters_to_actions(self.game.moves[2 * self.ply : 2 * self.ply + 2], self.game.size)[0]


def draw_source(
    plan: SamplePlan,
    source: SourcePlan,
    root: Path,
    selection: Selection,
    *,
    seen: set[tuple[int, str]] | None = None,
    tally: Counter[str] | None = None,
) -> list[Sample]:
    """Return the samples of one collection; fewer than asked for if it has too few games.

    Args:
        plan, source, root: see SamplePlan; paths are relative to root.
        selection: of the games.
        seen, tally: see Selection.select; records that cannot be used are counted as "unusable".
    """
    rng = random.Random(f"{plan.seed}/{source.path}")

    def fault(where: str, why: str) -> None:
        log.debug("%s: left out: %s", where, why)
        if tally is not None:
            tally["unusable"] += 1

    games = list(selection.select(read_any(root / source.path, fault), seen, tally))
    rng.shuffle(games)
    per_game = min(source.per_game, max(1, -(-source.positions // max(1, len(games)))))
    samples: list[Sample] = []
    for game in games:
        span = range(int(source.since * game.n_moves), game.n_moves + 1)
        plies = rng.sample(span, min(per_game, len(span)))
        samples.extend(_vary(plan, game, ply, rng) for ply in plies)
        if len(samples) >= source.positions:
            break
    return samples[: source.positions]


def _vary(plan: SamplePlan, game: Game, ply: int, rng: random.Random) -> Sample:
    rules = rng.choices(list(plan.rules), list(plan.rules.values()))[0]
    territory = rules in ("japanese", "korean")
    komi = STANDARD_KOMI["territory" if territory else "area"]
    if game.size <= 9 and not territory:
        komi = rng.choice((7.0, 7.5))
    if rng.random() < plan.komi_share:
        komi = round(2 * rng.gauss(komi, plan.komi_spread * game.size / 19)) / 2
    astray = rng.randint(1, plan.astray_moves) if rng.random() < plan.astray_share else 0
    passed = rng.random() < plan.pass_share
    return Sample(game, ply, astray, passed, rules, komi, rng.getrandbits(32))


STREAM = 2  # version of `draw`: what it draws of a plan changes with it, and so with shard folders' headers


def draw(
    plan: SamplePlan, root: Path, told: dict[str, dict[str, int]] | None = None, *, games: Path | None = None
) -> list[Sample]:
    """Return the samples of a plan in one shuffled order.

    A game counts once, whichever collections have it; held-out games are left out, every other record of one too, and
    so are the games that the plan excludes.

    Args:
        plan: the plan.
        root: folder that the paths of the plan are relative to.
        games: folder that the sources alone are relative to, if another.
        told: gets, by source, how many games were taken and left out, and why, and the number of positions.
    """
    kept_apart = held_out_keys((games or root) / source.path for source in plan.sources)
    selection = Selection.excluding(root / path for path in plan.exclude)
    selection = replace(selection, excluded=selection.excluded | kept_apart)
    seen: set[tuple[int, str]] = set()
    samples: list[Sample] = []
    for source in plan.sources:
        tally: Counter[str] = Counter()
        drawn = draw_source(plan, source, games or root, selection, seen=seen, tally=tally)
        samples += drawn
        if told is not None:
            told[source.path] = dict(tally) | {"positions": len(drawn)}
    random.Random(plan.seed).shuffle(samples)
    return samples


def replay(sample: Sample) -> Position:
    """Return the position of a sample.

    Raises:
        RecordError: the game holds a move that its rules forbid.
    """
    from engine.board.position import Position

    game = sample.game
    position = Position(game.size, rules=sample.rules, komi=sample.komi)
    try:
        if game.setup_black or game.setup_white:
            stones = [(BLACK, a) for a in letters_to_actions(game.setup_black, game.size)]
            stones += [(3 - BLACK, a) for a in letters_to_actions(game.setup_white, game.size)]
            position.set_up(stones, game.first)
        color = game.first
        for action in letters_to_actions(game.moves[: 2 * sample.ply], game.size):
            position.play(action, color, allow_superko=True)
            color = 3 - color
    except IllegalMove as error:
        raise RecordError(f"{game.source}: {error}") from error
    position.to_play = color
    go_astray(position, sample)
    return position


def go_astray(position: Position, sample: Sample) -> None:
    """Add the sample's random moves: half of them anywhere legal, half close to the move before; then its pass."""
    rng, size, last = random.Random(sample.seed), sample.game.size, -1
    if sample.ply:
        last = letters_to_actions(sample.game.moves[2 * sample.ply - 2 : 2 * sample.ply], size)[0]
    for _ in range(sample.astray):
        legal = position.legal_mask()[: size * size].nonzero()[0].tolist()
        if 0 <= last < size * size and rng.random() < 0.5:
            row, column = divmod(last, size)
            near = [a for a in legal if abs(a // size - row) <= 3 and abs(a % size - column) <= 3]
            legal = near or legal
        if not legal:
            return
        last = rng.choice(legal)
        position.play(last)
    if sample.passed:
        position.play(size * size)
