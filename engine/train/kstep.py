"""The kind of net that predicts the next k moves (engine/nn/kstep.py), learnt from records alone.

A pass in a record is no target, since the net has no output for it. Source: Tian and Zhu 2016, section 2.3: the k
cross-entropies are weighted 1, 1/2, …, 1/k.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.errors import ConfigError

from .dataset import Batch
from .fill import try_out
from .plane_store import ShardError


class KStep:
    """See kinds.Kind. [net] holds the arguments of engine.nn.kstep.new_kstep_spec; [loss] is empty."""

    targets = ("next",)
    record_targets = ("next",)
    curves = ("top1_move1", "top1_move2", "top1_move3")

    def __init__(self, net: dict[str, Any], loss: dict[str, Any]) -> None:
        from engine.nn.kstep import new_kstep_spec

        known = [name for name in inspect.signature(new_kstep_spec).parameters if name != "name"]
        for section, table, keys in (("net", net, known), ("loss", loss, ["nothing"])):
            if surplus := [name for name in table if name not in keys]:
                raise ConfigError(f"[{section}] has no {surplus[0]!r}; there are {', '.join(keys)}")
        self.spec = try_out(new_kstep_spec, net, "net")
        self.net, self.next_moves = net, int(self.spec["steps"])
        self.encoding = str(self.spec["encoding"])

    def build(self, name: str, encoding: str) -> nn.Module:
        """Build the net of the recipe. The layers but the last start the same for every k."""
        from engine.nn.policy_value import build_module

        return build_module({**self.spec, "name": name}, trainable=True)

    def losses(self, outputs: Any, batch: Batch) -> dict[str, Tensor]:
        """Return the cross-entropy of each move, and "total": their sum, move n divided by n."""
        logits, moves = outputs.policy.float(), self._moves(outputs, batch)
        terms = {
            f"move{step + 1}": _mean(
                F.cross_entropy(logits[:, step], moves[:, step].clamp(min=0), reduction="none"), moves[:, step] >= 0
            )
            for step in range(moves.shape[1])
        }
        total = torch.stack([term / (step + 1) for step, term in enumerate(terms.values())]).sum()
        return {**terms, "total": total}

    def measures(self, outputs: Any, batch: Batch) -> dict[str, float]:
        """Return, for each move, how many are known and how often they were first or among the first five."""
        logits, moves = outputs.policy.float(), self._moves(outputs, batch)
        order = logits.topk(min(5, logits.shape[2]), dim=2).indices
        hits = (order == moves[:, :, None]) & (moves >= 0)[:, :, None]
        sums = {"positions": float(len(batch))}
        for step in range(moves.shape[1]):
            known = moves[:, step] >= 0
            loss = F.cross_entropy(logits[:, step], moves[:, step].clamp(min=0), reduction="none")
            sums |= {
                f"known_move{step + 1}": float(known.sum()),
                f"top1_move{step + 1}": float(hits[:, step, 0].sum()),
                f"top5_move{step + 1}": float(hits[:, step].sum()),
                f"loss_move{step + 1}": float((loss * known).sum()),
            }
        return sums

    def summarise(self, sums: dict[str, float]) -> dict[str, float]:
        """Turn sums into shares, and the losses into means."""
        means = {
            name: round(value / max(1.0, sums["known_" + name.split("_", 1)[1]]), 4)
            for name, value in sums.items()
            if name.startswith(("top", "loss"))
        }
        return means | {"positions": sums["positions"]}

    def write(self, net: nn.Module, path: Path, metadata: dict[str, Any]) -> None:
        """See export.write_net."""
        from .export import write_net

        write_net(net, path, metadata)

    def _moves(self, outputs: Any, batch: Batch) -> Tensor:
        """Return the k moves [B, k], -1 where unknown or a pass. Raises ShardError where the shards know fewer."""
        moves = batch.targets["next"]
        if moves.shape[1] < self.next_moves:
            raise ShardError(f"the shards hold {moves.shape[1]} next moves, the net predicts {self.next_moves}")
        moves = moves[:, : self.next_moves]
        return torch.where(moves < outputs.policy.shape[2], moves, -1)


def _mean(values: Tensor, known: Tensor) -> Tensor:
    return (values * known).sum() / known.sum().clamp(min=1)
