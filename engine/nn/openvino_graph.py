"""Builds the OpenVINO graph of a net from its spec and tensors, for one board size and batch, without PyTorch.

What does not depend on the position is worked out here, in float64: norms go into the weights of the layer beside them,
pooling and RoPE become constants of the board size, rotated pairs become halves, the row of a metadata encoder becomes
a bias. The graph takes "spatial" [B, planes, H, W] and, where the encoding has any, "globals" [B, G], both float32, and
gives one packed row a position (openvino_outputs.py; judgment nets: their maps). Layers are named as their tensors are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..evaluator import ENCODING_SHAPES
from .openvino_attention import attention, feed_forward
from .openvino_layers import Layers
from .openvino_ops import (
    Array,
    Node,
    activate,
    columns,
    constant,
    joined,
    linear,
    mean_and_max,
    ops,
    ov,
    reshape,
    scale_bias,
    times,
    transpose,
    unit_rms,
    whole,
)
from .openvino_outputs import RawNodes, packed
from .openvino_towers import TOWERS
from .spec import Spec

PLAIN = (1, 1)
FAMILIES = {"policy-value", "judgment", *TOWERS}  # of nets that have a graph here


class Weights:
    """The tensors of a net, by a prefix, and how the convolutions that take them are computed."""

    def __init__(self, tensors: Mapping[str, Array], layers: Layers, prefix: str = "") -> None:
        self._tensors = tensors
        self.layers = layers
        self.prefix = prefix

    def __getitem__(self, name: str) -> Array:
        return np.asarray(self._tensors[self.prefix + name], dtype=np.float64)

    def at(self, name: str) -> Weights:
        """Return the tensors of a part."""
        return Weights(self._tensors, self.layers, f"{self.prefix}{name}.")


class Trunk:
    """The features between two blocks, as maps [B, C, H, W] or as tokens [B, P, C], whichever was asked for last."""

    def __init__(self, node: Node, batch: int, size: tuple[int, int]) -> None:
        self._node, self._tokens = node, False
        self.batch, self.size = batch, size

    def maps(self) -> Node:
        """Return them as [B, C, H, W]."""
        if self._tokens:
            channels = self._node.shape[2]
            self._node = transpose(reshape(self._node, [self.batch, *self.size, channels]), [0, 3, 1, 2])
            self._tokens = False
        return self._node

    def tokens(self) -> Node:
        """Return them as [B, P, C]."""
        if not self._tokens:
            channels, points = self._node.shape[1], self.size[0] * self.size[1]
            self._node = reshape(transpose(self._node, [0, 2, 3, 1]), [self.batch, points, channels])
            self._tokens = True
        return self._node

    def take(self, node: Node) -> None:
        """Replace them by a node of the form that was asked for last."""
        self._node = node


def build_model(
    spec: Spec,
    tensors: Mapping[str, Array],
    *,
    width: int,
    height: int,
    batch: int,
    optimism: float = 0.0,
    meta: Array | None = None,
    layers: Layers | None = None,
) -> ov.Model:
    """Return the model of a net.

    Args:
        optimism: share of the optimistic policy.
        meta: the metadata row [192] of nets that have such an encoder.
        layers: how convolutions are computed, where some are in eight bits or watched; a new one for each graph.
    """
    planes, n_globals = ENCODING_SHAPES[spec["encoding"]]
    spatial = ops.parameter([batch, planes, height, width], np.float32, "spatial")
    inputs, globals_ = [spatial], None
    if n_globals:
        globals_ = ops.parameter([batch, n_globals], np.float32, "globals")
        inputs.append(globals_)
    layers = layers or Layers()
    weights = Weights(tensors, layers)
    if spec["family"] == "judgment":
        row = judgment_row(spec["head"], weights.at("judgment_head"), trunk_of(spec, weights, spatial, globals_, None))
    else:
        if spec["family"] in TOWERS:
            raw = TOWERS[spec["family"]](spec, weights, spatial)
        else:
            x = trunk_of(spec, weights, spatial, globals_, meta)
            policy = policy_head(spec["policy"], weights.at("policy_head"), x)
            raw = RawNodes(policy, *value_head(spec["value"], weights.at("value_head"), x))
        row = packed(spec, raw, globals_, optimism)
    for node in inputs:
        node.output(0).get_tensor().set_names({node.get_friendly_name()})
    return ov.Model([row, *layers.watched()], inputs, spec["name"] or "net")


def trunk_of(spec: Spec, weights: Weights, spatial: Node, globals_: Node | None, meta: Array | None) -> Node:
    """Return what the heads of a policy-value or judgment net read, [B, C, H, W]."""
    batch, _, height, width = spatial.shape
    x = conv(spatial, spec["input"], weights.at("input_conv"))
    if globals_ is not None:
        bias = linear(globals_, weights["input_globals.weight"], None, "input_globals")
        if spec.get("meta") and meta is not None:
            bias = ops.add(bias, constant(metadata_bias(spec["meta"], weights.at("meta_encoder"), meta)[None]))
        x = ops.add(x, reshape(bias, [batch, -1, 1, 1]))
    trunk = Trunk(x, batch, (height, width))
    for i, block in enumerate(spec["blocks"]):
        add_block(trunk, block, weights.at(f"blocks.{i}"))
    x, tip, norm = trunk.maps(), spec["tip"], weights.at("tip_norm")
    if tip["norm"] == "rmsnorm":
        x = unit_rms(x, tip["eps"], [1, 2, 3] if tip["spatial"] else [1])
    return activate(scale_bias(x, norm["scale"], norm["bias"]), tip["act"])


def conv(x: Node, layer: Spec, weights: Weights, scale: Array | None = None, bias: Array | None = None) -> Node:
    """Convolve, scaled and shifted by channel where that is given."""
    weight = weights["weight"]
    if scale is not None:
        weight = weight * scale[:, None, None, None]
    name = weights.prefix.removesuffix(".")
    return weights.layers.convolve(x, weight, bias, layer["dilation"], name)


def metadata_bias(spec: Spec, weights: Weights, meta: Array) -> Array:
    """Return the bias of the trunk [C] that a metadata row stands for."""
    x = np.asarray(meta, dtype=np.float64)
    for name, act in zip(("linear1", "linear2"), spec["acts"], strict=True):
        x = numpy_act(weights[f"{name}.weight"] @ x + weights[f"{name}.bias"], act)
    return np.asarray(weights["linear3.weight"] @ x)


def numpy_act(x: Array, act: str) -> Array:
    """Apply an activation to an array."""
    if act == "relu":
        return np.maximum(x, 0.0)
    if act == "silu":
        return np.asarray(x / (1.0 + np.exp(-x)))
    return np.asarray(x * np.tanh(np.logaddexp(0.0, x))) if act == "mish" else x


def add_block(trunk: Trunk, block: Spec, weights: Weights) -> None:
    """Append a block."""
    kind = block["kind"]
    if kind == "attention":
        trunk.take(attention(trunk.tokens(), block, weights, trunk.size))
    elif kind == "ffn":
        trunk.take(feed_forward(trunk.tokens(), block, weights))
    else:
        x = trunk.maps()
        pre = weights.at("pre_norm")
        y = activate(scale_bias(x, pre["scale"], pre["bias"]), block["acts"][0])
        branch = {"ordinary": ordinary, "gpool": gpool, "nested": nested}[kind]
        trunk.take(ops.add(branch(y, block, weights), x))


def ordinary(y: Node, block: Spec, weights: Weights) -> Node:
    """Return the branch of an ordinary block after its first activation."""
    first, second = block["convs"]
    mid = weights.at("mid_norm")
    y = activate(conv(y, first, weights.at("conv1"), mid["scale"], mid["bias"]), block["acts"][1])
    return conv(y, second, weights.at("conv2"))


def gpool(y: Node, block: Spec, weights: Weights) -> Node:
    """Return the branch of a block with global pooling after its first activation."""
    regular, pooled, final = block["convs"]
    norm, mid = weights.at("gpool_norm"), weights.at("mid_norm")
    maps = activate(conv(y, pooled, weights.at("conv_gpool"), norm["scale"], norm["bias"]), block["acts"][1])
    y = conv(y, regular, weights.at("conv_regular"), mid["scale"])
    y = add_pooled(y, pool_policy(maps), weights, mid)
    return conv(activate(y, block["acts"][2]), final, weights.at("conv2"))


def nested(y: Node, block: Spec, weights: Weights) -> Node:
    """Return the branch of a bottleneck block after its first activation."""
    first, last = block["convs"]
    batch, _, height, width = y.shape
    inner = Trunk(conv(y, first, weights.at("conv_in")), batch, (height, width))
    for i, each in enumerate(block["blocks"]):
        add_block(inner, each, weights.at(f"blocks.{i}"))
    post = weights.at("post_norm")
    y = activate(scale_bias(inner.maps(), post["scale"], post["bias"]), block["acts"][1])
    return conv(y, last, weights.at("conv_out"))


def add_pooled(y: Node, pooled: Node, weights: Weights, norm: Weights) -> Node:
    """Add a bias from pooled maps [B, 3C]; the norm's scale is in y already and is worked into the bias here."""
    weight = weights["gpool_to_bias.weight"] * norm["scale"][:, None]
    name = f"{weights.prefix}gpool_to_bias"
    return ops.add(y, reshape(linear(pooled, weight, norm["bias"], name), [y.shape[0], -1, 1, 1]))


def pool_policy(x: Node) -> Node:
    """Pool [B, C, H, W] to [B, 3C]: mean, mean scaled by the side, max."""
    mean, largest = mean_and_max(x)
    return joined([mean, times(mean, (side(x) - 14.0) * 0.1), largest], 1)


def side(x: Node) -> float:
    """Return the side of a square board with as many points."""
    return math.sqrt(x.shape[2] * x.shape[3])


def policy_head(spec: Spec, weights: Weights, x: Node) -> Node:
    """Return logits [B, outputs, P + 1]."""
    norm, g1 = weights.at("p1_norm"), weights.at("g1_norm")
    layers = {key: {"dilation": PLAIN} for key in ("g1", "p1", "p2")}
    maps = activate(conv(x, layers["g1"], weights.at("g1_conv"), g1["scale"], g1["bias"]), spec["acts"][0])
    pooled = pool_policy(maps)
    y = add_pooled(conv(x, layers["p1"], weights.at("p1_conv"), norm["scale"]), pooled, weights, norm)
    points = conv(activate(y, spec["acts"][1]), layers["p2"], weights.at("p2_conv"))
    batch, outputs, height, width = points.shape
    if spec["pass"] is not None:
        hidden = weights.at("pass_hidden")
        name = hidden.prefix.removesuffix(".")
        pooled = activate(linear(pooled, hidden["weight"], hidden["bias"], name), spec["pass"]["act"])
    passing = linear(pooled, weights["pass_out.weight"], None, f"{weights.prefix}pass_out")
    points = reshape(points, [batch, outputs, height * width])
    return joined([points, reshape(passing, [batch, outputs, 1])], 2)


def value_head(spec: Spec, weights: Weights, x: Node) -> tuple[Node, Node, Node]:
    """Return value logits [B, 3], score outputs [B, S] and ownership before tanh [B, P]."""
    norm = weights.at("v1_norm")
    layer = {"dilation": PLAIN}
    maps = activate(conv(x, layer, weights.at("v1_conv"), norm["scale"], norm["bias"]), spec["acts"][0])
    mean = ops.reduce_mean(maps, whole([2, 3]), False)
    # The three pools are multiples of one mean, so one third of the matrix does for a board size.
    a, b, c = np.split(weights["v2.weight"], 3, axis=1)
    weight = a + b * ((side(x) - 14.0) * 0.1) + c * ((side(x) - 14.0) ** 2 * 0.01 - 0.1)
    hidden = activate(linear(mean, weight, weights["v2.bias"], f"{weights.prefix}v2"), spec["acts"][1])
    both = np.concatenate([weights["value.weight"], weights["score.weight"]])
    bias = np.concatenate([weights["value.bias"], weights["score.bias"]])
    numbers = linear(hidden, both, bias, f"{weights.prefix}value")
    ownership = conv(maps, layer, weights.at("ownership"))
    batch, _, height, width = ownership.shape
    return columns(numbers, 0, 3), columns(numbers, 3, len(both)), reshape(ownership, [batch, height * width])


def judgment_row(spec: Spec, weights: Weights, x: Node) -> Node:
    """Return the maps of a judgment net as judgment.read_maps gives them, [B, 5 P]."""
    batch, _, height, width = x.shape
    norm, layer = weights.at("norm"), {"dilation": PLAIN}
    maps = conv(x, layer, weights.at("conv"))
    # The norm's scale goes into the sum's second half, its first half is scaled as it is: both see the same maps.
    y = add_pooled(scale_bias(maps, norm["scale"], np.zeros_like(norm["bias"])), pool_policy(maps), weights, norm)
    out = weights.layers.convolve(
        activate(y, spec["act"]), weights["out.weight"], weights["out_bias"], PLAIN, f"{weights.prefix}out"
    )
    points = height * width
    flat = reshape(out, [batch, 5 * points])
    owners = reshape(columns(flat, points, 4 * points), [batch, 3, points])
    chances = reshape(ops.softmax(owners, 1), [batch, 3 * points])
    return joined([ops.tanh(columns(flat, 0, points)), chances, ops.sigmoid(columns(flat, 4 * points, 5 * points))], 1)
