"""The Leela Zero tower as a PyTorch module: residual blocks with the activation last, two small fully connected heads.

Works on 19x19 only. Rows run from the top here; leelazero_format.py turns the file's bottom-up weights round once.
Source: docs/nets.md §5; Silver et al. 2017 (AlphaGo Zero) for the architecture.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .blocks import Conv2d, Linear
from .raw_outputs import RawOutputs
from .spec import BLACK_TO_MOVE_PLANE, Spec


class LeelaZeroBlock(nn.Module):
    """relu(x + conv2(relu(conv1(x)))), batch norms folded into the convolutions."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = Conv2d(channels, channels, 3, padding=1)
        self.conv2 = Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + self.conv2(F.relu(self.conv1(x))))


class LeelaZeroNet(nn.Module):
    """A net of a leela-zero spec: spatial [B, 18, 19, 19] to RawOutputs with value [B, 1] before tanh.

    Version 2 files say the value for Black; forward turns it to the player to move by the turn plane.
    """

    def __init__(self, spec: Spec) -> None:
        super().__init__()
        self.spec = spec
        channels = spec["channels"]
        self.input_conv = Conv2d(18, channels, 3, padding=1)
        self.blocks = nn.ModuleList(LeelaZeroBlock(channels) for _ in range(spec["blocks"]))
        self.policy_conv = Conv2d(channels, 2, 1)
        self.policy_out = Linear(722, 362)
        self.value_conv = Conv2d(channels, 1, 1)
        self.value_hidden = Linear(361, 256)
        self.value_out = Linear(256, 1)

    def forward(self, spatial: Tensor, globals_: Tensor, meta: Tensor | None = None) -> RawOutputs:
        x = F.relu(self.input_conv(spatial))
        for block in self.blocks:
            x = block(x)
        policy = self.policy_out(F.relu(self.policy_conv(x)).flatten(1))
        value = self.value_out(F.relu(self.value_hidden(F.relu(self.value_conv(x)).flatten(1))))
        if self.spec["version"] == 2:
            value = value * (2.0 * spatial[:, BLACK_TO_MOVE_PLANE, 0, 0, None].to(value.dtype) - 1.0)
        empty = torch.zeros(spatial.shape[0], 0, device=spatial.device)
        return RawOutputs(policy[:, None, :], value, empty, empty)
