"""Settings of the GTP front: what it calls itself, how often an analysis speaks, what GoGui is shown."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config import setting

OWN_NAME, OWN_VERSION = "Keisei", "1.20.0"
MIMICRY = {"katago": ("KataGo", "1.15.3"), "leela-zero": ("Leela Zero", "0.17")}
"""What clients that decide by name and version want to hear, to use the commands of these engines."""


@dataclass(frozen=True, slots=True)
class GtpSettings:
    """Section `gtp`."""

    name: str = setting(OWN_NAME, "What `name` answers; some GUIs know special dialects of engines they recognise.")
    version: str = setting(
        OWN_VERSION, "What `version` answers; Lizzie wants numbers with dots between, the second at least 15."
    )
    mimic: str = setting(
        "none",
        "Answer `name` and `version` as this engine would, for GUIs that use its commands by name; a name of your own "
        "wins.",
        choices=("none", *MIMICRY),
    )
    analysis_interval: float = setting(
        1.0, "Time between the lines of an analysis whose command names none.", unit="s", low=0.01, high=3600.0
    )
    analysis_pv_length: int = setting(15, "Longest line of play shown in an analysis.", unit="moves", low=1, high=1000)
    display_visits: int = setting(
        100, "Visits behind what GoGui's analyze commands show.", unit="visits", low=1, high=1_000_000
    )
    live_gfx: bool = setting(False, "Let GoGui draw what is thought while a move is looked for (on standard error).")

    @property
    def shown_name(self) -> str:
        """What `name` answers."""
        return self.name if self.name != OWN_NAME or self.mimic == "none" else MIMICRY[self.mimic][0]

    @property
    def shown_version(self) -> str:
        """What `version` answers."""
        return self.version if self.version != OWN_VERSION or self.mimic == "none" else MIMICRY[self.mimic][1]
