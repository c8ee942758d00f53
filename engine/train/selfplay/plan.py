"""What games to play: the plan of a self-play run, and what is drawn for each single game.

Everything about game number N is a function of the plan and N, so that games can be played in any order, again after a
kill, or on another machine, and come out the same.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.errors import ConfigError

FAIR_KOMI = {5: 24.0, 6: 4.0, 7: 9.0, 8: 10.0, 9: 7.0}  # area scoring; larger boards: 7
TERRITORY_LESS = 1.0  # Black's usual gain from area scoring
LEAST_SIZE, MOST_SIZE = 5, 19


@dataclass(frozen=True, slots=True)
class SelfplayPlan:
    """How games are played. Numbers of moves are for 19x19 and shrink with the board's area."""

    sizes: tuple[int, ...] = (9,)  # taken in turn
    rules: dict[str, float] = field(default_factory=lambda: {"tromp-taylor": 1.0})  # name -> weight
    komi: float | None = None  # None: the fair one of the size
    komi_spread: float = 0.0  # standard deviation of a random komi, points; for komi_share of the games
    komi_share: float = 0.5
    visits: int = 100  # a move; 1 plays the net's policy without search
    temperature: float = 1.0  # of the first temperature_moves moves
    temperature_moves: int = 30
    late_temperature: float = 0.0  # of all later ones
    cpuct: float = 1.1  # exploration constant
    tree_reuse: bool = True  # visits of the last search count
    noise_fraction: float = 0.25  # share of Dirichlet noise in the root's priors
    noise_alpha: float = 10.83  # sum of its parameters (0.03 for each of 361 moves)
    most_moves: float = 2.0  # a game ends undecided after so many times the board's area
    resign: bool = True
    resign_wrong: float = 0.05  # share of resignations that may be wrong
    playout_share: float = 0.1  # of the games are played to the end in spite of a resignation
    leaves: int = 2  # of one game in a batch
    games_at_once: int = 64
    part_games: int = 128  # games that are written together
    seed: int = 1

    def check(self) -> None:
        """Raises ConfigError where a value makes no sense."""
        bad = [size for size in self.sizes if not LEAST_SIZE <= size <= MOST_SIZE]
        if bad or not self.sizes:
            raise ConfigError(f"board size {bad[0] if bad else 'missing'}: {LEAST_SIZE} to {MOST_SIZE} are played")
        if not self.rules or min(self.rules.values()) < 0 or sum(self.rules.values()) <= 0:
            raise ConfigError("rules: no weight above 0")
        for name in ("visits", "games_at_once", "part_games", "leaves"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} = {getattr(self, name)}: at least 1")
        for name in ("temperature", "late_temperature", "komi_spread", "temperature_moves"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} = {getattr(self, name)}: not below 0")
        for name in ("noise_fraction", "playout_share", "resign_wrong", "komi_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} = {getattr(self, name)}: from 0 to 1")
        if self.most_moves <= 0 or self.noise_alpha <= 0:
            raise ConfigError("most_moves and noise_alpha must be above 0")


@dataclass(frozen=True, slots=True)
class GamePlan:
    """What is drawn for one game."""

    number: int
    size: int
    rules: str
    komi: float
    hot_moves: int  # moves played with the early temperature
    most_moves: int
    to_the_end: bool  # nobody resigns
    seed: int  # of its moves


def draw_game(plan: SelfplayPlan, number: int) -> GamePlan:
    """Return game `number` of a plan."""
    rng = random.Random(f"{plan.seed}/{number}")
    size = plan.sizes[number % len(plan.sizes)]
    area = size * size
    rules = rng.choices(list(plan.rules), list(plan.rules.values()))[0]
    komi = fair_komi(size, rules) if plan.komi is None else plan.komi
    if plan.komi_spread > 0 and rng.random() < plan.komi_share:
        komi = round(2 * rng.gauss(komi, plan.komi_spread * size / 19)) / 2
        komi = max(-float(area), min(float(area), komi))
    return GamePlan(
        number=number,
        size=size,
        rules=rules,
        komi=komi,
        hot_moves=round(plan.temperature_moves * area / 361),
        most_moves=max(4, round(plan.most_moves * area)),
        to_the_end=not plan.resign or rng.random() < plan.playout_share,
        seed=rng.getrandbits(63),
    )


def fair_komi(size: int, rules: str) -> float:
    """Return about the komi that makes an even game of it."""
    from engine.board.rules import parse_rules

    area = FAIR_KOMI.get(size, 7.0)
    return area - TERRITORY_LESS if parse_rules(rules).scoring == "TERRITORY" else area


def parse_sizes(text: str) -> tuple[int, ...]:
    """Read `7,10-12` as sizes.

    Raises:
        ConfigError: it is something else.
    """
    sizes: list[int] = []
    try:
        for item in text.split(","):
            low, dash, high = item.partition("-")
            sizes.extend(range(int(low), int(high if dash else low) + 1))
    except ValueError:
        raise ConfigError(f"sizes {text!r}: write them as in 7,10-12") from None
    if not sizes:
        raise ConfigError(f"sizes {text!r}: none")
    return tuple(sizes)


def parse_weights(texts: Sequence[str]) -> dict[str, float]:
    """Read rules as `NAME` or `NAME=WEIGHT`.

    Raises:
        ConfigError: an unknown name, or no number.
    """
    from engine.board.rules import parse_rules

    weights: dict[str, float] = {}
    for text in texts:
        name, _, weight = text.partition("=")
        parse_rules(name)
        try:
            weights[name] = float(weight or 1)
        except ValueError:
            raise ConfigError(f"rules {text!r}: the weight is no number") from None
    return weights
