"""A net in training and everything that changes from step to step; no loop, no files but the checkpoint."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from engine.errors import ConfigError

from .dataset import Batch, Loader, validation_batches
from .optim import Optimiser, schedule
from .recipe import Recipe


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
                    setattr(module, name, Affine(child.num_features))
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


class Run:
    """A net in training: everything that changes from step to step, and its saving and restoring."""

    def __init__(self, recipe: Recipe, loader: Loader, folder: Path, *, device: str = "cpu") -> None:
        """Start afresh (see `resume`)."""
        plan = recipe.train
        torch.manual_seed(plan.seed)
        self.recipe, self.plan, self.loader, self.folder = recipe, plan, loader, folder
        self.kind = recipe.kind()
        if self.kind.encoding not in ("", loader.header.encoding):
            raise ConfigError(f"the net takes {self.kind.encoding}, the shards hold {loader.header.encoding}")
        if not set(self.kind.targets) & set(loader.header.targets):
            raise ConfigError(f"the shards hold no target of this kind of net ({', '.join(self.kind.targets)})")
        self.device = torch.device(device)
        self.net = make_net(recipe, loader.header.encoding).to(self.device)
        self.optimiser = Optimiser(self.net, plan.optimiser, plan.learning_rate, plan.decay)
        self.average = Average(self.net, plan.ema)
        self.step, self.seconds = 0, 0.0  # steps done, time spent in them

    @property
    def checkpoint(self) -> Path:
        """The file that `save` writes."""
        return self.folder / "checkpoint.pt"

    def save(self) -> None:
        """Write the checkpoint (atomically)."""
        self.folder.mkdir(parents=True, exist_ok=True)
        state = {
            "net": self.net.state_dict(),
            "average": {"state": self.average.state, "steps": self.average.steps},
            "optimiser": self.optimiser.state(),
            "loader": self.loader.state(),
            "step": self.step,
            "seconds": self.seconds,
        }
        temporary = self.checkpoint.with_suffix(".part")
        torch.save(state, temporary)
        os.replace(temporary, self.checkpoint)

    def resume(self) -> bool:
        """Go on from the checkpoint, if there is one; tell whether there was."""
        if not self.checkpoint.exists():
            return False
        state = torch.load(self.checkpoint, map_location=self.device, weights_only=True)
        self.net.load_state_dict(state["net"])
        self.average.state, self.average.steps = state["average"]["state"], state["average"]["steps"]
        self.optimiser.restore(state["optimiser"])
        self.loader.restore(state["loader"])
        self.step, self.seconds = state["step"], state["seconds"]
        return True

    def forward(self, net: nn.Module, batch: Batch) -> Any:
        """Evaluate a batch in bfloat16 autocast."""
        spatial = batch.spatial.float().to(memory_format=torch.channels_last)
        with torch.autocast(self.device.type, torch.bfloat16):
            return net(spatial, batch.globals_)

    def train_step(self) -> dict[str, float]:
        """Take one step; return the terms of the loss."""
        start = time.monotonic()
        batch = next(self.loader).to(self.device)
        self.net.train()
        terms = self.kind.losses(self.forward(self.net, batch), batch)
        self.net.zero_grad(set_to_none=True)
        terms["total"].backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), self.plan.clip)
        if bool(torch.isfinite(norm)):
            self.optimiser.step(schedule(self.step, self.plan.steps, self.plan.warmup, self.plan.cooldown))
            self.average.update(self.net)
        self.step += 1
        self.seconds += time.monotonic() - start
        return {name: float(term.detach()) for name, term in terms.items()} | {"gradient": float(norm)}

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
