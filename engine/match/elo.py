"""Shares, Elo differences and their errors. Everything is from the view of the first engine of a pairing.

Games of a pair share an opening, so their results are not independent: where pairs are known, errors come from the
pairs' scatter, which a good opening set makes smaller than that of single games.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Z95 = 1.959963984540054  # two-sided 95 % of the normal distribution
LEAST_PAIRS = 10  # below this many pairs their scatter says too little
LEAST_POINTS = 5  # of the weaker side, likewise


def wilson(score: float, games: int, z: float = Z95) -> tuple[float, float]:
    """Return the Wilson score interval of a share.

    Args:
        score: wins, draws counting half.
        games: number of games; 0 gives (0, 1).

    Source: E. B. Wilson, JASA 22 (1927).
    """
    if games == 0:
        return 0.0, 1.0
    share = score / games
    spread = z * math.sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    centre = share + z * z / (2 * games)
    scale = 1 + z * z / games
    low, high = (centre - spread) / scale, (centre + spread) / scale
    return low if score > 0 else 0.0, high if score < games else 1.0  # exact at the ends, where rounding errs


def elo(share: float) -> float | None:
    """Return the Elo difference that gives this share of points; None for 0 and 1, where there is none."""
    return 0.0 - 400 * math.log10(1 / share - 1) if 0 < share < 1 else None


def expected(difference: float) -> float:
    """Return the share of points that an Elo difference gives."""
    return 1 / (1 + 10 ** (-difference / 400))


def share_interval(scores: Sequence[float], pairs: Sequence[float], z: float = Z95) -> tuple[float, float]:
    """Return the interval of the share of points.

    From the scatter of the pairs where that can be believed: not of a few pairs, not where nearly all points went to
    one side, not where all pairs are alike. Then it is Wilson's, of single games.

    Args:
        scores: points of each game: 0, 0.5 or 1.
        pairs: mean points of each finished pair: 0, 0.25, … 1.
    """
    points, games = sum(scores), len(scores)
    few = len(pairs) < LEAST_PAIRS or 2 * len(pairs) < 0.8 * games
    if few or min(points, games - points) < LEAST_POINTS or len(set(pairs)) == 1:
        return wilson(points, games, z)
    mean = sum(pairs) / len(pairs)
    variance = sum((pair - mean) ** 2 for pair in pairs) / (len(pairs) - 1)
    spread = z * math.sqrt(variance / len(pairs))
    return max(points / games - spread, 0.0), min(points / games + spread, 1.0)


def elo_interval(scores: Sequence[float], pairs: Sequence[float]) -> tuple[float | None, float | None]:
    """Return the 95 % interval of the Elo difference; None at an end that is not bounded."""
    low, high = share_interval(scores, pairs)
    return elo(low), elo(high)
