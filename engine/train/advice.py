"""What a user of training's commands is told beyond figures: what is missing, why, and the command that helps."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from .recipe import Recipe, data_home
from .records import RecordError
from .samples import SamplePlan, SourcePlan
from .shards import MANIFEST

log = logging.getLogger(__name__)


def shards_folder(recipe: Recipe) -> Path:
    """Return the folder that `keisei label` fills for a recipe unless told otherwise."""
    kind = recipe.net.get("kind")
    return data_home() / recipe.name / ("judgment-shards" if kind == "judgment" else "shards")


def how_to_label(recipe: Recipe, given: str) -> str:
    """Return the command that makes the shards of a recipe. `given` is what --recipe was."""
    kind = recipe.net.get("kind")
    if kind == "alphago-zero":
        games = "keisei selfplay --net NET --visits 100 --out DIR"
        return f"{games} (then --shards DIR/shards; keisei loop --recipe {given} does it all)"
    games = "--data DIR-OF-THE-COLLECTIONS" if recipe.samples.sources else "--games GAMES.tsv.xz --positions N"
    if kind == "judgment":
        return f"keisei label --judgment --recipe {given} --data DIR-OF-THE-COLLECTIONS --teacher NET"
    return f"keisei label --recipe {given} {games}{'' if kind == 'k-step' else ' [--teacher NET]'}"


def missing_shards(folders: Sequence[Path], recipe: Recipe, given: str) -> str:
    """Return what to say where a folder of shards is not there yet; "" if all are."""
    absent = [folder for folder in folders if not (folder / MANIFEST).exists()]
    if not absent:
        return ""
    return f"{absent[0]}: no labelled positions there (no {MANIFEST}); this makes them: {how_to_label(recipe, given)}"


def unnamed_sizes(there: Mapping[int, int], shares: Mapping[str, float]) -> str:
    """Return which labelled board sizes a recipe's shares do not name; "" if they name all.

    Args:
        there: board size -> labelled positions.
        shares: of the recipe.
    """
    left = {size: count for size, count in sorted(there.items()) if count and not shares.get(str(size))}
    if not left:
        return ""
    sizes = ", ".join(f"{size}x{size} ({count} positions)" for size, count in left.items())
    return f"labelled, but not trained on, since [train] shares of the recipe do not name them: {sizes}"


def shortfall(source: SourcePlan, told: Mapping[str, int]) -> str:
    """Return why fewer positions of a source came than were asked for; "" if they are as many.

    Args:
        source: what was asked for.
        told: what became of the games, and "positions", as samples.draw tells it.
    """
    came, games = told.get("positions", 0), told.get("taken", 0)
    if came >= source.positions:
        return ""
    left = {what: count for what, count in told.items() if what not in ("taken", "positions") and count}
    why = f"{games} games, at most {source.per_game} positions of each (--per-game, or per_game of the recipe)"
    out = ", ".join(f"{count} {what}" for what, count in sorted(left.items()))
    return f"{source.path}: {came} of {source.positions} positions: {why}" + (f"; games left out: {out}" if out else "")


def check_sources(plan: SamplePlan, root: Path, *, own: bool) -> None:
    """See that every source and exclusion is there before any is read.

    Args:
        plan: with the sources and exclusions.
        root: what they are relative to, but for a user's own sources.
        own: the sources are from the command line.

    Raises:
        RecordError: naming the first one missing, or that there is no source.
    """
    if not plan.sources:
        raise RecordError("the recipe names no games: give --games TABLE-OR-SGF-FOLDER")
    sources = [Path(source.path) if own else root / source.path for source in plan.sources]
    for number, path in enumerate([*sources, *(root / path for path in plan.exclude)]):
        if not path.exists():
            hint = "" if own and number < len(sources) else " (the recipe's paths are relative to --data DIR)"
            raise RecordError(f"{path}: no such file or folder{hint}")


def without_absent_exclusions(plan: SamplePlan, root: Path) -> SamplePlan:
    """Return the plan without the excluded collections that are not at hand, with a warning for each."""
    there = tuple(path for path in plan.exclude if (root / path).exists())
    for path in plan.exclude:
        if path not in there:
            log.warning(
                "%s: the games that the recipe excludes are not at hand (--data DIR says where %s lies), "
                "so they are not left out of yours", root / path, path,
            )  # fmt: skip
    return replace(plan, exclude=there)
