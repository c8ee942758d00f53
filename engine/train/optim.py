"""The optimiser and the schedule: Muon for convolution and matrix weights, AdamW for everything else.

Source: Jordan et al. 2024 (Muon: the momentum matrix is replaced by the nearest orthogonal one, found by a
Newton-Schulz iteration); Liu et al. 2025 (scaling that makes its step as large as AdamW's).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn


def orthogonalise(matrix: Tensor, steps: int = 5) -> Tensor:
    """Return roughly the orthogonal factor of a matrix [m, n] (singular values between about 0.7 and 1.2)."""
    x: Tensor = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    x = x / (x.norm() + 1e-7)
    for _ in range(steps):
        square = x @ x.T
        x = 3.4445 * x + (2.0315 * square @ square - 4.7750 * square) @ x
    return x.T if matrix.shape[0] > matrix.shape[1] else x


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised. Weights of more than two dimensions count as [first, all others]."""

    def __init__(self, params: Iterable[nn.Parameter], lr: float, *, momentum: float = 0.95, decay: float = 0.0):
        super().__init__(params, {"lr": lr, "momentum": momentum, "decay": decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Take one step along the gradients."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if "momentum" not in state:
                    state["momentum"] = torch.zeros_like(parameter)
                state["momentum"].lerp_(parameter.grad, 1 - group["momentum"])
                update = parameter.grad.lerp(state["momentum"], group["momentum"]).flatten(1)
                scale = 0.2 * math.sqrt(max(update.shape))
                parameter.mul_(1 - group["lr"] * group["decay"])
                parameter.add_(orthogonalise(update).view_as(parameter), alpha=-group["lr"] * scale)


class Optimiser:
    """The optimisers of a net as one."""

    def __init__(self, net: nn.Module, kind: str, lr: float, decay: float, *, momentum: float = 0.9) -> None:
        """Make them.

        Args:
            net: a module whose parameters are trained.
            kind: "muon", "adamw" or "sgd".
            lr: learning rate at full speed, the same scale for Muon and AdamW; for SGD about 0.05.
            decay: decoupled weight decay of matrices and convolutions (for SGD the factor c of c‖θ‖²/2); other
                parameters have none.
            momentum: of SGD, Nesterov's.
        """
        matrices = [p for p in net.parameters() if p.ndim >= 2 and min(p.shape[0], p[0].numel()) > 1]
        known = {id(p) for p in matrices}
        others = [p for p in net.parameters() if id(p) not in known]
        self.parts: list[torch.optim.Optimizer]
        if kind == "muon":
            rest = torch.optim.AdamW(others, lr, betas=(0.9, 0.98), weight_decay=0.0)
            self.parts = [Muon(matrices, lr, decay=decay), rest]
        elif kind == "sgd":
            groups = [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
            self.parts = [torch.optim.SGD(groups, lr, momentum=momentum, nesterov=momentum > 0)]
        else:
            groups = [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
            self.parts = [torch.optim.AdamW(groups, lr, betas=(0.9, 0.98))]
        self.lr = lr

    def step(self, factor: float) -> None:
        """Take one step at `factor` times the learning rate."""
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = self.lr * factor
            part.step()

    def state(self) -> list[dict[str, Any]]:
        """Return the state of all parts."""
        return [part.state_dict() for part in self.parts]

    def restore(self, states: list[dict[str, Any]]) -> None:
        """Take over a saved state."""
        for part, state in zip(self.parts, states, strict=True):
            part.load_state_dict(state)


def schedule(step: int, steps: int, warmup: int, cooldown: float, shape: str = "linear") -> float:
    """Return the factor of the learning rate: linear warm-up, full speed, then down to zero over the last part.

    With such a shape a run can be prolonged or brought to its end early from any checkpoint before the cool-down.

    Args:
        step: number of the step, from 0.
        steps: of the whole run.
        warmup: steps of the warm-up.
        cooldown: share of the run, at its end.
        shape: of the fall: "linear", "cosine" (with cooldown = 1 the usual half wave), or "constant": none.
    """
    rise = min(1.0, (step + 1) / max(1, warmup))
    fall = max(0.0, min(1.0, (steps - step) / max(1.0, cooldown * steps)))
    if shape == "cosine":
        fall = 0.5 - 0.5 * math.cos(math.pi * fall)
    elif shape == "constant":
        fall = 1.0
    return max(0.0, min(rise, fall))
