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

import math
import os
import tomllib
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from engine.config import nearest
from engine.errors import ConfigError, WeightsError

from .fill import fill, is_weights
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


LIMITS = {
    "steps": (1, math.inf),
    "batch": (1, math.inf),
    "momentum": (0, 1),
    "learning_rate": (0, math.inf),
    "decay": (0, math.inf),
    "warmup": (0, math.inf),
    "cooldown": (0, 1),
    "clip": (0, math.inf),
    "ema": (0, 1),
    "simple_ko_share": (0, 1),
    "validate_every": (1, math.inf),
    "validate_positions": (1, math.inf),
    "save_minutes": (0, math.inf),
}


def is_size(text: str) -> bool:
    """Tell whether a word is a board size from 2 to 25."""
    return text.isascii() and text.isdigit() and 2 <= int(text) <= 25 and text == str(int(text))


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
        for name, (low, high) in LIMITS.items():
            if not low <= getattr(self, name) <= high:
                raise ConfigError(f"[train] {name} = {getattr(self, name)}: from {low:g} to {high:g}")
        if not is_weights(self.shares) or not all(is_size(size) for size in self.shares):
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
    except FileNotFoundError:
        known = [] if path.suffix == ".toml" else shipped_recipes()
        hint = f"{nearest(name, known)}; there are {', '.join(known)}, or a file NAME.toml" if known else ""
        raise ConfigError(f"recipe {name!r}: there is none{hint}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"recipe {name!r}: {error}") from error
    try:
        recipe = make_recipe(table, path.stem)
        recipe.kind()
    except ConfigError as error:
        raise ConfigError(f"recipe {name!r}: {error}") from error
    except WeightsError as error:
        raise ConfigError(f"recipe {name!r}: [net] {error}") from error
    return recipe


def shipped_recipes() -> list[str]:
    """Return the names of the recipes that come with the package."""
    files = (resources.files("engine.train") / "recipes").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def make_recipe(table: dict[str, Any], name: str) -> Recipe:
    """Make a recipe of what its file holds. Raises ConfigError."""
    for section, value in table.items():
        if section not in SECTIONS:
            raise ConfigError(f"unknown section {section!r}{nearest(section, SECTIONS)}")
        if not isinstance(value, str if section == "name" else dict):
            raise ConfigError(f"{section} is no {'text' if section == 'name' else 'section'}")
    samples, labels = dict(table.get("samples", {})), dict(table.get("labels", {}))
    sources = samples.pop("sources", [])
    if not isinstance(sources, list) or not all(isinstance(source, dict) for source in sources):
        raise ConfigError("[[samples.sources]] are tables with path and positions")
    for section, key, values in (("samples", "exclude", samples), ("labels", "targets", labels)):
        names = values.setdefault(key, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ConfigError(f"[{section}] {key} = {names!r}: a list of names")
        values[key] = tuple(names)
    samples["sources"] = tuple(fill(SourcePlan, source, "samples.sources") for source in sources)
    called = str(table.get("name") or name)
    if Path(called).name != called or called in (".", ".."):
        raise ConfigError(f"name = {called!r}: a name of a folder")
    return Recipe(
        name=called,
        samples=fill(SamplePlan, samples, "samples"),
        net=dict(table.get("net", {})),
        loss=dict(table.get("loss", {})),
        train=fill(TrainPlan, table.get("train", {}), "train"),
        labels=fill(LabelPlan, labels, "labels"),
        selfplay=dict(table.get("selfplay", {})),
        loop=dict(table.get("loop", {})),
    )
