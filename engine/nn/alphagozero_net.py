"""AlphaGo Zero's net, which is also the move net of its patent: a residual tower and two heads with full layers.

One convolution, then residual blocks of two, batch norm and ReLU after each; a policy head and a value head end in
fully connected layers, so a net plays on one board size. Source: Silver et al. 2017, "Mastering the game of Go without
human knowledge", Methods (19 or 39 blocks of 256 channels); docs/nets.md for the planes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..evaluator import ENCODING_SHAPES
from .blocks import Linear, conv, he_initialise, norm
from .new_spec import conv_spec
from .raw_outputs import RawOutputs
from .spec import Spec


class ConvNorm(nn.Module):
    """A convolution, its norm, and a ReLU unless the block's sum comes first."""

    def __init__(self, c_in: int, c_out: int, kernel: int, trainable: bool, *, relu: bool = True) -> None:
        super().__init__()
        self.conv = conv(conv_spec(kernel), c_in, c_out)
        self.norm = norm(c_out, trainable)
        self.act: nn.Module | None = nn.ReLU() if relu else None

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.norm(self.conv(x))
        return y if self.act is None else self.act(y)


class ResidualBlock(nn.Module):
    """relu(x + second(first(x)))."""

    def __init__(self, channels: int, trainable: bool) -> None:
        super().__init__()
        self.first = ConvNorm(channels, channels, 3, trainable)
        self.second = ConvNorm(channels, channels, 3, trainable, relu=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.second(self.first(x)))


class AlphaGoZeroNet(nn.Module):
    """A net of an alphago-zero spec: spatial [B, C, H, W] to RawOutputs with value [B, 1] before tanh.

    Global inputs are not looked at; score and ownership are empty.
    """

    def __init__(self, spec: Spec, *, trainable: bool = False) -> None:
        super().__init__()
        self.spec = spec
        planes, _ = ENCODING_SHAPES[spec["encoding"]]
        channels, points = spec["channels"], spec["size"][0] * spec["size"][1]
        self.input = ConvNorm(planes, channels, 3, trainable)
        self.blocks = nn.ModuleList(ResidualBlock(channels, trainable) for _ in range(spec["blocks"]))
        self.policy_conv = ConvNorm(channels, spec["policy_channels"], 1, trainable)
        self.policy_out = Linear(spec["policy_channels"] * points, points + 1)
        self.value_conv = ConvNorm(channels, spec["value_channels"], 1, trainable)
        self.value_hidden = Linear(spec["value_channels"] * points, spec["value_hidden"])
        self.value_out = Linear(spec["value_hidden"], 1)

    def forward(self, spatial: Tensor, globals_: Tensor, meta: Tensor | None = None) -> RawOutputs:
        x = self.input(spatial)
        for block in self.blocks:
            x = block(x)
        return self.heads(self.policy_conv(x), self.value_conv(x))

    def heads(self, policy_maps: Tensor, value_maps: Tensor) -> RawOutputs:
        """Return what the fully connected layers make of the heads' maps."""
        kind = self.policy_out.weight.dtype
        policy = self.policy_out(policy_maps.to(kind).flatten(1))
        value = self.value_out(torch.relu(self.value_hidden(value_maps.to(kind).flatten(1))))
        empty = policy.new_zeros(len(policy), 0)
        return RawOutputs(policy[:, None, :], value, empty, empty)

    def initialise(self) -> None:
        """Set weights to train from: He; the norm that ends a block and the last layers small."""
        he_initialise(self)
        damp = (2.0 * max(1, len(self.blocks))) ** -0.5
        for block in self.blocks:
            assert isinstance(block, ResidualBlock)
            block.second.conv.weight.data.mul_(damp)
        self.policy_out.weight.data.mul_(0.1)
        self.value_out.weight.data.mul_(0.1)
