"""What a training run has to know of a kind of net, and the kinds there are. `[net] kind` of a recipe chooses one.

A kind makes the module and says what it learns from and how it is measured; run.py and train.py do the rest and know no
kind. To add one: a module with a class that has what `Kind` says, and a line in KINDS.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from torch import Tensor, nn

from engine.errors import ConfigError

if TYPE_CHECKING:
    from .dataset import Batch

KINDS = {
    "policy-value": "engine.train.policy_value:PolicyValue",
    "alphago-zero": "engine.train.alphagozero:AlphaGoZero",
    "k-step": "engine.train.kstep:KStep",
    "judgment": "engine.train.judgment:Judgment",
}


class Kind(Protocol):
    """A kind of net in training. Its state is its settings alone; the run owns module, optimiser and data."""

    targets: tuple[str, ...]  # what it can learn from (targets.TARGETS); a folder needs to hold at least one of them
    record_targets: tuple[str, ...]  # what `keisei label` writes without a teacher
    next_moves: int  # K, where `next` is among them
    encoding: str  # of the inputs, or "" where any encoding will do
    curves: tuple[str, ...]  # the measures that are drawn, shares first

    def __init__(self, net: dict[str, Any], loss: dict[str, Any]) -> None:
        """Take the recipe's sections [net] (without `kind`) and [loss]. Raises ConfigError."""
        ...

    def build(self, name: str, encoding: str) -> nn.Module:
        """Return the module, freshly initialised. Its forward takes spatial [B, C, H, W] and globals [B, G]."""
        ...

    def losses(self, outputs: Any, batch: Batch) -> dict[str, Tensor]:
        """Return the terms of the loss, unweighted, and "total", which is minimised."""
        ...

    def measures(self, outputs: Any, batch: Batch) -> dict[str, float]:
        """Return sums over a validation batch; "positions" is the number of its rows."""
        ...

    def summarise(self, sums: dict[str, float]) -> dict[str, float]:
        """Turn the sums of all validation batches into the figures that are logged."""
        ...

    def write(self, net: nn.Module, path: Path, metadata: dict[str, Any]) -> None:
        """Write a trained net (in evaluation mode) as a file that `keisei export` and `engine.nn.load_net` read."""
        ...


def make_kind(net: dict[str, Any], loss: dict[str, Any]) -> Kind:
    """Return the kind that a recipe's sections ask for.

    Raises:
        ConfigError: there is no such kind, or it refuses a key.
    """
    name = str(net.get("kind", "policy-value"))
    if name not in KINDS:
        raise ConfigError(f"[net] kind = {name!r}: there are {', '.join(KINDS)}")
    module, _, cls = KINDS[name].partition(":")
    kind: Kind = getattr(importlib.import_module(module), cls)({k: v for k, v in net.items() if k != "kind"}, loss)
    return kind
