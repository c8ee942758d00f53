"""How convolutions of an OpenVINO graph are computed: as they are, watched for the range of their inputs, or in int8.

In eight bits a layer's input has one scale, and each output channel's weights have one of their own. Input channels
that stay small are made larger before they are rounded and their weights smaller, by the root of how much smaller they
stay (as in Xiao et al., SmoothQuant, 2023), so that neither inputs nor weights lose their levels to one channel.
Which layers may be so: those of the blocks. Sums of residuals, the first layer and the heads stay in the graph's own
precision: there the error would go straight into the answer (docs/performance.md). The ranges are those of a net, not
of a board size, so graphs of all sizes are made from the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .int8 import Range, Ranges
from .openvino_ops import Array, Node, constant, convolve, ops, per_channel, whole

LEVELS = 256  # of activations; weights have 255, the same on both sides of 0
LEAST_SCALE = 0.01  # of a channel that is never or hardly used, beside the largest


class Layers:
    """Makes the convolutions of one graph.

    Args:
        ranges: layers to compute in eight bits, with the ranges of their inputs.
        watch: give the range of the inputs of every layer that might be, as further outputs of the graph.
    """

    def __init__(self, ranges: Ranges | None = None, *, watch: bool = False) -> None:
        self._ranges = ranges or {}
        self._watch = watch
        self._seen: dict[str, Node] = {}
        self._rounded: dict[tuple[int, Range], Node] = {}  # two layers may share an input

    def convolve(self, x: Node, weight: Array, bias: Array | None, dilation: Sequence[int], name: str) -> Node:
        """Return openvino_ops.convolve of the same arguments, in the way that was chosen for the layer."""
        if self._watch and in_blocks(name):
            self._seen[name] = x
        known = self._ranges.get(name)
        if known is None or len(known[1]) != weight.shape[1]:
            return convolve(x, weight, bias, dilation, name)
        weight = rounded_weight(weight * scales(known[1])[:, None, None], name)
        return convolve(self._round(x, known), weight, bias, dilation, name)

    def watched(self) -> list[Node]:
        """Return for each watched layer, in the order of `names`, two nodes: least input, largest absolute ones [C]."""
        found = []
        for x in self._seen.values():
            found += [ops.reduce_min(x, whole(range(4)), False), ops.reduce_max(ops.abs(x), whole([0, 2, 3]), False)]
        return found

    @property
    def names(self) -> list[str]:
        """Names of the watched layers."""
        return list(self._seen)

    def _round(self, x: Node, known: Range) -> Node:
        key = id(x), known
        if key not in self._rounded:
            self._rounded[key] = rounded(x, *known)
        return self._rounded[key]


def in_blocks(name: str) -> bool:
    """Tell whether a layer's name is that of one in the trunk's blocks (k-step nets: its layers)."""
    return name.startswith(("blocks.", "layers."))


def scales(peaks: Sequence[float]) -> Array:
    """Return by how much each channel's weights become smaller, 1 for the channel with the largest inputs."""
    largest = np.asarray(peaks, np.float64)
    found: Array = np.maximum(np.sqrt(largest / max(largest.max(), 1e-6)), LEAST_SCALE)
    return found


def rounded(x: Node, low: float, peaks: Sequence[float]) -> Node:
    """Divide channels by their scales and round to 256 levels: from 0 where nothing is negative, else around 0."""
    high = max(*peaks, 1e-6)
    bottom = 0.0 if low >= 0.0 else -high * 128 / 127
    scale = scales(peaks)
    return ops.fake_quantize(
        x, per_channel(bottom * scale), per_channel(high * scale), constant(bottom), constant(high), LEVELS
    )


def rounded_weight(weight: Array, name: str) -> Node:
    """Round weights [out, in, kh, kw] to 255 levels, a scale an output channel."""
    most = np.maximum(np.abs(weight).max(axis=(1, 2, 3), keepdims=True), 1e-12)
    ends = [constant(-most), constant(most)]
    return ops.fake_quantize(constant(weight, f"{name}/weight"), *ends, *ends, LEVELS - 1)
