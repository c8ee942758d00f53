"""The transformer blocks as OpenVINO nodes, over tokens [B, P, C] of one board size.

RMSNorm's gain and the 1 / sqrt(q_dim) are in the projections; rotated pairs lie as halves, so that RoPE is two products
with constants; query heads are grouped by the key head they read.
Source: docs/nets.md §1.4; Su et al. 2021 (RoPE), Ainslie et al. 2023 (grouped queries), Shazeer 2020 (SwiGLU).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .openvino_ops import Array, Node, columns, constant, joined, linear, ops, reshape, transpose, unit_rms
from .spec import Spec

if TYPE_CHECKING:
    from .openvino_graph import Weights


def angles(rope: Spec, q_dim: int, size: tuple[int, int], freqs: Array | None) -> Array:
    """Return rotation angles [kv_heads or 1, P, q_dim/2] in radians. freqs [kv_heads, q_dim/2, 2] where learnt."""
    height, width = size
    row, col = np.repeat(np.arange(height), width), np.tile(np.arange(width), height)
    if freqs is not None:
        across, down = freqs[:, None, :, 0], freqs[:, None, :, 1]
        return np.asarray(col[None, :, None] * across + row[None, :, None] * down)
    steps = np.arange(q_dim // 4)
    base = (float(rope["theta"]) ** (-2.0 * steps / (q_dim / 2))).astype(np.float32).astype(np.float64)
    return np.concatenate([row[:, None] * base, col[:, None] * base], axis=1)[None]


def rotate(x: Node, turns: Array) -> Node:
    """Rotate halves of x [B, heads, P, 2n] by turns [heads or 1, P, n]."""
    n = turns.shape[-1]
    cos, sin = np.cos(turns), np.sin(turns)
    swapped = joined([columns(x, n, 2 * n), columns(x, 0, n)], 3)
    straight = ops.multiply(x, constant(np.concatenate([cos, cos], axis=-1)[None]))
    return ops.add(straight, ops.multiply(swapped, constant(np.concatenate([-sin, sin], axis=-1)[None])))


def attention(x: Node, spec: Spec, weights: Weights, size: tuple[int, int]) -> Node:
    """Return tokens + attention(tokens)."""
    heads, kv, qd, vd = spec["heads"], spec["kv_heads"], spec["q_dim"], spec["v_dim"]
    batch, points, _ = x.shape
    group = heads // kv
    gain = weights["norm.weight"][None]
    order = np.arange(qd)
    turns = None
    if spec["rope"]:
        order = np.concatenate([order[0::2], order[1::2]])
        freqs = weights["rope_freqs"] if spec["rope"]["kind"] == "learnable" else None
        turns = angles(spec["rope"], qd, size, freqs)
    q_weight = (weights["q.weight"] * gain).reshape(heads, qd, -1)[:, order].reshape(heads * qd, -1) * qd**-0.5
    k_weight = (weights["k.weight"] * gain).reshape(kv, qd, -1)[:, order].reshape(kv * qd, -1)
    y = unit_rms(x, spec["eps"], [2])

    def heads_of(weight: Array, name: str, count: int, dim: int) -> Node:
        projected = linear(y, weight, None, weights.prefix + name)
        return transpose(reshape(projected, [batch, points, count, dim]), [0, 2, 1, 3])

    q, k = heads_of(q_weight, "q", heads, qd), heads_of(k_weight, "k", kv, qd)
    v = heads_of(weights["v.weight"] * gain, "v", kv, vd)
    if turns is not None:
        q = rotate(q, np.repeat(turns, group, axis=0) if len(turns) > 1 else turns)
        k = rotate(k, turns)
    q = reshape(q, [batch, kv, group * points, qd])
    mixed = ops.matmul(ops.softmax(ops.matmul(q, k, False, True), 3), v, False, False)
    mixed = transpose(reshape(mixed, [batch, heads, points, vd]), [0, 2, 1, 3])
    mixed = reshape(mixed, [batch, points, heads * vd])
    return ops.add(linear(mixed, weights["out.weight"], None, f"{weights.prefix}out"), x)


def feed_forward(x: Node, spec: Spec, weights: Weights) -> Node:
    """Return tokens + linear2(silu(linear1(norm)) * gate(norm))."""
    gain = weights["norm.weight"][None]
    y = unit_rms(x, spec["eps"], [2])
    hidden = ops.swish(linear(y, weights["linear1.weight"] * gain, None, f"{weights.prefix}linear1"))
    if spec["gated"]:
        hidden = ops.multiply(hidden, linear(y, weights["gate.weight"] * gain, None, f"{weights.prefix}gate"))
    return ops.add(linear(hidden, weights["linear2.weight"], None, f"{weights.prefix}linear2"), x)
