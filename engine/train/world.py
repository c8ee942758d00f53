"""Several processes that train one net: who this one is, and the few things they have to agree on.

`torchrun --nproc-per-node N -m engine train …` starts them and sets RANK, WORLD_SIZE and LOCAL_RANK; alone, everything
here is a no-op. Gradients are averaged by torch's DistributedDataParallel; every rank draws its own part of the data
(dataset.Loader), keeps the same weights, and only rank 0 writes.
"""

from __future__ import annotations

import datetime
import gc
import os
from dataclasses import dataclass, field

import torch
import torch.distributed as dist
from torch import nn

from engine.errors import ConfigError


@dataclass(frozen=True, slots=True)
class World:
    """This process among those that train together."""

    rank: int = 0
    size: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @property
    def writes(self) -> bool:
        """Tell whether this process writes files and log lines."""
        return self.rank == 0

    def wrap(self, net: nn.Module) -> nn.Module:
        """Return the module whose gradients are averaged over all processes; its parameters are the net's own."""
        if self.size == 1:
            return net
        from torch.nn.parallel import DistributedDataParallel

        devices = [self.device.index] if self.device.type == "cuda" else None
        return DistributedDataParallel(net, device_ids=devices)

    def any(self, flag: bool) -> bool:
        """Tell whether the flag is set in any process; all have to ask."""
        if self.size == 1:
            return flag
        value = torch.tensor([float(flag)], device=self.device)
        dist.all_reduce(value, op=dist.ReduceOp.MAX)
        return bool(value.item())

    def mean(self, values: dict[str, float]) -> dict[str, float]:
        """Return the means over all processes; all have to ask, with the same names."""
        if self.size == 1 or not values:
            return values
        total = torch.tensor(list(values.values()), dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return dict(zip(values, (total / self.size).tolist(), strict=True))

    def agree(self, names: list[str]) -> list[str]:
        """Return what rank 0 has; all have to ask."""
        if self.size == 1:
            return names
        box: list[list[str] | None] = [names if self.rank == 0 else None]
        dist.broadcast_object_list(box, src=0)
        return box[0] or []

    def wait(self) -> None:
        """Wait until all processes are here."""
        if self.size > 1:
            dist.barrier()

    def leave(self) -> None:
        """Part from the others. What still holds the group, say a wrapped net in a cycle of references, goes first.

        Else its threads would outlive the interpreter, and one that then asks for its lock ends the process by abort.
        """
        if self.size > 1:
            dist.barrier()  # nobody ends while another still talks to it
            gc.collect()
            dist.destroy_process_group()

    def abandon(self) -> None:
        """Leave without waiting for the others, who may be anywhere: after an error. torchrun ends them then."""
        if self.size > 1 and self.device.type == "cpu":
            dist.destroy_process_group()


def choose_device(name: str) -> torch.device:
    """Return the device of a name: "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".

    Raises:
        ConfigError: there is no such device; nothing falls back silently.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"--device {name!r}: not auto, cpu, cuda or cuda:N") from None
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ConfigError(f"--device {name}: there are {torch.cuda.device_count()} CUDA devices")
    if device.type not in ("cpu", "cuda"):
        raise ConfigError(f"--device {name}: not auto, cpu, cuda or cuda:N")
    return device


def join_world(device_name: str) -> World:
    """Return this process's place: alone, or as torchrun's environment says (then the others are waited for).

    Raises:
        ConfigError: the device does not exist.
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return World(device=choose_device(device_name))
    if device_name in ("auto", "cuda") and torch.cuda.is_available():
        device_name = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    device = choose_device(device_name)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=datetime.timedelta(hours=1))
    return World(dist.get_rank(), dist.get_world_size(), device)
