"""A net's raw outputs to packed rows [B, A + 8 + P] as OpenVINO nodes: what postprocess.py does in PyTorch.

Source: docs/nets.md §1.8, by model version; §5 for Leela Zero.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .openvino_ops import Node, columns, constant, joined, ops, reshape, softplus, times, whole
from .spec import KO_RULE_INPUT, PASS_SHARE, SCALARS, TERRITORY_INPUT, VALUE_ONLY, Spec


class RawNodes(NamedTuple):
    """Heads of a net before post-processing, as raw_outputs.RawOutputs; None: the net has no such output."""

    policy: Node  # [B, outputs, A], or [B, k, P] of a k-step net
    value: Node | None  # [B, 3], or [B, 1] of Leela Zero
    score: Node | None  # [B, S]
    ownership: Node | None  # [B, P] before tanh


def k_step_row(policy: Node) -> Node:
    """Return logits of the next move with its pass, no scalars, then those of the moves after it; policy [B, k, P]."""
    batch, steps, points = policy.shape
    flat = reshape(policy, [batch, steps * points])
    now = columns(flat, 0, points)
    top = ops.reduce_max(now, whole([1]), True)
    total = ops.log(ops.reduce_sum(ops.exp(ops.subtract(now, top)), whole([1]), True))
    passed = ops.add(ops.add(total, top), constant(math.log(PASS_SHARE)))
    parts = [now, passed, constant(np.zeros((batch, len(SCALARS))))]
    if steps > 1:
        parts.append(columns(flat, points, steps * points))
    return joined(parts, 1)


def packed(spec: Spec, raw: RawNodes, globals_: Node | None, optimism: float) -> Node:
    """Return policy logits, the eight scalars of spec.SCALARS, and ownership where there is one."""
    if raw.value is None:
        return k_step_row(raw.policy)
    batch = raw.policy.shape[0]
    policy = ops.gather(raw.policy, ops.constant(np.int64(0)), ops.constant(np.int64(1)))
    if spec["family"] in VALUE_ONLY:
        zeros = constant(np.zeros((batch, 7)))
        return joined([policy, ops.tanh(raw.value), zeros], 1)
    if optimism and not spec["meta"] and "optimistic" in spec["policy"]["outputs"]:
        other = ops.gather(raw.policy, ops.constant(np.int64(1)), ops.constant(np.int64(1)))
        policy = ops.add(times(policy, 1.0 - optimism), times(other, optimism))
    return joined([policy, *scalars(spec, raw.value, raw.score, globals_), ops.tanh(raw.ownership)], 1)


def scalars(spec: Spec, value: Node, score: Node, globals_: Node | None) -> list[Node]:
    """Return the eight scalars, [B, 1] each."""
    batch = value.shape[0]
    barred = constant(-100_000.0)
    if globals_ is not None and globals_.shape[1] > TERRITORY_INPUT:  # no result only under simple ko or territory
        zero = constant(0.0)
        ko = ops.not_equal(columns(globals_, KO_RULE_INPUT, KO_RULE_INPUT + 1), zero)
        area = ops.equal(columns(globals_, TERRITORY_INPUT, TERRITORY_INPUT + 1), zero)
        barred = ops.select(ops.logical_and(ko, area), barred, zero)
    logits = joined([columns(value, 0, 2), ops.add(columns(value, 2, 3), barred)], 1)
    chances = ops.softmax(logits, 1)
    win, loss, no_result = (columns(chances, i, i + 1) for i in range(3))
    result = ops.subtract(constant(1.0), no_result)
    outputs = {name: columns(score, i, i + 1) for i, name in enumerate(spec["value"]["score"])}
    scale = spec["multipliers"]
    absent, nothing = constant(np.full((batch, 1), -1.0)), constant(np.zeros((batch, 1)))
    mean = lead = stdev = nothing
    if "mean" in outputs:
        raw_mean = times(outputs["mean"], scale["score_mean"])
        mean = lead = ops.multiply(raw_mean, result)
        if "stdev" in outputs:
            spread = times(softplus(outputs["stdev"]), scale["score_stdev"])
            square = ops.add(ops.multiply(raw_mean, raw_mean), ops.multiply(spread, spread))
            variance = ops.subtract(ops.multiply(square, result), ops.multiply(mean, mean))
            stdev = ops.sqrt(ops.relu(variance))
    if "lead" in outputs:
        lead = ops.multiply(times(outputs["lead"], scale["lead"]), result)
    var_time = value_error = score_error = absent
    if "var_time" in outputs and spec["version"] >= 9:
        var_time = times(softplus(outputs["var_time"]), scale["var_time"])
    if "value_error" in outputs:
        value_error = error(outputs["value_error"], spec["version"], scale["value_error"], 1.0)
    if "score_error" in outputs:
        score_error = error(outputs["score_error"], spec["version"], scale["score_error"], 10.0)
    return [ops.subtract(win, loss), no_result, lead, mean, stdev, var_time, value_error, score_error]


def error(x: Node, version: int, multiplier: float, version_9_scale: float) -> Node:
    """Return a short-term error as the model version means it."""
    if version >= 14:
        return times(softplus(times(x, 0.5)), float(multiplier**0.5))
    if version >= 10:
        return ops.sqrt(times(softplus(x), multiplier))
    return times(softplus(x), version_9_scale)
