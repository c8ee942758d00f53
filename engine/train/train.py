"""`keisei train`: one run of training, from labelled shards to checkpoints, logs and an exported net.

A run folder holds `checkpoint.pt` (everything that an exact resume needs), `log.jsonl` (one line an event), `curve.png`
and `net.safetensors` (the averaged weights, folded for evaluation, renewed with every validation). SIGINT and SIGTERM
save and end; the same command goes on.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import logging
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from .curves import draw_curves
from .dataset import Loader
from .optim import schedule
from .recipe import TrainPlan, data_home, read_recipe
from .run import Run

log = logging.getLogger(__name__)


def train(run: Run, *, stop_after: float = float("inf")) -> None:
    """Train until the plan's steps are done, `stop_after` seconds have passed, or a signal asks to end."""
    plan, ended = run.plan, False

    def end(*_: object) -> None:
        nonlocal ended
        ended = True

    previous = {s: signal.signal(s, end) for s in (signal.SIGINT, signal.SIGTERM)}
    start = saved = time.monotonic()
    sums: dict[str, float] = {}
    counted = 0
    try:
        while run.step < plan.steps and not ended and time.monotonic() - start < stop_after:
            for name, value in run.train_step().items():
                sums[name] = sums.get(name, 0.0) + value
            counted += 1
            if run.step % 50 == 0:
                write_log(run, "train", {name: round(value / counted, 4) for name, value in sums.items()})
                sums, counted = {}, 0
            if run.step % plan.validate_every == 0 and run.step < plan.steps:
                finish_stage(run)
            if time.monotonic() - saved > 60 * plan.save_minutes:
                run.save()
                saved = time.monotonic()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    run.save()
    finish_stage(run)


def finish_stage(run: Run) -> None:
    """Validate, export the averaged net and redraw the curves."""
    write_log(run, "validation", run.validate())
    run.kind.write(run.averaged(), run.folder / "net.safetensors", training_note(run))
    draw_curves(run.folder / "log.jsonl", run.folder / "curve.png", run.kind.curves)


def training_note(run: Run) -> dict[str, Any]:
    """Return what an exported net says of its making."""
    return {
        "name": run.recipe.name,
        "recipe": run.recipe.name,
        "steps": run.step,
        "hours": round(run.seconds / 3600, 2),
        "sizes": [[size, size] for size in sorted(run.loader.shares)],
        "teacher": run.loader.folders[0].header.teacher,
    }


def write_log(run: Run, event: str, values: dict[str, Any]) -> None:
    """Append one line to log.jsonl and to the log."""
    factor = schedule(run.step, run.plan.steps, run.plan.warmup, run.plan.cooldown)
    line = {"event": event, "step": run.step, "seconds": round(run.seconds, 1), "rate": round(factor, 4), **values}
    run.folder.mkdir(parents=True, exist_ok=True)
    with (run.folder / "log.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    log.info("%s", json.dumps(line))


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei train`. Errors go to the caller as EngineError."""
    parser = argparse.ArgumentParser(prog="keisei train", description=__doc__)
    parser.add_argument("--recipe", required=True, help="recipe name or TOML file")
    parser.add_argument("--shards", type=Path, action="append", help="shard folder (several allowed)")
    parser.add_argument("--out", type=Path, help="run folder; default $KEISEI_DATA/<recipe>/run")
    parser.add_argument("--steps", type=int, help="instead of the recipe's; a run may be prolonged or cut short so")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long (and resume later)")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; 0 = the runtime's choice")
    arguments = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    recipe = read_recipe(arguments.recipe)
    if arguments.steps:
        recipe = dataclasses.replace(recipe, train=dataclasses.replace(recipe.train, steps=arguments.steps))
    home = data_home() / recipe.name
    loader = make_loader(recipe.train, arguments.shards or [home / "shards"])
    run = Run(recipe, loader, arguments.out or home / "run", device=arguments.device)
    log.info("resumed at step %d" if run.resume() else "a new run (step %d)", run.step)
    log.info("training positions: %s", loader.positions())
    train(run, stop_after=60 * arguments.minutes)
    return 0


def make_loader(plan: TrainPlan, folders: Sequence[Path]) -> Loader:
    """Return the loader of a plan.

    Raises:
        ShardError: a folder is unusable.
    """
    return Loader(folders, plan.batch, {int(size): share for size, share in plan.shares.items()}, seed=plan.seed)
