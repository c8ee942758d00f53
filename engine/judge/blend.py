"""One opinion out of several: a mean of what they say of the points, the first one's word on everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from engine.board.position import Position
from engine.judge.types import Opinion, OpinionSource


class Blend:
    """Asks several sources.

    Args:
        sources: at least one; winrate, score and policy are the first one's that has them.
        weights: how much each one's word on the points counts; all alike by default.
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
                score_mean=other.score_mean if first.score_mean is None else first.score_mean,
                score_stdev=other.score_stdev if first.score_stdev is None else first.score_stdev,
                policy=first.policy or other.policy,
                territory=other.territory if first.territory is None else first.territory,
                seki=other.seki if first.seki is None else first.seki,
            )
        if not any(weights):  # those whose word counts did not speak
            weights = [1.0] * len(said)
        owner = np.average([opinion.owner for opinion in said], axis=0, weights=weights).astype(np.float32)
        return replace(first, owner=owner, name=self.name)
