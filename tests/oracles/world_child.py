"""One process of several that train together, for test_world.py: trains, then writes what it saw and has now.

Arguments: shard folder, folder for the runs, folder for the report.
"""

import hashlib
import json
import sys
from pathlib import Path

import torch

from engine.train.recipe import Recipe, TrainPlan
from engine.train.run import Run
from engine.train.samples import SamplePlan
from engine.train.train import make_loader, train
from engine.train.world import join_world

NET = {"blocks": 1, "channels": 8, "head_channels": 8, "value_channels": 8}
PLAN = {"batch": 8, "shares": {"9": 1.0}, "warmup": 2, "norm": "affine", "cooldown": 0.0}


def digest(tensors):
    return hashlib.sha256(b"".join(t.detach().numpy().tobytes() for t in tensors)).hexdigest()


def go(world, shards, folder, steps):
    """Train up to a step; resumes what is in the folder. Return what this process saw and has."""
    recipe = Recipe("tiny", SamplePlan(()), NET, {}, TrainPlan(steps=steps, **PLAN))
    run = Run(recipe, make_loader(recipe.train, [Path(shards)], world), Path(folder), world=world, workers=1)
    seen, make = [], run.loader.make

    def spy(draw):
        seen.append(sorted(draw.rows.tolist()))
        return make(draw)

    run.loader.make = spy
    resumed, first = run.resume(), run.step
    train(run)
    run.batches.close()
    return {
        "resumed": resumed,
        "rows": seen[: run.step - first],
        "net": digest(run.net.parameters()),
        "average": digest(run.average.state.values()),
    }


def main(shards, folder, report):
    torch.set_num_threads(1)
    world = join_world("cpu")
    said = {
        "whole": go(world, shards, Path(folder, "whole"), 6),
        "half": go(world, shards, Path(folder, "halves"), 2),
        "rest": go(world, shards, Path(folder, "halves"), 6),
        "any": world.any(world.rank == 1),
        "mean": world.mean({"rank": float(world.rank)})["rank"],
        "agreed": world.agree([f"of {world.rank}"]),
    }
    Path(report, f"{world.rank}.json").write_text(json.dumps(said))
    world.leave()


if __name__ == "__main__":
    main(*sys.argv[1:])
