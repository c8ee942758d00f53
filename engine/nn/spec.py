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

from ..errors import WeightsError
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
VALUE_ONLY = ("leela-zero", "alphago-zero")  # families of nets that give a policy and one value
PASS_SHARE = 1e-4
"""A k-step net cannot pass: a pass gets this probability beside all points, so that it comes after any move that the
net thinks of at all."""
BLACK_TO_MOVE_PLANE = 16  # of leelazero-18

MAX_CHANNELS = 8192
MAX_KERNEL = 25
MAX_BLOCKS = 512  # nested ones counted
MAX_STEPS = 16  # moves that a k-step net predicts
MAX_PARAMETERS = 1 << 30  # 4 GiB of float32


def conv_spec(size: int = 3) -> Spec:
    """Describe a square convolution without dilation."""
    return {"kernel": [size, size], "dilation": [1, 1]}


def new_net_spec(
    *,
    blocks: int,
    channels: int,
    gpool_every: int = 3,
    gpool_channels: int | None = None,
    encoding: str = "katago-v7",
    act: str = "relu",
    head_channels: int = 32,
    value_channels: int = 64,
    score: tuple[str, ...] = ("mean", "stdev", "lead"),
    name: str = "",
) -> Spec:
    """Describe a new residual net to train: every gpool_every-th block pools globally (0: none).

    Args:
        blocks: residual blocks of two 3x3 convolutions.
        channels: width of the trunk.
        gpool_channels: pooled channels of a gpool block; a third of the trunk by default.
        head_channels: width of the policy head's and value head's 1x1 convolutions.
        value_channels: width of the value head's hidden layer.
        score: score outputs that training will have targets for.

    Raises: WeightsError where the sizes are out of bounds.
    """
    pooled = gpool_channels or max(8, channels // 3 // 8 * 8)
    ordinary = {"kind": "ordinary", "mid": channels, "acts": [act] * 2, "convs": [conv_spec()] * 2}
    gpool = {
        "kind": "gpool",
        "regular": channels - pooled,
        "gpool": pooled,
        "acts": [act] * 3,
        "convs": [conv_spec()] * 3,
    }
    body = [gpool if gpool_every and i % gpool_every == gpool_every - 1 else ordinary for i in range(blocks)]
    spec: Spec = {
        "family": "policy-value",
        "name": name or f"b{blocks}c{channels}",
        "encoding": encoding,
        "version": 8,
        "multipliers": dict(DEFAULT_MULTIPLIERS),
        "pass_alive_under_suicide": False,
        "input": conv_spec(),
        "meta": None,
        "channels": channels,
        "blocks": body,
        "tip": {"norm": "batchnorm", "act": act},
        "policy": {
            "p1": head_channels,
            "g1": head_channels,
            "acts": [act] * 2,
            "outputs": ["policy"],
            "kernels": {"p1": [1, 1], "g1": [1, 1], "p2": [1, 1]},
            "pass": None,
        },
        "value": {
            "v1": head_channels,
            "v2": value_channels,
            "acts": [act] * 2,
            "kernels": {"v1": [1, 1], "ownership": [1, 1]},
            "score": list(score),
        },
    }
    check_spec(spec)
    return spec


def new_alphagozero_spec(
    *,
    size: int = 19,
    blocks: int = 19,
    channels: int = 256,
    policy_channels: int = 2,
    value_channels: int = 1,
    value_hidden: int = 256,
    encoding: str = "alphagozero-17",
    name: str = "",
) -> Spec:
    """Describe a net of AlphaGo Zero's kind; the defaults are the paper's smaller one. It plays on one board size.

    Raises: WeightsError where the sizes are out of bounds.
    """
    spec: Spec = {
        "family": "alphago-zero",
        "name": name or f"zero-b{blocks}c{channels}",
        "encoding": encoding,
        "version": 1,
        "size": [size, size],
        "channels": channels,
        "blocks": blocks,
        "policy_channels": policy_channels,
        "value_channels": value_channels,
        "value_hidden": value_hidden,
    }
    check_spec(spec)
    return spec


def check_spec(spec: Spec) -> None:
    """Refuse a spec that is malformed or absurdly large, before anything is allocated.

    Raises: WeightsError saying which part is wrong (without the file's name; loaders add it).
    """
    try:
        _check(spec)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        raise WeightsError(f"malformed net description ({type(error).__name__}: {error})") from error


def parameter_count(spec: Spec) -> int:
    """Count the weights of a checked spec without building it (biases and norms left out: an estimate from below)."""
    planes, n_globals = ENCODING_SHAPES[spec["encoding"]]
    c = spec["channels"]
    if spec["family"] == "leela-zero":
        return int(c * 18 * 9 + spec["blocks"] * 2 * c * c * 9 + 722 * 362 + 361 * 256)
    if spec["family"] == "alphago-zero":
        points, p, v, h = spec["size"][0] * spec["size"][1], *(spec[key] for key in _ZERO_HEADS)
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


_ZERO_HEADS = ("policy_channels", "value_channels", "value_hidden")


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
        for key in _ZERO_HEADS:
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
