"""`keisei train`: one run of training, from labelled shards to checkpoints, logs and an exported net.

A run folder holds `checkpoint.pt` (everything that an exact resume needs), `log.jsonl` (one line an event), `curve.png`
and `net.safetensors` (the averaged weights, folded for evaluation, renewed with every validation). SIGINT and SIGTERM
save and end, a second one at once; the same command goes on. With `torchrun` several processes train one net: world.py.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import logging
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.usage import Parser

from .advice import missing_shards, shards_folder, unnamed_sizes
from .curves import draw_curves
from .dataset import Loader
from .folder import held
from .logs import RunLog
from .nets import at_least
from .optim import schedule
from .prefetch import Prefetcher, measure
from .recipe import Recipe, TrainPlan, data_home, read_recipe
from .run import Run
from .shards import ShardError, labelled
from .stopping import Stopping
from .world import World, join_world

log = logging.getLogger(__name__)


LOG_EVERY = 50  # steps
NOT_VALIDATED = "no validation on %s: no position of the games kept for it (about one in a hundred); label more games"


def train(run: Run, logs: RunLog | None = None, *, stop_after: float = float("inf")) -> int:
    """Train until the plan's steps are done, `stop_after` seconds have passed, or a signal asks to end.

    Returns: the signal's number, 0 without one.
    """
    plan = run.plan
    if logs is None and run.world.writes:
        logs = RunLog(run.folder, tensorboard=False)
    start = saved = time.monotonic()
    meter = Meter()
    with Stopping() as stop:
        while run.step < plan.steps:
            meter.add(run.train_step())
            if run.step % LOG_EVERY == 0:
                values = run.world.mean(meter.means()) | {"speed": round(meter.speed() * run.world.size, 1)}
                report(run, logs, "train", values | ({"lost_steps": run.lost_in_all} if run.lost_in_all else {}))
                meter = Meter()
            if run.step % plan.validate_every == 0 and run.step < plan.steps:
                finish_stage(run, logs)
            if run.step % CHECK_EVERY and run.world.size > 1:
                continue
            now = time.monotonic()
            if run.world.any(now - saved > 60 * plan.save_minutes):
                run.save()
                saved = now
            if run.world.any(bool(stop.number) or now - start > stop_after):
                break
    run.save()
    finish_stage(run, logs)
    return stop.number


CHECK_EVERY = 10  # steps after which processes that train together agree on saving and ending


class Meter:
    """Sums of what the steps said, and their speed."""

    def __init__(self) -> None:
        self.sums: dict[str, Tensor] = {}
        self.count, self.start = 0, time.monotonic()

    def add(self, terms: dict[str, Tensor]) -> None:
        """Add one step's terms; nothing is read from the device yet."""
        for name, value in terms.items():
            self.sums[name] = self.sums[name] + value if name in self.sums else value
        self.count += 1

    def means(self) -> dict[str, float]:
        """Return the means, without the size of the batches."""
        return {name: float(total) / self.count for name, total in self.sums.items() if name != "batch"}

    def speed(self) -> float:
        """Return positions a second of this process."""
        return float(self.sums["batch"]) / (time.monotonic() - self.start)


def finish_stage(run: Run, logs: RunLog | None) -> None:
    """Validate, export the averaged net and redraw the curves: the writing process; the others wait."""
    if run.world.writes:
        figures: dict[str, Any] = dict(run.validate())
        if absent := [size for size in run.loader.shares if str(size) not in figures]:
            log.warning(NOT_VALIDATED, ", ".join(f"{size}x{size}" for size in absent))
            figures["not_validated"] = absent
        report(run, logs, "validation", figures)
        run.kind.write(run.averaged(), run.folder / "net.safetensors", training_note(run))
        draw_curves(run.folder / "log.jsonl", run.folder / "curve.png", run.kind.curves)
    run.world.wait()


def report(run: Run, logs: RunLog | None, event: str, values: dict[str, Any]) -> None:
    """Write one event into the log, with the step's rate and the time spent."""
    if logs is not None:
        plan = run.plan
        factor = schedule(run.step, plan.steps, plan.warmup, plan.cooldown, plan.schedule)
        logs.write(event, run.step, {"seconds": round(run.seconds, 1), "rate": round(factor, 4), **values})


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


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei train`. Errors go to the caller as EngineError."""
    parser = Parser(prog="keisei train", description=__doc__)
    parser.add_argument("--recipe", required=True, help="recipe name or TOML file")
    parser.add_argument("--shards", type=Path, action="append", help="shard folder (several allowed)")
    parser.add_argument("--out", type=Path, help="run folder; default $KEISEI_DATA/<recipe>/run")
    parser.add_argument(
        "--steps", type=at_least(1), help="instead of the recipe's; a run may be prolonged or cut short so"
    )
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long (and resume later)")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--threads", type=at_least(0), default=0, help="CPU threads; 0 = the runtime's choice")
    parser.add_argument(
        "--workers", type=at_least(0), help="threads that make batches ready; default 0 on a CPU, else 4"
    )
    parser.add_argument("--no-tensorboard", action="store_true", help="no TensorBoard logs even if it is installed")
    parser.add_argument("--loader-only", type=float, metavar="SECONDS", help="only measure how fast batches come")
    arguments = parser.parse_args(argv)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    recipe = read_recipe(arguments.recipe)
    if arguments.steps:
        recipe = dataclasses.replace(recipe, train=dataclasses.replace(recipe.train, steps=arguments.steps))
    world = join_world(arguments.device)
    level = logging.INFO if world.writes else logging.WARNING
    logging.basicConfig(level=level, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    try:
        stopped = start_run(recipe, world, arguments)
    except BaseException:
        world.abandon()
        raise
    world.leave()
    if stopped:
        raise KeyboardInterrupt(stopped)
    return 0


def start_run(recipe: Recipe, world: World, arguments: argparse.Namespace) -> int:
    """Make the run that the command line asks for, resume it, and train or measure; return train's answer."""
    folders = arguments.shards or [shards_folder(recipe)]
    if text := missing_shards(folders, recipe, arguments.recipe):
        raise ShardError(text)
    loader = make_loader(recipe.train, folders, world)
    if (absent := loader.drop_absent_sizes()) and world.writes:
        log.warning("no batch of positions yet, so not trained on: %s", ", ".join(f"{n}x{n}" for n in absent))
    if (text := unnamed_sizes(labelled(loader.folders), recipe.train.shares)) and world.writes:
        log.warning("%s", text)
    workers = arguments.workers
    if workers is None:
        workers = 4 if world.device.type == "cuda" else 0
    if arguments.loader_only:
        source = Prefetcher(loader, workers=workers, pin=world.device.type == "cuda")
        sys.stdout.write(json.dumps(measure(source, arguments.loader_only)) + "\n")
        source.close()
        return 0
    folder = arguments.out or data_home() / recipe.name / "run"
    with held(folder) if world.writes else nullcontext():
        run = Run(recipe, loader, folder, world=world, workers=workers)
        log.info("resumed at step %d" if run.resume() else "a new run (step %d)", run.step)
        log.info("training positions: %s", loader.positions())
        if run.step >= run.plan.steps:
            log.warning("all %d steps of the run are done; --steps N prolongs it", run.plan.steps)
        logs = RunLog(folder, tensorboard=not arguments.no_tensorboard) if world.writes else None
        try:
            return train(run, logs, stop_after=60 * arguments.minutes)
        finally:
            run.batches.close()
            if logs is not None:
                logs.close()


def make_loader(plan: TrainPlan, folders: Sequence[Path], world: World | None = None) -> Loader:
    """Return the loader of a plan, for this process.

    Raises:
        ShardError: a folder is unusable.
    """
    world = world or World()
    shares = {int(size): share for size, share in plan.shares.items()}
    return Loader(
        folders,
        plan.batch,
        shares,
        seed=plan.seed,
        rank=world.rank,
        world=world.size,
        agree=world.agree,
        simple_ko_share=plan.simple_ko_share,
    )
