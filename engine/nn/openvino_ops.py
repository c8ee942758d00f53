"""The few OpenVINO operations that nets are made of, over float32 constants, and the import of OpenVINO itself.

OpenVINO is optional; this module alone imports it. Its package would send a usage report when it is imported; that part
is kept out of the process before, in the way the package itself provides for (it does without where it is missing).
Everything here makes nodes of a graph for one board size; `openvino_graph.py` puts them together.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # importing it is an ImportError from now

import openvino as ov  # noqa: E402
from openvino import opset13 as ops  # noqa: E402

Array = NDArray[Any]
Node = Any  # openvino.Node or Output: the package has no types for them that hold

__all__ = ["Node", "core", "ops", "ov"]


@functools.cache
def core() -> Any:
    """Return the one openvino.Core of the process; it is never given back.

    The CPU plugin of a Core gives the thread that first uses it another stack for signals, and puts the one before back
    when the Core ends. Two Cores that do not end in the reverse order of their beginnings leave the thread a stack that
    is gone: the next signal with a handler (Ctrl-C) is then a segmentation fault (OpenVINO 2026.4).
    """
    return ov.Core()


def constant(value: Any, name: str = "") -> Node:
    """Return a float32 constant."""
    node = ops.constant(np.ascontiguousarray(value, dtype=np.float32))
    if name:
        node.set_friendly_name(name)
    return node


def whole(values: Sequence[int]) -> Node:
    """Return an int64 constant."""
    return ops.constant(np.array(list(values), dtype=np.int64))


def per_channel(vector: Array) -> Node:
    """Return a vector [C] as a constant [1, C, 1, 1]."""
    return constant(np.asarray(vector).reshape(1, -1, 1, 1))


def activate(x: Node, name: str) -> Node:
    """Apply the activation of that name (spec.ACTS)."""
    if name == "relu":
        return ops.relu(x)
    if name == "mish":
        return ops.mish(x)
    if name == "silu":
        return ops.swish(x)
    return x


def convolve(x: Node, weight: Array | Node, bias: Array | None, dilation: Sequence[int], name: str) -> Node:
    """Convolve with "same" padding; weight [out, in, kh, kw], an array or a node; bias [out]."""
    pads = [d * (k - 1) // 2 for d, k in zip(dilation, list(weight.shape)[2:], strict=True)]
    node = weight if not isinstance(weight, np.ndarray) else constant(weight, f"{name}/weight")
    node = ops.convolution(x, node, [1, 1], pads, pads, list(dilation))
    node.set_friendly_name(name)
    return node if bias is None else ops.add(node, per_channel(bias))


def linear(x: Node, weight: Array, bias: Array | None, name: str) -> Node:
    """Multiply vectors [B, in] or tokens [B, P, in] by weight [out, in] and add bias [out].

    Perf: vectors go through a 1x1 convolution: 20 us rather than 120 to 300 us a layer (b6, one thread, bf16,
    2026-11), because OpenVINO's fully connected layers wake a second thread every time. Tokens gain nothing by it.
    """
    if len(x.shape) == 2:
        y = convolve(reshape(x, [x.shape[0], -1, 1, 1]), weight[:, :, None, None], bias, (1, 1), name)
        return reshape(y, [x.shape[0], -1])
    node = ops.matmul(x, constant(weight, f"{name}/weight"), False, True)
    node.set_friendly_name(name)
    return node if bias is None else ops.add(node, constant(np.asarray(bias).reshape(1, -1)))


def scale_bias(x: Node, scale: Array, bias: Array) -> Node:
    """Multiply and add, a channel each, over [B, C, H, W]."""
    return ops.add(ops.multiply(x, per_channel(scale)), per_channel(bias))


def times(x: Node, factor: float) -> Node:
    """Multiply by a number."""
    return x if factor == 1.0 else ops.multiply(x, constant(factor))


def reshape(x: Node, shape: Sequence[int]) -> Node:
    """Reshape; -1 is worked out."""
    return ops.reshape(x, whole(shape), False)


def transpose(x: Node, order: Sequence[int]) -> Node:
    """Permute axes."""
    return ops.transpose(x, whole(order))


def joined(parts: Sequence[Node], axis: int) -> Node:
    """Concatenate."""
    return parts[0] if len(parts) == 1 else ops.concat(list(parts), axis)


def columns(x: Node, start: int, stop: int) -> Node:
    """Return x[..., start:stop]."""
    return ops.slice(x, whole([start]), whole([stop]), whole([1]), whole([-1]))


def unit_rms(x: Node, eps: float, axes: Sequence[int]) -> Node:
    """Divide by the root of the mean square over axes."""
    square = ops.reduce_mean(ops.power(x, constant(2.0)), whole(axes), True)
    return ops.multiply(x, ops.divide(constant(1.0), ops.sqrt(ops.add(square, constant(eps)))))


def mean_and_max(x: Node) -> tuple[Node, Node]:
    """Return the mean and maximum of [B, C, H, W] over the board, [B, C] each."""
    return ops.reduce_mean(x, whole([2, 3]), False), ops.reduce_max(x, whole([2, 3]), False)


def softplus(x: Node) -> Node:
    """Return log(1 + exp(x))."""
    return ops.softplus(x)
