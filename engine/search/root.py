"""What one search is asked: its limits, the moves it may look at, its noise; and what the root is searched with.

Nothing here knows the tree; searcher.pyx puts these figures into it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]

EVERYWHERE = 1 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search ends; whichever comes first. All None: when it is stopped (pondering).

    Args:
        visits: of the root in all, those kept from the last search included.
        playouts: of this search.
        seconds: since it began.
    """

    visits: int | None = None
    playouts: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class MoveLimit:
    """Moves of one color to leave out, or the only ones to look at.

    Args:
        color: BLACK or WHITE.
        actions: the moves; pass is the board's area.
        until_depth: how many plies from the root it holds: 1 = at the root alone.
    """

    color: int
    actions: tuple[int, ...]
    until_depth: int = EVERYWHERE


@dataclass(frozen=True, slots=True)
class RootOptions:
    """What one search is to do beyond its settings.

    Args:
        avoid: moves to leave out. Plain actions mean the searching color's at the root.
        allow: the only moves to look at, in the same form.
        noise: mix Dirichlet noise into the root priors (self-play).
        policy_temperature: temperature of the root priors; above 1 flattens them.
        temperature: of the move choice: 0 takes the best move, 1 chooses in proportion to visits.
        ownership: keep and report who will own each point.
        moves_ownership: report it for every move too.
        wide_root_noise: in place of the setting of that name.
    """

    avoid: tuple[int | MoveLimit, ...] = ()
    allow: tuple[int | MoveLimit, ...] = ()
    noise: bool = False
    policy_temperature: float = 1.0
    temperature: float = 0.0
    ownership: bool = False
    moves_ownership: bool = False
    wide_root_noise: float | None = None


def move_limits(options: RootOptions, color: int) -> tuple[tuple[bool, MoveLimit], ...]:
    """Return (allow?, limit) for everything that options restrict; plain actions gathered into one entry each."""
    limits: list[tuple[bool, MoveLimit]] = []
    for allow, entries in ((False, options.avoid), (True, options.allow)):
        plain = tuple(entry for entry in entries if not isinstance(entry, MoveLimit))
        if plain:
            limits.append((allow, MoveLimit(color, plain, 1)))
        limits.extend((allow, entry) for entry in entries if isinstance(entry, MoveLimit))
    return tuple(limits)


def shifted(limits: Iterable[tuple[bool, MoveLimit]], plies: int) -> tuple[tuple[bool, MoveLimit], ...]:
    """Return the limits as they stand that many plies further on; those that have run out are gone."""
    kept = []
    for allow, limit in limits:
        until = limit.until_depth if limit.until_depth >= EVERYWHERE else limit.until_depth - plies
        if until > 0:
            kept.append((allow, MoveLimit(limit.color, limit.actions, until)))
    return tuple(kept)


def banned_at_root(limits: Iterable[tuple[bool, MoveLimit]], color: int, n_actions: int) -> NDArray[np.bool_]:
    """Return [A], True for the actions that color may not choose at the root."""
    banned = np.zeros(n_actions, dtype=np.bool_)
    for allow, limit in limits:
        if limit.color != color or limit.until_depth < 1:
            continue
        named = np.zeros(n_actions, dtype=np.bool_)
        named[list(limit.actions)] = True
        banned |= ~named if allow else named
    return banned


def shape_priors(
    priors: FloatArray,
    *,
    temperature: float = 1.0,
    wide: float = 0.0,
    noise_fraction: float = 0.0,
    noise_alpha: float = 0.0,
    rng: np.random.Generator | None = None,
) -> FloatArray:
    """Return the root's priors as the search uses them.

    Args:
        priors: [n] probabilities of the legal moves.
        temperature: softmax temperature.
        wide: wide root noise; raises the priors to the power 1 / (1 + 4 * wide).
        noise_fraction, noise_alpha: share of Dirichlet noise, and the sum of its parameters over the n moves.
        rng: source of the noise; needed when noise_fraction > 0.

    Returns [n] float32, sum 1.
    """
    power = 1.0 / (temperature * (1.0 + 4.0 * wide))
    shaped = (priors.astype(np.float64) / priors.max()) ** power  # the greatest stays 1 at the lowest temperature
    shaped /= shaped.sum()
    if noise_fraction > 0.0 and rng is not None:
        noise = rng.gamma(noise_alpha / len(priors), size=len(priors))
        total = noise.sum()
        if total > 0.0:
            shaped = (1.0 - noise_fraction) * shaped + noise_fraction * noise / total
    result: NDArray[np.float32] = shaped.astype(np.float32)
    return result
