"""The kind of net of AlphaGo Zero and its patent: learns a search's visits (pi) and the result (z), nothing else.

Loss: (z - v)^2 - pi log p + c |theta|^2. The last term is the optimiser's decay of the weights: with `optimiser =
"sgd"` exactly (decay = 2c), with the others decoupled from the gradient. Source: Silver et al. 2017, equation 1.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.errors import ConfigError

from .fill import fill, try_out

if TYPE_CHECKING:
    from .dataset import Batch


@dataclass(frozen=True, slots=True)
class ZeroWeights:
    """The weights of the two terms; the paper's are equal."""

    policy: float = 1.0
    value: float = 1.0


class AlphaGoZero:
    """See kinds.Kind. [net] holds the arguments of engine.nn.new_spec.new_alphagozero_spec, [loss] ZeroWeights's."""

    targets = ("search_policy", "z")
    record_targets: tuple[str, ...] = ()
    curves = ("top1_search", "winner", "policy_loss", "value_loss")
    next_moves = 1

    def __init__(self, net: dict[str, Any], loss: dict[str, Any]) -> None:
        from engine.nn.new_spec import new_alphagozero_spec

        known = [name for name in inspect.signature(new_alphagozero_spec).parameters if name != "name"]
        if surplus := [name for name in net if name not in known]:
            raise ConfigError(f"[net] has no {surplus[0]!r}; there are {', '.join(known)}")
        if net:  # a recipe of labels alone has none
            try_out(new_alphagozero_spec, net, "net")
        self.net, self.weights = net, fill(ZeroWeights, loss, "loss")
        self.encoding = str(net.get("encoding", "alphagozero-17"))

    def build(self, name: str, encoding: str) -> nn.Module:
        """Build the net of the recipe. Raises WeightsError where its sizes are out of bounds."""
        from engine.nn.new_spec import new_alphagozero_spec
        from engine.nn.policy_value import build_module

        return build_module(new_alphagozero_spec(**{"name": name, **self.net, "encoding": encoding}), trainable=True)

    def losses(self, outputs: Any, batch: Batch) -> dict[str, Tensor]:
        """Return the terms over the positions whose visits and result are known."""
        policy, value, _ = _terms(outputs, batch)
        terms = {"policy": policy.mean(), "value": value.mean()}
        terms["total"] = self.weights.policy * terms["policy"] + self.weights.value * terms["value"]
        return terms

    def measures(self, outputs: Any, batch: Batch) -> dict[str, float]:
        """Return sums: losses, the search's first choice found, the winner told."""
        policy, value, v = _terms(outputs, batch)
        pi, z = batch.targets["search_policy"], batch.targets["z"]
        decided = z.abs() > 0.5
        sums: dict[str, Tensor | float] = {
            "positions": float(len(z)),
            "decided": decided.sum(),
            "policy_loss": policy.sum(),
            "entropy": -torch.special.xlogy(pi, pi).sum(),
            "value_loss": value.sum(),
            "top1_search": (outputs.policy[:, 0].float().argmax(dim=1) == pi.argmax(dim=1)).sum(),
            "winner": ((v * z > 0) & decided).sum(),
        }
        return {name: float(value) for name, value in sums.items()}

    def summarise(self, sums: dict[str, float]) -> dict[str, float]:
        """Turn sums into means; `winner` is the share of decided games whose winner the value tells."""
        n = max(1.0, sums["positions"])
        means = {name: round(value / n, 4) for name, value in sums.items() if name not in ("positions", "decided")}
        return means | {
            "winner": round(sums["winner"] / max(1.0, sums["decided"]), 4),
            "positions": sums["positions"],
        }

    def write(self, net: nn.Module, path: Path, metadata: dict[str, Any]) -> None:
        """See export.write_net."""
        from .export import write_net

        write_net(net, path, metadata)


def _terms(outputs: Any, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Return policy loss [B], value loss [B] and value [B]."""
    pi, z = batch.targets["search_policy"], batch.targets["z"]
    v = torch.tanh(outputs.value[:, 0].float())
    policy = -(pi * torch.log_softmax(outputs.policy[:, 0].float(), dim=1)).sum(dim=1)
    return policy, F.mse_loss(v, z, reduction="none"), v
