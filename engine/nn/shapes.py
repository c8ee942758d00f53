"""The names and shapes of a net's arrays, worked out from its spec: what a file must hold, checked without PyTorch.

They are those of the evaluation modules (policy_value.build_module), which a test compares for every kind of net.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import WeightsError
from ..evaluator import ENCODING_SHAPES
from .spec import Spec

Shapes = dict[str, tuple[int, ...]]
JUDGMENT_MAPS = 5  # judgment.MAPS
LEELA_POINTS, LEELA_HIDDEN = 361, 256


def check_arrays(spec: Spec, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Check that a net's arrays are those of its (checked) spec.

    Raises: WeightsError naming a missing, surplus, misshapen or non-finite one.
    """
    expected = array_shapes(spec)
    for name, shape in expected.items():
        if name not in arrays:
            raise WeightsError(f"tensor {name} is missing")
        if arrays[name].shape != shape:
            raise WeightsError(f"tensor {name} has shape {list(arrays[name].shape)} instead of {list(shape)}")
        if not bool(np.isfinite(arrays[name]).all()):
            raise WeightsError(f"tensor {name} holds a value that is not finite")
    surplus = set(arrays) - set(expected)
    if surplus:
        raise WeightsError(f"unknown tensor {min(surplus)}")


def array_shapes(spec: Spec) -> Shapes:
    """Return the shape of every array of a checked spec, by name."""
    shapes: Shapes = {}
    FAMILIES[spec["family"]](spec, shapes)
    return shapes


def _conv(shapes: Shapes, name: str, kernel: list[int], c_in: int, c_out: int) -> None:
    shapes[f"{name}.weight"] = (c_out, c_in, kernel[0], kernel[1])


def _norm(shapes: Shapes, name: str, channels: int) -> None:
    shapes[f"{name}.scale"] = shapes[f"{name}.bias"] = (channels,)


def _linear(shapes: Shapes, name: str, c_in: int, c_out: int, *, bias: bool) -> None:
    shapes[f"{name}.weight"] = (c_out, c_in)
    if bias:
        shapes[f"{name}.bias"] = (c_out,)


def _trunk(spec: Spec, shapes: Shapes) -> None:
    planes, n_globals = ENCODING_SHAPES[spec["encoding"]]
    channels = spec["channels"]
    _conv(shapes, "input_conv", spec["input"]["kernel"], planes, channels)
    if n_globals:
        _linear(shapes, "input_globals", n_globals, channels, bias=False)
    for i, block in enumerate(spec["blocks"]):
        _block(block, shapes, f"blocks.{i}", channels)
    _norm(shapes, "tip_norm", channels)


def _block(block: Spec, shapes: Shapes, name: str, c: int) -> None:
    kind = block["kind"]
    if kind in ("attention", "ffn"):
        _token_block(block, shapes, name, c)
        return
    kernels = [conv["kernel"] for conv in block["convs"]]
    _norm(shapes, f"{name}.pre_norm", c)
    if kind == "ordinary":
        _conv(shapes, f"{name}.conv1", kernels[0], c, block["mid"])
        _norm(shapes, f"{name}.mid_norm", block["mid"])
        _conv(shapes, f"{name}.conv2", kernels[1], block["mid"], c)
    elif kind == "gpool":
        regular, pooled = block["regular"], block["gpool"]
        _conv(shapes, f"{name}.conv_regular", kernels[0], c, regular)
        _conv(shapes, f"{name}.conv_gpool", kernels[1], c, pooled)
        _norm(shapes, f"{name}.gpool_norm", pooled)
        _linear(shapes, f"{name}.gpool_to_bias", 3 * pooled, regular, bias=False)
        _norm(shapes, f"{name}.mid_norm", regular)
        _conv(shapes, f"{name}.conv2", kernels[2], regular, c)
    else:  # nested
        mid = block["mid"]
        _conv(shapes, f"{name}.conv_in", kernels[0], c, mid)
        for i, inner in enumerate(block["blocks"]):
            _block(inner, shapes, f"{name}.blocks.{i}", mid)
        _norm(shapes, f"{name}.post_norm", mid)
        _conv(shapes, f"{name}.conv_out", kernels[1], mid, c)


def _token_block(block: Spec, shapes: Shapes, name: str, c: int) -> None:
    shapes[f"{name}.norm.weight"] = (c,)
    if block["kind"] == "ffn":
        for layer in ("linear1", "gate") if block["gated"] else ("linear1",):
            _linear(shapes, f"{name}.{layer}", c, block["hidden"], bias=False)
        _linear(shapes, f"{name}.linear2", block["hidden"], c, bias=False)
        return
    heads, kv, qd, vd = block["heads"], block["kv_heads"], block["q_dim"], block["v_dim"]
    for layer, width in (("q", heads * qd), ("k", kv * qd), ("v", kv * vd)):
        _linear(shapes, f"{name}.{layer}", c, width, bias=False)
    _linear(shapes, f"{name}.out", heads * vd, c, bias=False)
    if block["rope"] and block["rope"]["kind"] == "learnable":
        shapes[f"{name}.rope_freqs"] = (kv, qd // 2, 2)


def _policy_value(spec: Spec, shapes: Shapes) -> None:
    _trunk(spec, shapes)
    channels, policy, value = spec["channels"], spec["policy"], spec["value"]
    if spec["meta"]:
        h1, h2 = spec["meta"]["hidden"]
        _linear(shapes, "meta_encoder.linear1", spec["meta"]["inputs"], h1, bias=True)
        _linear(shapes, "meta_encoder.linear2", h1, h2, bias=True)
        _linear(shapes, "meta_encoder.linear3", h2, channels, bias=False)
    p1, g1, outputs, kernels = policy["p1"], policy["g1"], len(policy["outputs"]), policy["kernels"]
    _conv(shapes, "policy_head.p1_conv", kernels["p1"], channels, p1)
    _conv(shapes, "policy_head.g1_conv", kernels["g1"], channels, g1)
    _norm(shapes, "policy_head.g1_norm", g1)
    _linear(shapes, "policy_head.gpool_to_bias", 3 * g1, p1, bias=False)
    _norm(shapes, "policy_head.p1_norm", p1)
    _conv(shapes, "policy_head.p2_conv", kernels["p2"], p1, outputs)
    width = 3 * g1
    if policy["pass"]:
        _linear(shapes, "policy_head.pass_hidden", width, policy["pass"]["hidden"], bias=True)
        width = policy["pass"]["hidden"]
    _linear(shapes, "policy_head.pass_out", width, outputs, bias=False)
    v1, v2 = value["v1"], value["v2"]
    _conv(shapes, "value_head.v1_conv", value["kernels"]["v1"], channels, v1)
    _norm(shapes, "value_head.v1_norm", v1)
    _linear(shapes, "value_head.v2", 3 * v1, v2, bias=True)
    _linear(shapes, "value_head.value", v2, 3, bias=True)
    _linear(shapes, "value_head.score", v2, len(value["score"]), bias=True)
    _conv(shapes, "value_head.ownership", value["kernels"]["ownership"], v1, 1)


def _judgment(spec: Spec, shapes: Shapes) -> None:
    _trunk(spec, shapes)
    width = spec["head"]["channels"]
    _conv(shapes, "judgment_head.conv", [1, 1], spec["channels"], width)
    _linear(shapes, "judgment_head.gpool_to_bias", 3 * width, width, bias=False)
    _norm(shapes, "judgment_head.norm", width)
    _conv(shapes, "judgment_head.out", [1, 1], width, JUDGMENT_MAPS)
    shapes["judgment_head.out_bias"] = (JUDGMENT_MAPS,)


def _leela_zero(spec: Spec, shapes: Shapes) -> None:
    c = spec["channels"]

    def layer(name: str, c_in: int, c_out: int, side: int) -> None:
        _conv(shapes, name, [side, side], c_in, c_out)
        shapes[f"{name}.bias"] = (c_out,)

    layer("input_conv", ENCODING_SHAPES[spec["encoding"]][0], c, 3)
    for i in range(spec["blocks"]):
        layer(f"blocks.{i}.conv1", c, c, 3)
        layer(f"blocks.{i}.conv2", c, c, 3)
    layer("policy_conv", c, 2, 1)
    layer("value_conv", c, 1, 1)
    _linear(shapes, "policy_out", 2 * LEELA_POINTS, LEELA_POINTS + 1, bias=True)
    _linear(shapes, "value_hidden", LEELA_POINTS, LEELA_HIDDEN, bias=True)
    _linear(shapes, "value_out", LEELA_HIDDEN, 1, bias=True)


def _conv_norm(shapes: Shapes, name: str, kernel: list[int], c_in: int, c_out: int) -> None:
    _conv(shapes, f"{name}.conv", kernel, c_in, c_out)
    _norm(shapes, f"{name}.norm", c_out)


def _alphago_zero(spec: Spec, shapes: Shapes) -> None:
    c, points, hidden = spec["channels"], spec["size"][0] * spec["size"][1], spec["value_hidden"]
    p, v = spec["policy_channels"], spec["value_channels"]
    _conv_norm(shapes, "input", [3, 3], ENCODING_SHAPES[spec["encoding"]][0], c)
    for i in range(spec["blocks"]):
        _conv_norm(shapes, f"blocks.{i}.first", [3, 3], c, c)
        _conv_norm(shapes, f"blocks.{i}.second", [3, 3], c, c)
    _conv_norm(shapes, "policy_conv", [1, 1], c, p)
    _conv_norm(shapes, "value_conv", [1, 1], c, v)
    _linear(shapes, "policy_out", p * points, points + 1, bias=True)
    _linear(shapes, "value_hidden", v * points, hidden, bias=True)
    _linear(shapes, "value_out", hidden, 1, bias=True)


def _k_step(spec: Spec, shapes: Shapes) -> None:
    width = spec["input_channels"]
    _conv_norm(shapes, "first", spec["input"]["kernel"], ENCODING_SHAPES[spec["encoding"]][0], width)
    for i in range(spec["blocks"]):
        _conv_norm(shapes, f"layers.{i}", [3, 3], width, spec["channels"])
        width = spec["channels"]
    _conv(shapes, "last", [3, 3], width, spec["steps"])


FAMILIES: dict[str, Callable[[Spec, Shapes], None]] = {
    "policy-value": _policy_value,
    "judgment": _judgment,
    "leela-zero": _leela_zero,
    "alphago-zero": _alphago_zero,
    "k-step": _k_step,
}
