"""Recipes: one TOML file says everything about a training run; it holds only what differs from the defaults here.

name = "…"
[samples]   samples.SamplePlan, with [[samples.sources]]
[labels]    LabelPlan
[net]       kind (kinds.KINDS, "policy-value" if absent) and what that kind takes
[loss]      what the kind takes; for "policy-value" losses.LossWeights
[train]     TrainPlan
[selfplay]  selfplay.plan.SelfplayPlan
[loop]      selfplay.loop.LoopPlan
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from engine.errors import ConfigError

from .fill import fill
from .kinds import Kind, make_kind
from .samples import SamplePlan, SourcePlan

SECTIONS = ("name", "samples", "labels", "net", "loss", "train", "selfplay", "loop")


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """What `keisei label` writes. Empty: what the kind of net needs."""

    encoding: str = ""  # of the inputs; default the net's ([net] encoding), else the teacher's, else katago-v7
    targets: tuple[str, ...] = ()  # names in targets.TARGETS
    next_moves: int = 0  # K of the target `next`


CHOICES = {
    "optimiser": ("muon", "adamw", "sgd"),
    "schedule": ("linear", "cosine", "constant"),
    "precision": ("bfloat16", "float32"),
    "norm": ("batch", "affine"),
}


@dataclass(frozen=True, slots=True)
class TrainPlan:
    """How a net is trained."""

    steps: int = 8000
    batch: int = 128  # positions on the largest board; see dataset.Loader
    shares: dict[str, float] = field(default_factory=lambda: {"19": 0.8, "13": 0.1, "9": 0.1})  # size -> of batches
    optimiser: str = "muon"  # or adamw, sgd
    momentum: float = 0.9  # of sgd (Nesterov)
    schedule: str = "linear"  # how the rate falls: linear or cosine over the last `cooldown`, or constant
    learning_rate: float = 2e-3
    decay: float = 0.02
    warmup: int = 100  # steps
    cooldown: float = 0.3  # share of the run over which the learning rate falls to zero
    clip: float = 5.0  # largest norm of the gradient
    ema: float = 0.998  # decay of the average of the weights, a step
    precision: str = "bfloat16"  # of the forward pass (autocast), or float32
    norm: str = "batch"  # or "affine": a scale and a bias a channel, no statistics
    simple_ko_share: float = 0.0  # of the positions under area scoring, shown under simple ko; see dataset.py
    seed: int = 1
    validate_every: int = 500  # steps
    validate_positions: int = 1024  # of each size
    save_minutes: float = 2.0

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ConfigError(f"[train] {name} = {getattr(self, name)!r}: there are {', '.join(choices)}")
        fits = all(size.isdigit() and share >= 0 for size, share in self.shares.items())
        if not fits or not any(self.shares.values()):
            raise ConfigError("[train] shares: board sizes with their shares of the batches, as { 19 = 0.8, 9 = 0.2 }")


@dataclass(frozen=True, slots=True)
class Recipe:
    """A whole recipe."""

    name: str
    samples: SamplePlan
    net: dict[str, Any]
    loss: dict[str, Any]
    train: TrainPlan
    labels: LabelPlan = LabelPlan()
    selfplay: dict[str, Any] = field(default_factory=dict)
    loop: dict[str, Any] = field(default_factory=dict)

    def kind(self) -> Kind:
        """Return the kind of net that the recipe trains. Raises ConfigError."""
        return make_kind(self.net, self.loss)


def data_home() -> Path:
    """Return where shards and runs are kept: $KEISEI_DATA, else ~/.local/share/keisei."""
    return Path(os.environ.get("KEISEI_DATA") or Path.home() / ".local" / "share" / "keisei")


def read_recipe(name: str) -> Recipe:
    """Read a recipe by file name, or by the name of one that comes with the package.

    Raises:
        ConfigError: it does not exist, is no TOML, or has keys that nothing reads.
    """
    path = Path(name)
    try:
        if path.suffix == ".toml":
            text = path.read_text(encoding="utf-8")
        else:
            text = (resources.files("engine.train") / "recipes" / f"{name}.toml").read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise ConfigError(f"recipe {name!r}: {error}") from error
    unknown = set(table) - set(SECTIONS)
    if unknown:
        raise ConfigError(f"recipe {name!r}: unknown section {min(unknown)!r}")
    samples = dict(table.get("samples", {}))
    sources = tuple(fill(SourcePlan, source, "samples.sources") for source in samples.pop("sources", []))
    plan = fill(SamplePlan, samples | {"sources": sources, "exclude": tuple(samples.pop("exclude", ()))}, "samples")
    labels = dict(table.get("labels", {}))
    recipe = Recipe(
        name=str(table.get("name") or path.stem),
        samples=plan,
        net=dict(table.get("net", {})),
        loss=dict(table.get("loss", {})),
        train=fill(TrainPlan, table.get("train", {}), "train"),
        labels=fill(LabelPlan, labels | {"targets": tuple(labels.get("targets", ()))}, "labels"),
        selfplay=dict(table.get("selfplay", {})),
        loop=dict(table.get("loop", {})),
    )
    recipe.kind()
    return recipe
