"""Is a net's description (spec.py) whole and of a sane size? Asked of every file before anything is allocated."""

from __future__ import annotations

from typing import Any

from ..errors import WeightsError
from ..evaluator import ENCODING_SHAPES
from .spec import (
    ACTS,
    DEFAULT_MULTIPLIERS,
    POLICY_OUTPUTS,
    SCORE_OUTPUTS,
    ZERO_HEADS,
    Spec,
    count_blocks,
    parameter_count,
)

MAX_CHANNELS = 8192
MAX_KERNEL = 25
MAX_BLOCKS = 512  # nested ones counted
MAX_STEPS = 16  # moves that a k-step net predicts
MAX_PARAMETERS = 1 << 30  # 4 GiB of float32


def check_spec(spec: Spec) -> None:
    """Refuse a spec that is malformed or absurdly large, before anything is allocated.

    Raises: WeightsError saying which part is wrong (without the file's name; loaders add it).
    """
    try:
        _check(spec)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        raise WeightsError(f"malformed net description ({type(error).__name__}: {error})") from error


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise WeightsError(what)


def _size(value: Any, what: str, high: int = MAX_CHANNELS) -> int:
    _require(type(value) is int and 1 <= value <= high, f"{what} {value!r} is not between 1 and {high}")
    return int(value)


def _acts(acts: list[str], count: int, where: str) -> None:
    _require(len(acts) == count and all(a in ACTS for a in acts), f"{where}: unknown activation in {acts!r}")


def _kernel(kernel: list[int], where: str, dilation: list[int] | None = None) -> None:
    _require(len(kernel) == 2 and len(dilation or [1, 1]) == 2, f"{where}: bad kernel")
    for k in (*kernel, *(dilation or [])):
        _size(k, f"{where}: kernel or dilation", MAX_KERNEL)
    _require(all(k % 2 == 1 for k in kernel), f"{where}: even kernel {kernel}")


def _convs(convs: list[Spec], count: int, where: str) -> None:
    _require(len(convs) == count, f"{where}: {len(convs)} convolutions instead of {count}")
    for conv in convs:
        _kernel(conv["kernel"], where, conv["dilation"])


def _number(value: Any, what: str, low: float, high: float) -> None:
    _require(
        isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high,
        f"{what} {value!r} is not between {low} and {high}",
    )


def _check(spec: Spec) -> None:
    _require(isinstance(spec, dict), "the net description is not an object")
    _require(isinstance(spec["name"], str) and len(spec["name"]) <= 200, "bad net name")
    _require(spec["encoding"] in ENCODING_SHAPES, f"unknown encoding {spec['encoding']!r}")
    _size(spec["channels"], "trunk channels")
    if spec["family"] == "leela-zero":
        _require(spec["encoding"] == "leelazero-18", "a Leela Zero net has another encoding")
        _require(spec["version"] in (1, 2), f"unknown Leela Zero version {spec['version']!r}")
        _require(type(spec["blocks"]) is int and 0 <= spec["blocks"] <= MAX_BLOCKS, "bad number of blocks")
    elif spec["family"] == "alphago-zero":
        _require(spec["version"] == 1, f"unknown AlphaGo Zero version {spec['version']!r}")
        _require(ENCODING_SHAPES[spec["encoding"]][1] == 0, "an AlphaGo Zero net takes no global inputs")
        _require(type(spec["blocks"]) is int and 0 <= spec["blocks"] <= MAX_BLOCKS, "bad number of blocks")
        _require(len(spec["size"]) == 2, "bad board size")
        for length in spec["size"]:
            _size(length, "board size", 25)
        for key in ZERO_HEADS:
            _size(spec[key], key)
    elif spec["family"] == "judgment":
        _check_judgment(spec)
    elif spec["family"] == "k-step":
        _check_kstep(spec)
    else:
        _require(spec["family"] == "policy-value", f"unknown kind of net {spec['family']!r}")
        _check_policy_value(spec)
    _require(parameter_count(spec) <= MAX_PARAMETERS, "more than 2^30 parameters")


def _check_kstep(spec: Spec) -> None:
    _require(spec["version"] == 1, f"unknown k-step version {spec['version']!r}")
    _require(ENCODING_SHAPES[spec["encoding"]][1] == 0, "a k-step net has an encoding with global inputs")
    _convs([spec["input"]], 1, "input")
    _size(spec["input_channels"], "first layer")
    _size(spec["blocks"], "number of layers between the first and the last", MAX_BLOCKS)
    _size(spec["steps"], "number of moves predicted", MAX_STEPS)


def _check_policy_value(spec: Spec) -> None:
    _require(type(spec["version"]) is int and 3 <= spec["version"] <= 17, f"unknown version {spec['version']!r}")
    _require(set(spec["multipliers"]) == set(DEFAULT_MULTIPLIERS), "wrong set of multipliers")
    for key, value in spec["multipliers"].items():
        _number(value, f"multiplier {key}", 1e-9, 1e9)
    _require(isinstance(spec["pass_alive_under_suicide"], bool), "pass_alive_under_suicide is not true or false")
    _convs([spec["input"]], 1, "input")
    if spec["meta"] is not None:
        _require(spec["meta"]["inputs"] == 192 and len(spec["meta"]["hidden"]) == 2, "bad metadata encoder")
        for hidden in spec["meta"]["hidden"]:
            _size(hidden, "metadata encoder")
        _acts(spec["meta"]["acts"], 2, "metadata encoder")
    _require(1 <= count_blocks(spec["blocks"]) <= MAX_BLOCKS, f"the number of blocks is not between 1 and {MAX_BLOCKS}")
    for i, block in enumerate(spec["blocks"]):
        _check_block(block, f"block {i}")
    tip = spec["tip"]
    _require(tip["norm"] in ("batchnorm", "rmsnorm"), f"unknown tip norm {tip['norm']!r}")
    _acts([tip["act"]], 1, "tip")
    if tip["norm"] == "rmsnorm":
        _require(isinstance(tip["spatial"], bool), "tip: spatial is not true or false")
        _number(tip["eps"], "tip: epsilon", 0, 1)
    _check_heads(spec["policy"], spec["value"])


def _check_judgment(spec: Spec) -> None:
    _require(spec["version"] == 1, f"unknown version {spec['version']!r} of judgment nets")
    _require(isinstance(spec["pass_alive_under_suicide"], bool), "pass_alive_under_suicide is not true or false")
    _convs([spec["input"]], 1, "input")
    _require(1 <= count_blocks(spec["blocks"]) <= MAX_BLOCKS, f"the number of blocks is not between 1 and {MAX_BLOCKS}")
    for i, block in enumerate(spec["blocks"]):
        _check_block(block, f"block {i}")
    _require(spec["tip"]["norm"] == "batchnorm", "the tip of a judgment net is a batchnorm")
    _acts([spec["tip"]["act"], spec["head"]["act"]], 2, "tip and head")
    _size(spec["head"]["channels"], "judgment head")


def _check_heads(policy: Spec, value: Spec) -> None:
    for where, head, keys in (("policy", policy, ("p1", "g1")), ("value", value, ("v1", "v2"))):
        for key in keys:
            _size(head[key], f"{where} head {key}")
        _acts(head["acts"], 2, f"{where} head")
    for key, head in (("p1", policy), ("g1", policy), ("p2", policy), ("v1", value), ("ownership", value)):
        _kernel(head["kernels"][key], f"head convolution {key}")
    outputs = list(policy["outputs"])
    _require(outputs in [list(POLICY_OUTPUTS[:n]) for n in (1, 2, 4)], f"policy outputs {outputs!r}")
    if policy["pass"] is not None:
        _size(policy["pass"]["hidden"], "pass head")
        _acts([policy["pass"]["act"]], 1, "pass head")
    score = list(value["score"])
    known = score == ["utility"] or score == [s for s in SCORE_OUTPUTS if s in score]
    _require(known, f"score outputs {score!r}")


def _check_block(block: Spec, where: str) -> None:
    kind = block["kind"]
    if kind == "ordinary":
        _size(block["mid"], where)
        _acts(block["acts"], 2, where)
        _convs(block["convs"], 2, where)
    elif kind == "gpool":
        _size(block["regular"], where)
        _size(block["gpool"], where)
        _acts(block["acts"], 3, where)
        _convs(block["convs"], 3, where)
    elif kind == "nested":
        _size(block["mid"], where)
        _acts(block["acts"], 2, where)
        _convs(block["convs"], 2, where)
        for i, inner in enumerate(block["blocks"]):
            _check_block(inner, f"{where}.{i}")
    elif kind == "attention":
        for key in ("heads", "kv_heads", "q_dim", "v_dim"):
            _size(block[key], f"{where} {key}", 1024)
        _require(block["heads"] % block["kv_heads"] == 0, f"{where}: kv_heads does not divide heads")
        _number(block["eps"], f"{where}: epsilon", 0, 1)
        if block["rope"] is not None:
            fixed = block["rope"]["kind"] == "fixed"
            _require(fixed or block["rope"]["kind"] == "learnable", f"{where}: unknown RoPE")
            _require(block["q_dim"] % (4 if fixed else 2) == 0, f"{where}: q_dim {block['q_dim']} does not suit RoPE")
            if fixed:
                _number(block["rope"]["theta"], f"{where}: theta", 1e-6, 1e9)
    else:
        _require(kind == "ffn", f"{where}: unknown kind {kind!r}")
        _size(block["hidden"], where, 1 << 16)
        _require(isinstance(block["gated"], bool), f"{where}: gated is not true or false")
        _number(block["eps"], f"{where}: epsilon", 0, 1)
