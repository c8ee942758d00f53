"""The kind of net that judges: it learns classes of points and the patent's g, and from teachers' ownership.

[net] holds the sizes of a new net (engine.nn.spec.new_net_spec, head_channels), or `start`: a net file or shipped net,
playing or judging, whose trunk and ownership the net begins with; `deeper` puts so many more blocks behind its own. A
start wants `norm = "affine"`: batch statistics of another net's activations are not known.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.errors import ConfigError

from .dataset import Batch
from .fill import fill
from .judgment_targets import OWNER_OF, PointClass

_OWNER = torch.from_numpy(OWNER_OF)
DEAD = (PointClass.OWN_DEAD, PointClass.OTHER_DEAD)
SEKI = (PointClass.OWN_SEKI, PointClass.OTHER_SEKI)


@dataclass(frozen=True, slots=True)
class JudgmentWeights:
    """The weights of the terms of the loss."""

    territory: float = 1.0  # squared error of g, the patent's loss
    stones: float = 1.0  # cross-entropy of the owner of stones' points: dead or not
    points: float = 1.0  # the same of empty points
    seki: float = 0.3
    taught: float = 1.0  # cross-entropy of the owner with a teacher's ownership, where nothing better is known
    dead_stones: float = 4.0  # how much more a dead stone counts than a living one


class Judgment:
    """See kinds.Kind."""

    targets = ("point_class", "territory", "ownership", "final_ownership")
    record_targets = ("final_ownership",)
    next_moves = 1
    curves = ("boards_right", "dead_right", "points_right")

    def __init__(self, net: dict[str, Any], loss: dict[str, Any]) -> None:
        from engine.nn.new_spec import new_net_spec

        known = [name for name in inspect.signature(new_net_spec).parameters if name != "name"]
        known += ["head_channels", "start", "deeper"]
        if surplus := [name for name in net if name not in known]:
            raise ConfigError(f"[net] has no {surplus[0]!r}; there are {', '.join(known)}")
        if "deeper" in net and ("start" not in net or type(net["deeper"]) is not int):
            raise ConfigError("[net] deeper: a number of blocks, more than the start has")
        if "start" in net and set(net) - {"start", "encoding", "deeper"}:
            raise ConfigError("[net] start: the sizes are those of the net that it begins with")
        self.net, self.weights = net, fill(JudgmentWeights, loss, "loss")
        self.encoding = str(net.get("encoding", ""))

    def build(self, name: str, encoding: str) -> nn.Module:
        """Build the net, afresh or from its start. Raises WeightsError, ConfigError."""
        from engine.nn.judgment import JudgmentNet, deepened, judgment_spec, of_trunk, start_from
        from engine.nn.policy_value import build_module

        if "start" not in self.net:
            spec = judgment_spec(**{"name": name, **self.net, "encoding": encoding})
            return build_module(spec, trainable=True)
        from engine.nn.catalog import find
        from engine.nn.net import load_net

        start = load_net(find(str(self.net["start"])))
        spec = start.spec if start.spec["family"] == "judgment" else of_trunk(start.spec)
        spec = deepened(spec, int(self.net.get("deeper", 0)))
        if spec["encoding"] != encoding:
            raise ConfigError(f"[net] start takes {spec['encoding']}, the shards hold {encoding}")
        net = build_module({**spec, "name": name}, trainable=True)
        assert isinstance(net, JudgmentNet)
        start_from(net, start.tensors)
        return net

    def losses(self, outputs: Tensor, batch: Batch) -> dict[str, Tensor]:
        """Return the terms for raw maps [B, 5, P]; each is a mean over the points about which it is known."""
        maps, weights = outputs.float(), self.weights
        classes = _target(batch, "point_class", maps)
        log_owner = F.log_softmax(maps[:, 1:4], dim=1)
        known = classes >= 0
        owner = _OWNER.to(maps.device)[classes.clamp(min=0)]
        surprise = -log_owner.gather(1, owner[:, None])[:, 0]
        stone = known & (classes < PointClass.OWN_POINT)
        share = torch.where(_among(classes, DEAD), weights.dead_stones, 1.0) * stone
        territory = _target(batch, "territory", maps)
        valued = ~territory.isnan()
        error = (torch.tanh(maps[:, 0]) - torch.where(valued, territory, 0.0)) ** 2
        seki = F.binary_cross_entropy_with_logits(maps[:, 4], _among(classes, SEKI).float(), reduction="none")
        taught = _taught(batch, maps)
        told = ~taught.isnan() & ~known
        half = torch.where(told, (1 + taught) / 2, 0.5)
        terms = {
            "territory": _mean(error, valued),
            "stones": _mean(surprise, share),
            "points": _mean(surprise, known & ~stone),
            "seki": _mean(seki, stone),
            "taught": _mean(-(half * log_owner[:, 0] + (1 - half) * log_owner[:, 1]), told),
        }
        terms["total"] = torch.stack([getattr(weights, name) * term for name, term in terms.items()]).sum()
        return terms

    def measures(self, outputs: Tensor, batch: Batch) -> dict[str, float]:
        """Return sums: boards, stones and points, and how many of them the net calls rightly, each point by itself."""
        maps = outputs.float()
        classes = _target(batch, "point_class", maps)
        right = maps[:, 1:4].argmax(dim=1) == _OWNER.to(maps.device)[classes.clamp(min=0)]
        stone = (classes >= 0) & (classes < PointClass.OWN_POINT)
        dead, empty = _among(classes, DEAD), classes >= PointClass.OWN_POINT
        boards = stone.any(dim=1)
        territory = _target(batch, "territory", maps)
        sums = {
            "positions": torch.tensor(float(len(maps))),
            "boards": boards.sum(),
            "boards_right": (boards & ~(stone & ~right).any(dim=1)).sum(),
            "stones": stone.sum(),
            "stones_right": (stone & right).sum(),
            "dead": dead.sum(),
            "dead_right": (dead & right).sum(),
            "points": empty.sum(),
            "points_right": (empty & right).sum(),
            "valued": (~territory.isnan()).sum(),
            "g_error": ((torch.tanh(maps[:, 0]) - territory) ** 2).nansum(),
            "owned": (~_taught(batch, maps).isnan()).sum(),
            "taught_error": ((maps[:, 1:3].softmax(dim=1)[:, 0] * 2 - 1) - _taught(batch, maps)).abs().nansum(),
        }
        return {name: float(value) for name, value in sums.items()}

    def summarise(self, sums: dict[str, float]) -> dict[str, float]:
        """Turn sums into shares that are right, the mean squared error of g, and the mean distance from a teacher."""
        counts = {"boards_right": "boards", "stones_right": "stones", "dead_right": "dead", "points_right": "points",
                  "g_error": "valued", "taught_error": "owned"}  # fmt: skip
        means = {name: sums[name] / sums[count] for name, count in counts.items() if sums[count]}
        return {name: round(value, 4) for name, value in means.items()} | {"positions": sums["positions"]}

    def write(self, net: nn.Module, path: Path, metadata: dict[str, Any]) -> None:
        """See export.write_net."""
        from .export import write_net

        write_net(net, path, metadata)


def _target(batch: Batch, name: str, maps: Tensor) -> Tensor:
    """Return a target [B, P], unknown everywhere where the folder has none."""
    if name in batch.targets:
        return batch.targets[name]
    shape = maps.shape[0], maps.shape[2]
    if name == "point_class":
        return torch.full(shape, -1, dtype=torch.int64, device=maps.device)
    return torch.full(shape, torch.nan, device=maps.device)


def _taught(batch: Batch, maps: Tensor) -> Tensor:
    """Return the owner of each point [B, P] in [-1, 1], a teacher's or else the record's end; NaN unknown."""
    taught, final = (_target(batch, name, maps) for name in ("ownership", "final_ownership"))
    return torch.where(taught.isnan(), final, taught)


def _among(classes: Tensor, names: tuple[PointClass, ...]) -> Tensor:
    return torch.stack([classes == int(name) for name in names]).any(dim=0)


def _mean(values: Tensor, weights: Tensor) -> Tensor:
    """Return the weighted mean of [B, P]; 0 where all weights are."""
    share = weights.float()
    return (values * share).sum() / share.sum().clamp(min=1.0)
