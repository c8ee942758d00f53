"""Settings of the judge, section `judge`: thresholds fitted on judged games, and how long doubtful groups are read."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config import setting


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """Section `judge`. Thresholds are on ownership in [-1, 1] or on probabilities."""

    dead: float = setting(0.5, "Probability from which a group is dead.", low=0.0, high=1.0)
    territory: float = setting(
        0.6, "Ownership from which a point between both sides' stones belongs to one of them.", low=0.0, high=1.0
    )
    small: int = setting(
        6, "Points of a region between both sides' stones up to which it is dame whatever the net says.", unit="points",
        low=0, high=400,
    )  # fmt: skip
    unsettled: float = setting(
        0.6, "A group or point whose ownership is nearer to 0 than this is open.", low=0.0, high=1.0
    )
    temperature: float = setting(
        1.0, "What the logit of a chain's confidence is divided by where there is no proof.", low=0.1, high=10.0
    )
    net: str = setting(
        "auto",
        "Judgment net that is asked beside the net that plays: a name or a file; auto: the one called judgment, where "
        "it ships; none.",
    )
    symmetries: int = setting(2, "Symmetries under which the net is asked, for each side to move.", low=1, high=4)
    sure: float = setting(
        0.05, "Probability of death below which a group with two eyes is taken for safe when others are read.",
        low=0.0, high=1.0,
    )  # fmt: skip
    nodes: int = setting(
        400_000, "Positions looked at when small regions are read to their end; 0 reads none.", unit="nodes", low=0
    )
    chain_nodes: int = setting(150_000, "The same for one chain and one side moving first.", unit="nodes", low=1)
    region: int = setting(12, "Empty points of a region that is read, at most.", unit="points", low=0, high=64)
    seconds: float = setting(
        0.0, "Time to play on and search where the net leaves something open; 0 does neither.", unit="s", low=0.0,
        high=3600.0,
    )  # fmt: skip
    visits: int | None = setting(
        None, "Visits of that search for each side, and moves played on; none: as many as the time allows.",
        unit="visits", low=1,
    )  # fmt: skip
