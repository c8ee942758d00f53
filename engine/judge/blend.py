"""One opinion out of several: a mean of what they say of points and score, the first one's word on the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from engine.board.position import Position
from engine.judge.types import Opinion, OpinionSource


class Blend:
    """Asks several sources.

    Args:
        sources: at least one; winrate and policy are the first one's that has them.
        weights: how much each one's word on the points counts; all alike by default. On the score all count alike:
            nets err about it in ways of their own, also where one knows the points better (docs/judge.md).
        thresholds: of the judge, as fitted to this blend.
    """

    def __init__(
        self,
        sources: Sequence[OpinionSource],
        weights: Sequence[float] | None = None,
        *,
        thresholds: Mapping[str, float] | None = None,
    ) -> None:
        self.name = " and ".join(source.name for source in sources)
        self.thresholds = dict(thresholds or {})
        self._sources = tuple(sources)
        self._weights = tuple(weights or [1.0] * len(self._sources))
        total = sum(self._weights)
        self.others = sum(self._weights[1:]) / total if total else 0.0  # share that is not the first one's

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether any of the sources takes boards of this size."""
        return any(source.supports_size(width, height) for source in self._sources)

    def opinion(self, position: Position) -> Opinion | None:
        """Return the blend of what those say that take the board; None if nobody says anything."""
        heard = [
            (weight, source.opinion(position))
            for weight, source in zip(self._weights, self._sources, strict=True)
            if source.supports_size(position.width, position.height)
        ]
        weights = [weight for weight, opinion in heard if opinion is not None]
        said = [opinion for _, opinion in heard if opinion is not None]
        if not said:
            return None
        first, *others = said
        for other in others:
            first = replace(
                first,
                winrate=other.winrate if first.winrate is None else first.winrate,
                policy=first.policy or other.policy,
                territory=other.territory if first.territory is None else first.territory,
                seki=other.seki if first.seki is None else first.seki,
            )
        if not any(weights):  # those whose word counts did not speak
            weights = [1.0] * len(said)
        owner = np.average([opinion.owner for opinion in said], axis=0, weights=weights).astype(np.float32)
        score = _mean([opinion.score_mean for opinion in said])
        spread = _mean([opinion.score_stdev for opinion in said])
        return replace(first, owner=owner, score_mean=score, score_stdev=spread, name=self.name)


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of the numbers that were said; None of none."""
    said = [value for value in values if value is not None]
    return sum(said) / len(said) if said else None
