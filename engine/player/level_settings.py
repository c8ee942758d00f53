"""Settings of the levels: which rank to play like, and how a rank becomes a share of points given away.

A stone of handicap is worth about thirteen points. In games on 19x19 a player who means to give away a point a move
more ends about fifty points behind, since not all of it is punished; so a rank is a quarter of a point a move. All
ranks read the same, up to the one that gives away nothing (docs/levels.md, ADR 38).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from engine.config import setting
from engine.errors import ConfigError
from engine.search.params import SearchParams

POINTS_A_RANK = 0.25
"""Points that a rank weaker gives away more with each move."""
STRONGEST = 1.0
"""The rank, in dan, that gives nothing away: from games against GNU Go 3.8, level 10, taken as 8.5 kyu."""
WIN_LOSS, SCORE = 0.2, 1.0  # utilities of a level's search: points matter where the game is long decided
WEAKEST = 30.0  # kyu
_RANK = re.compile(r"(\d{1,2}(?:\.\d)?)\s*([kdKD])(?:yu|an)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class LevelSettings:
    """Section `level`."""

    rank: str | None = setting(
        None, "Play about like a player of this rank, 30k … 1k, 1d; none: as strong as the visits allow."
    )
    loss: float | None = setting(
        None, "Points given away with a move, on average, in place of the rank's.", unit="points", low=0.0, high=20.0
    )
    visits: int = setting(32, "Visits of the search at a level.", unit="visits", low=2, high=100_000)
    moves: int = setting(16, "The net's likeliest moves that a level chooses from.", unit="moves", low=2, high=100)

    @property
    def active(self) -> bool:
        """True if a level is to be played at."""
        return self.rank is not None or self.loss is not None

    @property
    def points(self) -> float:
        """Return the points given away a move. Raises ConfigError for a rank that is none."""
        return self.loss if self.loss is not None else 0.0 if self.rank is None else points_of(self.rank)

    def search(self, params: SearchParams) -> SearchParams:
        """Return what a search at a level is done with: points count, won or lost."""
        if not self.active:
            return params
        return replace(params, win_loss_utility=WIN_LOSS, static_score_utility=0.0, dynamic_score_utility=SCORE)


def strength(rank: str) -> float:
    """Return a rank as a number, stones from 1 dan on: 1d is 1, 1k is 0, 20k is -19. Raises ConfigError."""
    match = _RANK.fullmatch(rank.strip())
    number = float(match[1]) if match else 0.0
    if match is None or number < 1:
        raise ConfigError(f"level.rank: {rank!r} is no rank; write {WEAKEST:g}k to 1k, halves too (8.5k), "
                          f"or {STRONGEST:g}d")  # fmt: skip
    value = number if match[2] in "dD" else 1.0 - number
    if not 1.0 - WEAKEST <= value <= STRONGEST:
        raise ConfigError(f"level.rank: {rank} is out of range; levels go from {WEAKEST:g}k to {STRONGEST:g}d, "
                          "and without one Keisei plays as strongly as the visits allow")  # fmt: skip
    return value


def points_of(rank: str) -> float:
    """Return the points that a rank gives away a move. Raises ConfigError."""
    return POINTS_A_RANK * (STRONGEST - strength(rank))


def checked(settings: LevelSettings) -> LevelSettings:
    """Return the settings. Raises ConfigError for a rank that is none."""
    assert settings.points >= 0.0
    return settings
