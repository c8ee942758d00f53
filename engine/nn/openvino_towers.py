"""Plain towers as OpenVINO nodes: Leela Zero's, AlphaGo Zero's and DarkForest's nets, activation last.

What they compute is in leelazero_net.py, alphagozero_net.py and kstep.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .openvino_ops import Node, constant, linear, ops, reshape, times, whole
from .openvino_outputs import RawNodes
from .spec import BLACK_TO_MOVE_PLANE, Spec

if TYPE_CHECKING:
    from .openvino_graph import Weights

Layer = Callable[[Node, str], Node]


def leela_zero(spec: Spec, weights: Weights, spatial: Node) -> RawNodes:
    """Return the raw outputs of a Leela Zero net."""

    def layer(x: Node, name: str) -> Node:
        part = weights.at(name)
        return weights.layers.convolve(x, part["weight"], part["bias"], (1, 1), name)

    x = ops.relu(layer(spatial, "input_conv"))
    for i in range(spec["blocks"]):
        y = ops.relu(layer(x, f"blocks.{i}.conv1"))
        x = ops.relu(ops.add(layer(y, f"blocks.{i}.conv2"), x))
    raw = heads(x, weights, layer)
    if spec["version"] == 1:
        return raw
    batch, plane = spatial.shape[0], BLACK_TO_MOVE_PLANE  # version 2 says the value for Black
    begin, end = [0, plane, 0, 0], [batch, plane + 1, 1, 1]
    black = reshape(ops.slice(spatial, *map(whole, (begin, end, [1] * 4, range(4)))), [batch, 1])
    return raw._replace(value=ops.multiply(raw.value, ops.subtract(times(black, 2.0), constant(1.0))))


def alphago_zero(spec: Spec, weights: Weights, spatial: Node) -> RawNodes:
    """Return the raw outputs of an AlphaGo Zero net; norms go into the convolutions before them."""

    def layer(x: Node, name: str) -> Node:
        part = weights.at(name)
        weight = part["conv.weight"] * part["norm.scale"][:, None, None, None]
        return weights.layers.convolve(x, weight, part["norm.bias"], (1, 1), name)

    x = ops.relu(layer(spatial, "input"))
    for i in range(spec["blocks"]):
        y = ops.relu(layer(x, f"blocks.{i}.first"))
        x = ops.relu(ops.add(layer(y, f"blocks.{i}.second"), x))
    return heads(x, weights, layer)


def heads(x: Node, weights: Weights, layer: Layer) -> RawNodes:
    """Return policy logits [B, 1, A] and value [B, 1] before tanh: a 1x1 convolution each, then full layers."""
    batch = x.shape[0]

    def matrix(x: Node, name: str) -> Node:
        return linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"], name)

    policy = matrix(reshape(ops.relu(layer(x, "policy_conv")), [batch, -1]), "policy_out")
    hidden = ops.relu(matrix(reshape(ops.relu(layer(x, "value_conv")), [batch, -1]), "value_hidden"))
    return RawNodes(reshape(policy, [batch, 1, -1]), matrix(hidden, "value_out"), None, None)


def k_step(spec: Spec, weights: Weights, spatial: Node) -> RawNodes:
    """Return the raw outputs of a k-step net: a policy of points alone; norms go into the convolutions."""
    x = spatial
    for name in ["first", *(f"layers.{i}" for i in range(spec["blocks"]))]:
        part = weights.at(name)
        weight = part["conv.weight"] * part["norm.scale"][:, None, None, None]
        dilation = spec["input"]["dilation"] if name == "first" else (1, 1)
        x = ops.relu(weights.layers.convolve(x, weight, part["norm.bias"], dilation, name))
    logits = weights.layers.convolve(x, weights["last.weight"], None, (1, 1), "last")
    return RawNodes(reshape(logits, [spatial.shape[0], spec["steps"], -1]), None, None, None)


TOWERS = {"leela-zero": leela_zero, "alphago-zero": alphago_zero, "k-step": k_step}
