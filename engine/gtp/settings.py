"""Settings of the GTP front: what it calls itself, and how often an analysis speaks."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config import setting


@dataclass(frozen=True, slots=True)
class GtpSettings:
    """Section `gtp`."""

    name: str = setting("Keisei", "What `name` answers; some GUIs know special dialects of engines they recognise.")
    version: str = setting(
        "1.20.0", "What `version` answers; Lizzie wants numbers with dots between, the second at least 15."
    )
    analysis_interval: float = setting(
        1.0, "Time between the lines of an analysis whose command names none.", unit="s", low=0.01, high=3600.0
    )
    analysis_pv_length: int = setting(15, "Longest line of play shown in an analysis.", unit="moves", low=1, high=1000)
