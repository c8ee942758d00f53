"""The training of one generation of the loop: from the checkpoint before, on the window's shards, to a net."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ..dataset import Loader
from ..folder import write_whole
from ..run import Run, make_net
from .store import read_object

if TYPE_CHECKING:
    from ..recipe import Recipe


def write_random_net(recipe: Recipe, encoding: str, path: Path) -> None:
    """Write a net that has learned nothing."""
    torch.manual_seed(recipe.train.seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    recipe.kind().write(make_net(recipe, encoding).eval(), path, {"name": path.stem, "recipe": recipe.name, "steps": 0})


def learn(
    recipe: Recipe, number: int, shards: Sequence[Path], folders: tuple[Path | None, Path], steps: int, net: Path
) -> dict[str, Any]:
    """Train for so many steps and write the averaged net; nothing happens if that was done already.

    Args:
        number: of the generation.
        shards: the window's shard folders.
        folders: of the generation whose checkpoint training goes on from (None: from nothing), and of this one, which
            gets `checkpoint.pt` and `training.json`.
        steps: of training.
        net: the file to write.

    Returns: the last losses and the validation's figures.
    """
    before, folder = folders
    done = folder / "training.json"
    if done.exists() and net.exists():
        return read_object(done)
    plan = recipe.train
    shares = {int(size): share for size, share in plan.shares.items()}
    loader = Loader(shards, plan.batch, shares, seed=plan.seed + 1_000_003 * number)
    run = Run(recipe, loader, folder)
    if before is not None:
        run.take_over(before / "checkpoint.pt")
    run.plan = dataclasses.replace(plan, steps=run.step + steps)
    sums: dict[str, float] = {}
    for _ in range(steps):
        for name, value in run.train_step().items():
            sums[name] = sums.get(name, 0.0) + float(value) / steps
    figures = {"steps": steps, **{name: round(value, 4) for name, value in sums.items()}, "validation": run.validate()}
    run.save()
    note = {"name": net.stem, "recipe": recipe.name, "steps": run.step, "sizes": [[size, size] for size in shares]}
    recipe.kind().write(run.averaged(), net, note)
    write_whole(done, json.dumps(figures))
    return figures
