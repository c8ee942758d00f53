"""Ratings of many engines on one scale from who beat whom: Bradley-Terry, in Elo, with errors.

A draw counts as half a win for each. Every two engines that met get a fraction of a drawn game on top, so that an
engine without a loss has a rating; who met nobody, directly or through others, cannot be compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .elo import Z95

SCALE = 400 / math.log(10)  # Elo for a factor e of strength
PRIOR = 0.5  # drawn games added to each pair that met
STEPS = 100

Results = Mapping[tuple[str, str], float]  # (winner, loser) -> points, a draw half a point each way


@dataclass(frozen=True)
class Rating:
    """One engine on the scale."""

    name: str
    elo: float
    error: float  # half the 95 % interval of the difference to the anchor (or to the mean of all)
    games: float
    points: float


def rate(results: Results, *, anchor: tuple[str, float] | None = None, prior: float = PRIOR) -> list[Rating]:
    """Return the ratings, best first.

    Args:
        results: points by (for, against).
        anchor: an engine and its rating; without one the mean is 0.
        prior: drawn games added to each pair that met.

    Raises ValueError without games, if not all engines are linked by them, or if the anchor did not play.
    """
    names = sorted({name for pair in results for name in pair})
    if not names:
        raise ValueError("there are no games")
    index = {name: i for i, name in enumerate(names)}
    if anchor is not None and anchor[0] not in index:
        raise ValueError(f"{anchor[0]} did not play")
    raw = np.zeros((len(names), len(names)))
    for (winner, loser), points in results.items():
        raw[index[winner], index[loser]] += points
    met = (raw + raw.T) > 0
    groups = linked_groups(met)
    if len(groups) > 1:
        raise ValueError("no games link " + " with ".join(names[group[0]] for group in groups))
    wins = raw + np.where(met, prior / 2, 0.0)
    strengths, information = _fit(wins)
    fixed = None if anchor is None else index[anchor[0]]
    errors = Z95 * SCALE * np.sqrt(_variances(information, fixed))
    elos = strengths * SCALE
    elos += -elos.mean() if anchor is None else anchor[1] - elos[index[anchor[0]]]
    ratings = [
        Rating(name, float(elos[i]), float(errors[i]), float(raw[i].sum() + raw[:, i].sum()), float(raw[i].sum()))
        for i, name in enumerate(names)
    ]
    return sorted(ratings, key=lambda rating: (-rating.elo, rating.name))


def linked_groups(met: NDArray[np.bool_]) -> list[list[int]]:
    """Return the groups of engines that games link, from a symmetric [n, n] table of who met whom."""
    left, groups = set(range(len(met))), []
    while left:
        group, frontier = [], [min(left)]
        left.remove(frontier[0])
        while frontier:
            one = frontier.pop()
            group.append(one)
            new = [other for other in np.flatnonzero(met[one]).tolist() if other in left]
            left.difference_update(new)
            frontier += new
        groups.append(sorted(group))
    return groups


def _fit(wins: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the most likely log-strengths [n], mean 0, and the information matrix [n, n], by Newton's method.

    The likelihood is concave; a step that would lower it is halved.
    """
    n = len(wins)
    games = wins + wins.T
    theta = np.zeros(n)

    def probabilities(at: NDArray[np.float64]) -> NDArray[np.float64]:
        result: NDArray[np.float64] = 1 / (1 + np.exp(np.clip(at[None, :] - at[:, None], -500, 500)))
        return result

    def likelihood(at: NDArray[np.float64]) -> float:
        return float(-(wins * np.logaddexp(0.0, at[None, :] - at[:, None])).sum())

    def information_at(at: NDArray[np.float64]) -> NDArray[np.float64]:
        weights = games * probabilities(at) * (1 - probabilities(at))
        matrix: NDArray[np.float64] = np.diag(weights.sum(axis=1)) - weights
        return matrix

    for _ in range(STEPS):
        gradient = wins.sum(axis=1) - (games * probabilities(theta)).sum(axis=1)
        step = np.linalg.lstsq(information_at(theta) + 1 / n, gradient, rcond=None)[0]
        size = 1.0
        while likelihood(theta + size * step) < likelihood(theta) - 1e-12 and size > 1e-6:
            size /= 2
        theta = theta + size * step
        theta -= theta.mean()
        if np.abs(step).max() < 1e-10:
            break
    return theta, information_at(theta)


def _variances(information: NDArray[np.float64], fixed: int | None) -> NDArray[np.float64]:
    """Return the variances [n] of the log-strengths against the fixed engine, or against the mean."""
    n = len(information)
    if n == 1:
        return np.zeros(1)
    if fixed is None:
        inverse = np.linalg.pinv(information)
        result: NDArray[np.float64] = np.clip(np.diag(inverse), 0.0, None)
        return result
    others = [i for i in range(n) if i != fixed]
    variances = np.zeros(n)
    variances[others] = np.clip(np.diag(np.linalg.inv(information[np.ix_(others, others)])), 0.0, None)
    return variances
