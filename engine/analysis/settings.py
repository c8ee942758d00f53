"""Settings of the JSON analysis engine: what it calls itself, its defaults, and how many searches run together."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config import setting

VIEWS = ("black", "white", "sidetomove")


@dataclass(frozen=True, slots=True)
class AnalysisSettings:
    """Section `analysis`."""

    visits: int = setting(500, "Visits of a query that names none, where player.visits is none too.", low=1)
    winrates_as: str = setting(
        "black", "Whose winrates, scores and ownership are positive, where a query does not say.", choices=VIEWS
    )
    pv_length: int = setting(15, "Moves of a line of play after the first.", unit="moves", low=0, high=999)
    rows: int = setting(
        0, "Positions that the net is given together; 0: what suits it.", unit="positions", low=0, high=4096
    )
    searches: int = setting(
        0, "Positions that are searched at the same time; 0: twice what two batches need.", low=0, high=4096
    )
    memory: int = setting(
        4096, "Memory that the trees of all searches may hold together; then the largest ends.", unit="MiB", low=1
    )
    warn_unused: bool = setting(True, "Warn of keys of a query that are not known.")
    version: str = setting("1.20.0", "What `query_version` answers; clients want three numbers with dots.")
