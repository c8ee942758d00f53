"""One opinion out of several: the mean of what they say of the points, the first one's word on everything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engine.board.position import Position
from engine.judge.types import Opinion, OpinionSource


class Blend:
    """Asks several sources.

    Args:
        sources: at least one; winrate, score and policy are the first one's that has them.
    """

    def __init__(self, sources: Sequence[OpinionSource]) -> None:
        self.name = " and ".join(source.name for source in sources)
        self._sources = tuple(sources)

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether any of the sources takes boards of this size."""
        return any(source.supports_size(width, height) for source in self._sources)

    def opinion(self, position: Position) -> Opinion | None:
        """Return the blend of what those say that take the board; None if nobody says anything."""
        asked = [source for source in self._sources if source.supports_size(position.width, position.height)]
        said = [opinion for opinion in (source.opinion(position) for source in asked) if opinion is not None]
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
        owner = np.mean([opinion.owner for opinion in said], axis=0).astype(np.float32)
        return replace(first, owner=owner, name=self.name)
