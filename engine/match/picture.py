"""Draws a ladder: a row an engine, its rating and 95 % interval. Needs matplotlib, which is an optional extra."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

from engine.errors import ConfigError
from engine.usage import install_hint

from .bradley_terry import Rating

LONGEST = 48  # characters of a name


def draw_ladder(ratings: Sequence[Rating], path: Path, *, title: str = "") -> None:
    """Write the ladder as a PNG. Raises ConfigError without matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ConfigError(f"--png needs matplotlib: {install_hint('matplotlib')}")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.2 + 0.32 * len(ratings)), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    places = list(range(len(ratings)))
    elos = [rating.elo for rating in ratings]
    axes.errorbar(
        elos, places, xerr=[rating.error for rating in ratings], fmt="o", color="#20497a", ecolor="#7d9cc4", capsize=3
    )
    for place, rating in zip(places, ratings, strict=True):
        text = f"{rating.elo:.0f} ± {rating.error:.0f}"
        axes.annotate(text, (rating.elo, place), (0, 7), textcoords="offset points", ha="center", fontsize=7)
    axes.set_yticks(places, [_short(rating.name) for rating in ratings])
    axes.set_ylim(len(ratings) - 0.4, -0.7)
    axes.set_xlabel("Elo, 95 % interval")
    axes.set_title(title, fontsize=10)
    axes.grid(axis="x", alpha=0.3)
    temporary = path.with_name(path.name + ".tmp")
    figure.savefig(temporary, format="png")
    os.replace(temporary, path)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
