"""The plain description of a net: a nested dict that goes into JSON and says everything but the weights.

A spec and a dict of named tensors are a net; KataGo's, Leela Zero's and our own files all become these two.
policy_value.build_module makes the PyTorch module of a spec, for evaluation or for training. No torch here.

A policy-value spec:

    {"family": "policy-value", "name": text, "encoding": "katago-v7",
     "version": 8,                  # the KataGo model version whose post-processing applies (postprocess.py)
     "multipliers": {"td_score": 20, "score_mean": 20, "score_stdev": 20, "lead": 20, "var_time": 40,
                     "value_error": 0.25, "score_error": 30},
     "pass_alive_under_suicide": false,
     "input": {"kernel": [3, 3], "dilation": [1, 1]},  # spatial inputs -> channels; globals are added by a linear layer
     "meta": null | {"inputs": 192, "hidden": [h1, h2], "acts": [a, a]},
     "channels": 96, "blocks": [block, …],
     "tip": {"norm": "batchnorm", "act": a} | {"norm": "rmsnorm", "act": a, "eps": e, "spatial": bool},
     "policy": {"p1": n, "g1": n, "acts": [g1, p1],
                "outputs": the first 1, 2 or 4 of ["policy", "optimistic", "q_winloss", "q_score"],
                "kernels": {"p1": [1, 1], "g1": [1, 1], "p2": [1, 1]}, "pass": null | {"hidden": n, "act": a}},
     "value": {"v1": n, "v2": n, "acts": [v1, v2], "kernels": {"v1": [1, 1], "ownership": [1, 1]}, "score":
               ["utility"] | some of ["mean", "stdev", "lead", "var_time", "value_error", "score_error"]}}

A block is one of (c = channels around it; an act is identity, relu, mish or silu; convs are {"kernel", "dilation"}):

    {"kind": "ordinary", "mid": n, "acts": [pre, mid], "convs": [conv, conv]}
    {"kind": "gpool", "regular": n, "gpool": n, "acts": [pre, gpool, mid], "convs": [regular, gpool, final]}
    {"kind": "nested", "mid": n, "acts": [pre, post], "convs": [conv, conv], "blocks": [block, …]}
    {"kind": "attention", "heads": n, "kv_heads": n, "q_dim": n, "v_dim": n, "eps": e,
     "rope": null | {"kind": "fixed", "theta": t} | {"kind": "learnable"}}
    {"kind": "ffn", "hidden": n, "gated": bool, "eps": e}

A judgment spec (judgment.py): {"family": "judgment", "name", "encoding", "version": 1, "pass_alive_under_suicide",
"input", "channels", "blocks", "tip" (a batchnorm), as above, "head": {"channels": n, "act": a}}.

A Leela Zero spec: {"family": "leela-zero", "name": text, "encoding": "leelazero-18", "version": 1 | 2, "channels": n,
"blocks": n}.

An AlphaGo Zero spec (new_alphagozero_spec): {"family": "alphago-zero", "name": text, "encoding": "alphagozero-17" or
another without global inputs, "version": 1, "size": [width, height], "channels": n, "blocks": n,
"policy_channels": n, "value_channels": n, "value_hidden": n}.

A k-step spec (kstep.py): {"family": "k-step", "name": text, "encoding": one without global inputs, "version": 1,
"input": conv, "input_channels": n, "channels": n, "blocks": layers between the first and the last, "steps": k}.
"""

from __future__ import annotations

from typing import Any

from ..evaluator import ENCODING_SHAPES

Spec = dict[str, Any]

ACTS = ("identity", "relu", "mish", "silu")
POLICY_OUTPUTS = ("policy", "optimistic", "q_winloss", "q_score")
SCORE_OUTPUTS = ("mean", "stdev", "lead", "var_time", "value_error", "score_error")
DEFAULT_MULTIPLIERS = {
    "td_score": 20.0,
    "score_mean": 20.0,
    "score_stdev": 20.0,
    "lead": 20.0,
    "var_time": 40.0,
    "value_error": 0.25,
    "score_error": 30.0,
}

SCALARS = (
    "value",
    "no_result",
    "lead",
    "score_mean",
    "score_stdev",
    "var_time_left",
    "shortterm_value_error",
    "shortterm_score_error",
)
KO_RULE_INPUT = 6  # global input that is not 0 under any superko rule; the same in every KataGo encoding
TERRITORY_INPUT = 9  # global input that is 1 under territory scoring
ZERO_HEADS = ("policy_channels", "value_channels", "value_hidden")  # widths of an AlphaGo Zero net's heads
VALUE_ONLY = ("leela-zero", "alphago-zero")  # families of nets that give a policy and one value
PASS_SHARE = 1e-4
"""A k-step net cannot pass: a pass gets this probability beside all points, so that it comes after any move that the
net thinks of at all."""
BLACK_TO_MOVE_PLANE = 16  # of leelazero-18


def parameter_count(spec: Spec) -> int:
    """Count the weights of a checked spec without building it (biases and norms left out: an estimate from below)."""
    planes, n_globals = ENCODING_SHAPES[spec["encoding"]]
    c = spec["channels"]
    if spec["family"] == "leela-zero":
        return int(c * 18 * 9 + spec["blocks"] * 2 * c * c * 9 + 722 * 362 + 361 * 256)
    if spec["family"] == "alphago-zero":
        points, p, v, h = spec["size"][0] * spec["size"][1], *(spec[key] for key in ZERO_HEADS)
        return int(9 * c * (planes + spec["blocks"] * 2 * c) + c * (p + v) + points * (p * (points + 1) + v * h))
    if spec["family"] == "k-step":
        first, layers = spec["input_channels"], spec["blocks"]
        return int(_conv(spec["input"], planes, first) + 9 * c * (first + (layers - 1) * c + spec["steps"]))
    total = _conv(spec["input"], planes, c) + n_globals * c + sum(_block_size(b, c) for b in spec["blocks"])
    if spec["family"] == "judgment":
        width = spec["head"]["channels"]
        return int(total + c * width + 3 * width * width + 5 * width)
    if spec["meta"]:
        h1, h2 = spec["meta"]["hidden"]
        total += spec["meta"]["inputs"] * h1 + h1 * h2 + h2 * c
    policy, value = spec["policy"], spec["value"]
    total += (policy["p1"] + policy["g1"] + value["v1"]) * c + 3 * value["v1"] * value["v2"]
    return int(total)


def count_blocks(blocks: list[Spec]) -> int:
    """Count blocks, nested ones and their frames included."""
    return sum(1 + count_blocks(b.get("blocks", [])) for b in blocks)


def available(spec: Spec) -> set[str]:
    """Return the names of the Evaluation's optional arrays that nets of a spec fill."""
    if spec["family"] in VALUE_ONLY:
        return {"no_result"}
    if spec["family"] == "k-step":
        return set()
    score = spec["value"]["score"]
    names = {"no_result", "ownership", "var_time_left", "shortterm_value_error", "shortterm_score_error"}
    if "mean" in score:
        names |= {"score_mean", "lead"}
    if "stdev" in score:
        names.add("score_stdev")
    if "lead" in score:
        names.add("lead")
    return names


def _conv(conv: Spec, c_in: int, c_out: int) -> int:
    return int(conv["kernel"][0] * conv["kernel"][1] * c_in * c_out)


def _block_size(block: Spec, c: int) -> int:
    kind = block["kind"]
    if kind == "ordinary":
        return _conv(block["convs"][0], c, block["mid"]) + _conv(block["convs"][1], block["mid"], c)
    if kind == "gpool":
        r, g, convs = block["regular"], block["gpool"], block["convs"]
        return int(_conv(convs[0], c, r) + _conv(convs[1], c, g) + _conv(convs[2], r, c) + 3 * g * r)
    if kind == "nested":
        outer = _conv(block["convs"][0], c, block["mid"]) + _conv(block["convs"][1], block["mid"], c)
        return int(outer + sum(_block_size(b, block["mid"]) for b in block["blocks"]))
    if kind == "attention":
        q, k, v = (block[n] * block[d] for n, d in (("heads", "q_dim"), ("kv_heads", "q_dim"), ("kv_heads", "v_dim")))
        return int(c * (q + k + v + block["heads"] * block["v_dim"]))
    return int(c * block["hidden"] * (3 if block["gated"] else 2))
