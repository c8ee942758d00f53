"""A net in training and everything that changes from step to step; no loop, no files but the checkpoint."""

from __future__ import annotations

import io
import pickle
import time
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from engine.errors import EngineError

from .dataset import Batch, Loader, validation_batches
from .folder import write_whole
from .optim import Optimiser, schedule
from .plane_store import ShardError
from .prefetch import Prefetcher
from .recipe import Recipe
from .world import World

DAMAGE = (OSError, RuntimeError, ValueError, LookupError, EOFError, TypeError, AttributeError, pickle.UnpicklingError,
          zipfile.BadZipFile)  # what torch.load and restoring raise; fmt: skip


class CheckpointError(EngineError):
    """A checkpoint that is damaged or of another net, or a run that cannot go on."""


MOST_LOST = 20  # steps in a row without a finite gradient, before the run gives up
LOST_HINT = "a lower learning_rate, or precision = \"float32\"; or a shard is damaged"


class Affine(nn.Module):
    """A scale and a bias a channel, in the precision of what comes in; folds as engine.nn.blocks.ScaleBias does."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        scale, bias = (p.to(x.dtype).view(1, -1, 1, 1) for p in (self.scale, self.bias))
        return torch.addcmul(bias, x, scale)


def make_net(recipe: Recipe, encoding: str) -> nn.Module:
    """Build the net of a recipe, freshly initialised.

    Raises:
        WeightsError: its sizes are out of bounds.
    """
    net = recipe.kind().build(recipe.name, encoding)
    if recipe.train.norm == "affine":
        for module in list(net.modules()):
            for name, child in module.named_children():
                if isinstance(child, nn.BatchNorm2d):
                    affine = Affine(child.num_features)  # begins as the batch norm does: 1 and 0, or a start's
                    affine.load_state_dict({"scale": child.weight.detach(), "bias": child.bias.detach()})
                    setattr(module, name, affine)
    net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return net


class Average:
    """An exponential moving average of all floating-point state of a net (batch statistics included)."""

    def __init__(self, net: nn.Module, decay: float) -> None:
        self.decay, self.steps = decay, 0
        self.state = {name: tensor.detach().clone() for name, tensor in net.state_dict().items()}

    @torch.no_grad()
    def update(self, net: nn.Module) -> None:
        """Take the net's present state in. Young averages follow faster."""
        self.steps += 1
        keep = min(self.decay, self.steps / (self.steps + 10))
        for name, tensor in net.state_dict().items():
            if tensor.is_floating_point():
                self.state[name].lerp_(tensor, 1 - keep)
            else:
                self.state[name].copy_(tensor)

    def restore(self, saved: dict[str, Any]) -> None:
        """Take over a saved average."""
        if saved["state"].keys() != self.state.keys():
            raise ValueError("the average is of another net")
        for name, tensor in saved["state"].items():
            self.state[name].copy_(tensor)
        self.steps = int(saved["steps"])


class Run:
    """A net in training: everything that changes from step to step, and its saving and restoring."""

    def __init__(
        self, recipe: Recipe, loader: Loader, folder: Path, *, world: World | None = None, workers: int = 0
    ) -> None:
        """Start afresh (see `resume`).

        Args:
            recipe: what is trained, and how.
            loader: of this process's part of the data.
            folder: of the run.
            world: the processes that train together; alone on the CPU if absent.
            workers: threads that make batches ready.

        Raises:
            ShardError: the shards do not suit the kind of net.
        """
        plan = recipe.train
        torch.manual_seed(plan.seed)
        self.recipe, self.plan, self.loader, self.folder = recipe, plan, loader, folder
        self.world = world or World()
        self.device = self.world.device
        self.kind = recipe.kind()
        if self.kind.encoding not in ("", loader.header.encoding):
            raise ShardError(f"the net takes {self.kind.encoding}, the shards hold {loader.header.encoding}")
        if not set(self.kind.targets) & set(loader.header.targets):
            raise ShardError(f"the shards hold no target of this kind of net ({', '.join(self.kind.targets)})")
        self.batches = Prefetcher(loader, workers=workers, pin=self.device.type == "cuda")
        self.net = make_net(recipe, loader.header.encoding).to(self.device)
        self.model = self.world.wrap(self.net)
        self.optimiser = Optimiser(self.net, plan.optimiser, plan.learning_rate, plan.decay, momentum=plan.momentum)
        self.average = Average(self.net, plan.ema)
        self.step, self.seconds = 0, 0.0  # steps done, time spent in them
        self.lost = self.lost_in_all = 0  # steps without a finite gradient, which change nothing: in a row, in all

    @property
    def checkpoint(self) -> Path:
        """The file that `save` writes."""
        return self.folder / "checkpoint.pt"

    def save(self) -> None:
        """Write the checkpoint (atomically); in a world of several processes one of them does."""
        if self.world.writes:
            self.folder.mkdir(parents=True, exist_ok=True)
            buffer = io.BytesIO()  # torch tells a full disk as an internal error
            state = {
                "net": self.net.state_dict(),
                "average": {"state": self.average.state, "steps": self.average.steps},
                "optimiser": self.optimiser.state(),
                "loader": self.batches.state(),
                "random": torch.get_rng_state(),
                "step": self.step,
                "seconds": self.seconds,
            }
            torch.save(state, buffer)
            write_whole(self.checkpoint, buffer.getvalue())
        self.world.wait()

    def resume(self) -> bool:
        """Go on from the checkpoint, if there is one; tell whether there was.

        Raises:
            CheckpointError: it is damaged, or of another net or optimiser.
        """
        if not self.checkpoint.exists():
            return False
        self._restore(self.checkpoint, batches=True)
        return True

    def take_over(self, checkpoint: Path) -> None:
        """Go on with another run's net, average and optimiser, on this run's own batches. Raises CheckpointError."""
        self._restore(checkpoint, batches=False)

    def _restore(self, checkpoint: Path, *, batches: bool) -> None:
        try:
            state = torch.load(checkpoint, map_location="cpu", weights_only=True)
            self.net.load_state_dict(state["net"])
            self.average.restore(state["average"])
            self.optimiser.restore(state["optimiser"])
            if batches:
                self.batches.restore(state["loader"])
            self.step, self.seconds = int(state["step"]), float(state["seconds"])
            if "random" in state:
                torch.set_rng_state(state["random"])
        except DAMAGE as error:
            damaged = isinstance(error, pickle.UnpicklingError | EOFError | zipfile.BadZipFile)
            reason = "damaged" if damaged else (str(error).splitlines() or [type(error).__name__])[0]
            raise CheckpointError(f"{checkpoint}: not a checkpoint of this recipe ({reason})") from error

    def forward(self, net: nn.Module, batch: Batch) -> Any:
        """Evaluate a batch, in autocast if the plan says so."""
        spatial = batch.spatial.float().to(memory_format=torch.channels_last)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.plan.precision == "bfloat16"):
            return net(spatial, batch.globals_)

    def train_step(self) -> dict[str, Tensor]:
        """Take one step; return the terms of the loss, on the device (reading them waits for it)."""
        start, plan = time.monotonic(), self.plan
        batch = next(self.batches).to(self.device)
        self.net.train()
        terms = self.kind.losses(self.forward(self.model, batch), batch)
        self.net.zero_grad(set_to_none=True)
        terms["total"].backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), plan.clip)
        finite = bool(torch.isfinite(norm))  # the same in all processes, since the gradients are
        self.lost, self.lost_in_all = (0 if finite else self.lost + 1), self.lost_in_all + (not finite)
        if self.lost >= MOST_LOST:
            raise CheckpointError(f"step {self.step}: {self.lost} steps without a finite gradient; {LOST_HINT}")
        if finite:
            self.optimiser.step(schedule(self.step, plan.steps, plan.warmup, plan.cooldown, plan.schedule))
            self.average.update(self.net)
        self.step += 1
        self.seconds += time.monotonic() - start
        counted = torch.tensor(float(len(batch)))
        return {name: term.detach() for name, term in terms.items()} | {"gradient": norm, "batch": counted}

    def averaged(self) -> nn.Module:
        """Return a copy of the net with the averaged weights, in evaluation mode."""
        net = make_net(self.recipe, self.loader.header.encoding).to(self.device)
        net.load_state_dict(self.average.state)
        return net.eval()

    @torch.inference_mode()
    def validate(self) -> dict[str, dict[str, float]]:
        """Measure the averaged net on the validation games, by board size."""
        net, report = self.averaged(), {}
        for size in self.loader.shares:
            sums: dict[str, float] = {}
            for batch in validation_batches(self.loader.folders, [size], self.plan.validate_positions, 128):
                batch = batch.to(self.device)
                for name, value in self.kind.measures(self.forward(net, batch), batch).items():
                    sums[name] = sums.get(name, 0.0) + value
            if sums:
                report[str(size)] = self.kind.summarise(sums)
        return report
