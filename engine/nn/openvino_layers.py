"""How convolutions of an OpenVINO graph are computed: as they are, watched for the range of their inputs, or in int8.

In eight bits a layer's input has one scale, made from the range that calibration found, and each output channel's
weights have one of their own. Which layers may be so: those of the blocks. Sums of residuals, the first layer and the
heads stay in the graph's own precision: there the error would go straight into the answer (docs/performance.md).
The ranges are those of a net, not of a board size, so graphs of all sizes are made from the same few numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .openvino_ops import Array, Node, constant, convolve, ops, whole

LEVELS = 256  # of activations; weights have 255, the same on both sides of 0
Ranges = Mapping[str, tuple[float, float]]  # layer name to least and largest input


class Layers:
    """Makes the convolutions of one graph.

    Args:
        ranges: layers to compute in eight bits, with the ranges of their inputs.
        watch: give the least and largest input of every layer that might be, as further outputs of the graph.
    """

    def __init__(self, ranges: Ranges | None = None, *, watch: bool = False) -> None:
        self._ranges = ranges or {}
        self._watch = watch
        self._seen: dict[str, Node] = {}
        self._rounded: dict[tuple[int, float, float], Node] = {}  # two layers may share an input

    def convolve(self, x: Node, weight: Array, bias: Array | None, dilation: Sequence[int], name: str) -> Node:
        """Return openvino_ops.convolve of the same arguments, in the way that was chosen for the layer."""
        if self._watch and in_blocks(name):
            self._seen[name] = x
        if name not in self._ranges:
            return convolve(x, weight, bias, dilation, name)
        return convolve(self._round(x, *self._ranges[name]), rounded_weight(weight, name), bias, dilation, name)

    def watched(self) -> list[Node]:
        """Return for each watched layer, in the order of `names`, two nodes: least and largest input [B]."""
        found = []
        for x in self._seen.values():
            axes = whole([1, 2, 3])
            found += [ops.reduce_min(x, axes, False), ops.reduce_max(x, axes, False)]
        return found

    @property
    def names(self) -> list[str]:
        """Names of the watched layers."""
        return list(self._seen)

    def _round(self, x: Node, low: float, high: float) -> Node:
        key = id(x), low, high
        if key not in self._rounded:
            self._rounded[key] = rounded(x, low, high)
        return self._rounded[key]


def in_blocks(name: str) -> bool:
    """Tell whether a layer's name is that of one in the trunk's blocks (k-step nets: its layers)."""
    return name.startswith(("blocks.", "layers."))


def rounded(x: Node, low: float, high: float) -> Node:
    """Round to 256 levels: from 0 where nothing is negative, else the same on both sides of 0."""
    if low >= 0.0:
        low, high = 0.0, max(high, 1e-6)
    else:
        high = max(high, -low * 127 / 128)
        low = -high * 128 / 127
    ends = [constant(low), constant(high)]
    return ops.fake_quantize(x, *ends, *ends, LEVELS)


def rounded_weight(weight: Array, name: str) -> Node:
    """Round weights [out, in, kh, kw] to 255 levels, a scale an output channel."""
    most = np.maximum(np.abs(weight).max(axis=(1, 2, 3), keepdims=True), 1e-12)
    ends = [constant(-most), constant(most)]
    return ops.fake_quantize(constant(weight, f"{name}/weight"), *ends, *ends, LEVELS - 1)
