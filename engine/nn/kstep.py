"""DarkForest's net: plain convolutions and k maps of logits, one for each of the next k moves.

No value, no score, no pass: what a pass is worth beside the points is said in postprocess.py. In training a batch norm
stands between a convolution and its ReLU, in evaluation one multiply-add, as in the other nets.
Source: Tian and Zhu 2016, "Better Computer Go Player with Neural Network and Long-term Prediction", section 2.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from ..errors import WeightsError
from ..evaluator import ENCODING_SHAPES
from .blocks import activation, conv, norm
from .new_spec import conv_spec
from .raw_outputs import RawOutputs
from .spec import Spec
from .spec_check import check_spec


def new_kstep_spec(
    *,
    channels: int = 384,
    steps: int = 3,
    layers: int = 12,
    first_channels: int = 92,
    first_kernel: int = 5,
    encoding: str = "darkforest-25",
    name: str = "",
) -> Spec:
    """Describe a net as the paper has it.

    Args:
        channels: width of all layers between the first and the last.
        steps: k, the moves predicted.
        layers: convolutions in all, the first and the last included; at least 3.
        first_channels, first_kernel: width and side of the first convolution; the others are 3x3.

    Raises: WeightsError where the sizes are out of bounds.
    """
    spec: Spec = {
        "family": "k-step",
        "name": name or f"kstep{steps}-{layers}x{channels}",
        "encoding": encoding,
        "version": 1,
        "input": conv_spec(first_kernel),
        "input_channels": first_channels,
        "channels": channels,
        "blocks": layers - 2,
        "steps": steps,
    }
    check_spec(spec)
    return spec


class ConvLayer(nn.Module):
    """relu(norm(conv(x)))."""

    def __init__(self, spec: Spec, c_in: int, c_out: int, trainable: bool) -> None:
        super().__init__()
        self.conv = conv(spec, c_in, c_out)
        self.norm = norm(c_out, trainable)
        self.act = activation("relu")

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.act(self.norm(self.conv(x)))
        return y


class KStepNet(nn.Module):
    """A net of a k-step spec, for any board size.

    Args of forward: spatial [B, planes, H, W], globals [B, 0], meta ignored.
    Returns: RawOutputs whose policy is [B, k, P], points alone: the next move, the answer to it, and so on; the other
    parts are empty.
    """

    def __init__(self, spec: Spec, *, trainable: bool = False) -> None:
        super().__init__()
        self.spec = spec
        planes, n_globals = ENCODING_SHAPES[spec["encoding"]]
        if n_globals:
            raise WeightsError(f"a k-step net takes no global inputs, {spec['encoding']} has {n_globals}")
        widths = [spec["input_channels"], *[spec["channels"]] * spec["blocks"]]
        self.first = ConvLayer(spec["input"], planes, widths[0], trainable)
        self.layers = nn.ModuleList(
            ConvLayer(conv_spec(), c_in, c_out, trainable) for c_in, c_out in pairwise(widths)
        )
        self.last = conv(conv_spec(), widths[-1], spec["steps"])

    def forward(self, spatial: Tensor, globals_: Tensor, meta: Tensor | None = None) -> RawOutputs:
        x = self.first(spatial)
        for layer in self.layers:
            x = layer(x)
        empty = torch.zeros(spatial.shape[0], 0, device=spatial.device)
        return RawOutputs(self.last(x).flatten(2), empty, empty, empty)


def initialise(net: KStepNet) -> None:
    """He initialisation; the last layer starts small, so that training begins from an even policy."""
    for part in net.modules():
        if isinstance(part, nn.Conv2d):
            nn.init.kaiming_normal_(part.weight, nonlinearity="relu")
    net.last.weight.data.mul_(0.1)
