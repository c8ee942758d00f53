"""The kind of net that plays: policy, value, score and ownership, learnt from a teacher, from records, or from both."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from engine.errors import ConfigError

from .dataset import Batch
from .fill import fill, try_out
from .losses import COUNTS, LossWeights, losses, measures
from .targets import RECORD_TARGETS, TEACHER_TARGETS


class PolicyValue:
    """See kinds.Kind. [net] holds the arguments of engine.nn.spec.new_net_spec, [loss] those of LossWeights."""

    targets = (*TEACHER_TARGETS, *RECORD_TARGETS)
    record_targets = RECORD_TARGETS
    curves = ("top1_teacher", "top1_played", "value_error")
    next_moves = 1

    def __init__(self, net: dict[str, Any], loss: dict[str, Any]) -> None:
        from engine.nn.new_spec import new_net_spec

        known = [name for name in inspect.signature(new_net_spec).parameters if name != "name"]
        if surplus := [name for name in net if name not in known]:
            raise ConfigError(f"[net] has no {surplus[0]!r}; there are {', '.join(known)}")
        if net:  # a recipe of labels alone has none
            try_out(new_net_spec, net, "net")
        self.net, self.weights = net, fill(LossWeights, loss, "loss")
        self.encoding = str(net.get("encoding", ""))

    def build(self, name: str, encoding: str) -> nn.Module:
        """Build the net of the recipe. Raises WeightsError where its sizes are out of bounds."""
        from engine.nn.new_spec import new_net_spec
        from engine.nn.policy_value import build_module

        return build_module(new_net_spec(**{"name": name, **self.net, "encoding": encoding}), trainable=True)

    def losses(self, outputs: Any, batch: Batch) -> dict[str, Tensor]:
        """See losses.losses."""
        return losses(outputs, batch, self.weights)

    def measures(self, outputs: Any, batch: Batch) -> dict[str, float]:
        """See losses.measures."""
        return measures(outputs, batch)

    def summarise(self, sums: dict[str, float]) -> dict[str, float]:
        """Turn sums into shares, the root mean square error of the value, and mean absolute errors of the rest."""
        means = {name: sums[name] / sums[count] for name, count in COUNTS.items() if sums[count]}
        if "value_error" in means:
            means["value_error"] **= 0.5
        return {name: round(value, 4) for name, value in means.items()} | {"positions": sums["positions"]}

    def write(self, net: nn.Module, path: Path, metadata: dict[str, Any]) -> None:
        """See export.write_net."""
        from .export import write_net

        write_net(net, path, metadata)
