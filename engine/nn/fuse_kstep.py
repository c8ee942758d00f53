"""Rewrites a k-step net for evaluation on a CPU at one board size, as fuse.py does with policy/value nets."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .fuse import FusedConv, Size
from .kstep import ConvLayer, KStepNet
from .raw_outputs import RawOutputs


class FusedKStep(nn.Module):
    """What the net computes, norms folded and weights laid out for one size; the last layer works in float32."""

    def __init__(self, net: KStepNet, size: Size, dtype: torch.dtype) -> None:
        super().__init__()
        layers = [part for part in (net.first, *net.layers) if isinstance(part, ConvLayer)]
        self.body = nn.ModuleList(FusedConv(part.conv, part.norm, part.act, size, dtype) for part in layers)
        self.last = FusedConv(net.last, None, None, size, torch.float32)
        self.eval().requires_grad_(False)

    def forward(self, spatial: Tensor, globals_: Tensor, meta: Tensor | None = None) -> RawOutputs:
        x = spatial
        for layer in self.body:
            x = layer(x)
        empty = torch.zeros(spatial.shape[0], 0)
        return RawOutputs(self.last(x.float()).flatten(2), empty, empty, empty)
