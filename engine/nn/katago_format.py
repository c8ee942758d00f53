"""Reads KataGo net files (.bin.gz, .txt.gz, .bin, .txt; model versions 3 to 17) into a spec and named arrays.

Batch norms are folded to scale and bias here, in float64. Source: docs/nets.md §1 (format facts); no code of KataGo's.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import WeightsError
from ..evaluator import ENCODING_SHAPES
from .peek import open_maybe_gzip
from .spec import DEFAULT_MULTIPLIERS, POLICY_OUTPUTS, SCORE_OUTPUTS, Spec
from .spec_check import MAX_BLOCKS, MAX_CHANNELS, MAX_KERNEL
from .token_stream import TokenStream

FIRST_VERSION, LAST_VERSION = 3, 17
META_INPUTS = 192
_NAME = re.compile(r"[A-Za-z0-9_-]{1,96}\Z")


def encoding_of_version(version: int) -> str:
    """Return the encoding that nets of a model version take."""
    return {3: "katago-v3", 4: "katago-v3", 5: "katago-v4", 6: "katago-v5", 7: "katago-v6"}.get(version, "katago-v7")


def score_outputs_of_version(version: int) -> list[str]:
    """Return the names of the score outputs that a value head of a model version has."""
    if version == 3:
        return ["utility"]
    count = 2 if version < 8 else 4 if version == 8 else 6
    return list(SCORE_OUTPUTS[:count])


def load_katago(path: Path) -> tuple[Spec, dict[str, NDArray[np.float32]]]:
    """Read a KataGo net file.

    Returns: its spec (spec.py) and its arrays, named as policy_value.PolicyValueNet names them.

    Raises: WeightsError saying what is wrong (without the file's name); OSError where the file cannot be read.
    """
    with open_maybe_gzip(path) as stream:
        reader = _Reader(TokenStream(stream))
        spec = reader.net()
        reader.stream.finish()
    return spec, reader.tensors


class _Reader:
    """Walks the records of one file, collecting tensors."""

    def __init__(self, stream: TokenStream) -> None:
        self.stream = stream
        self.tensors: dict[str, NDArray[np.float32]] = {}
        self.version = 0

    # Primitive records

    def size(self, what: str, high: int = MAX_CHANNELS) -> int:
        return self.stream.integer(what, 1, high)

    def flag(self, what: str) -> bool:
        return self.stream.integer(what, 0, 1) == 1

    def zeros(self, count: int, where: str) -> None:
        for _ in range(count):
            if self.stream.integer(f"reserved number of the {where}", -(10**9), 10**9) != 0:
                raise WeightsError(f"the {where} uses a feature that is unknown here (a reserved number is not 0)")

    def conv(self, key: str, c_in: int, c_out: int | None = None) -> tuple[Spec, int]:
        """Read a convolution into {key}.weight; return its spec and output channels."""
        name = self.stream.word(f"name of {key}")
        ky, kx = (self.stream.integer(f"kernel of {name}", 1, MAX_KERNEL) for _ in range(2))
        found_in, found_out = self.size(f"input channels of {name}"), self.size(f"output channels of {name}")
        dy, dx = (self.stream.integer(f"dilation of {name}", 1, MAX_KERNEL) for _ in range(2))
        if ky % 2 == 0 or kx % 2 == 0:
            raise WeightsError(f"convolution {name} has an even kernel, {ky}x{kx}")
        self.agree(name, found_in, c_in, "input")
        self.agree(name, found_out, c_out, "output")
        weights = self.stream.floats(ky * kx * found_in * found_out, f"convolution {name}")
        self.tensors[f"{key}.weight"] = np.ascontiguousarray(
            weights.reshape(ky, kx, found_in, found_out).transpose(3, 2, 0, 1)
        )
        return {"kernel": [ky, kx], "dilation": [dy, dx]}, found_out

    def agree(self, name: str, found: int, wanted: int | None, side: str) -> None:
        if wanted is not None and found != wanted:
            raise WeightsError(f"{name} has {found} {side} channels where the net has {wanted}")

    def batch_norm(self, key: str, channels: int) -> None:
        """Read a batch norm and fold it into {key}.scale and {key}.bias."""
        name = self.stream.word(f"name of {key}")
        self.agree(name, self.size(f"channels of {name}"), channels, "batch norm")
        eps = self.stream.number(f"epsilon of {name}")
        has_scale, has_bias = self.flag(f"scale flag of {name}"), self.flag(f"bias flag of {name}")
        mean = self.stream.floats(channels, f"mean of {name}").astype(np.float64)
        variance = self.stream.floats(channels, f"variance of {name}").astype(np.float64) + eps
        if not bool((variance > 0).all()):
            raise WeightsError(f"batch norm {name} has a variance that is not positive")
        scale = 1.0 / np.sqrt(variance)
        if has_scale:
            scale *= self.stream.floats(channels, f"scale of {name}")
        bias = -mean * scale
        if has_bias:
            bias += self.stream.floats(channels, f"bias of {name}")
        with np.errstate(over="ignore"):
            self.tensors[f"{key}.scale"] = scale.astype(np.float32)
            self.tensors[f"{key}.bias"] = bias.astype(np.float32)

    def act(self, where: str) -> str:
        name = self.stream.word(f"name of an activation of {where}")
        if self.version < 11:
            return "relu"
        word = self.stream.word(f"activation {name}")
        kind = {f"ACTIVATION_{a.upper()}": a for a in ("identity", "relu", "mish", "silu")}.get(word)
        if kind is None:
            raise WeightsError(f"unknown activation {word[:40]!r} ({name})")
        return kind

    def matmul(self, key: str, c_in: int, c_out: int | None = None) -> int:
        """Read a matrix into {key}.weight, [out, in]; return its output channels."""
        name = self.stream.word(f"name of {key}")
        found_in = self.size(f"inputs of {name}", 1 << 16)
        found_out = self.size(f"outputs of {name}", 1 << 16)
        self.agree(name, found_in, c_in, "input")
        self.agree(name, found_out, c_out, "output")
        weights = self.stream.floats(found_in * found_out, f"matrix {name}").reshape(found_in, found_out)
        self.tensors[f"{key}.weight"] = np.ascontiguousarray(weights.T)
        return found_out

    def mat_bias(self, key: str, channels: int) -> None:
        name = self.stream.word(f"name of the bias of {key}")
        self.agree(name, self.size(f"channels of {name}", 1 << 16), channels, "bias")
        self.tensors[f"{key}.bias"] = self.stream.floats(channels, f"bias {name}")

    def rms_norm(self, key: str, channels: int) -> float:
        name = self.stream.word(f"name of {key}")
        self.agree(name, self.size(f"channels of {name}"), channels, "norm")
        eps = self.stream.number(f"epsilon of {name}")
        self.tensors[f"{key}.weight"] = self.stream.floats(channels, f"weight of {name}")
        return eps

    # Parts of the net

    def net(self) -> Spec:
        stream = self.stream
        name = stream.word("name of the net")
        if not _NAME.match(name):
            raise WeightsError(f"not a KataGo net: it would be called {name[:40]!r}")
        self.version = version = stream.integer("model version", -(10**9), 10**9)
        if not FIRST_VERSION <= version <= LAST_VERSION:
            raise WeightsError(f"model version {version} is not one of {FIRST_VERSION} to {LAST_VERSION}")
        encoding = encoding_of_version(version)
        for found, wanted in zip(("spatial", "global"), ENCODING_SHAPES[encoding], strict=True):
            count = stream.integer(f"number of {found} inputs", 1, MAX_CHANNELS)
            if count != wanted:
                raise WeightsError(f"{count} {found} inputs where version {version} has {wanted}")
        multipliers = dict(DEFAULT_MULTIPLIERS)
        if version >= 13:
            multipliers = {key: stream.number(f"{key} multiplier") for key in DEFAULT_MULTIPLIERS}
        meta_version = pass_alive = 0
        if version >= 15:
            meta_version = stream.integer("metadata encoder version", 0, 1)
            pass_alive = stream.integer("pass-alive flag", 0, 1)
            self.zeros(6, "header")
        spec: Spec = {
            "family": "policy-value",
            "name": name,
            "encoding": encoding,
            "version": version,
            "multipliers": multipliers,
            "pass_alive_under_suicide": bool(pass_alive),
        }
        self.trunk(spec, meta_version == 1)
        spec["policy"] = self.policy_head(spec["channels"])
        spec["value"] = self.value_head(spec["channels"])
        return spec

    def trunk(self, spec: Spec, has_meta: bool) -> None:
        stream = self.stream
        stream.word("name of the trunk")
        n_blocks = stream.integer("number of blocks", 1, MAX_BLOCKS)
        channels = self.size("trunk channels")
        for what in ("mid", "regular", "dilated", "pooled"):
            stream.integer(f"{what} channels", 0, MAX_CHANNELS)
        tip_kind = 0
        if self.version >= 15:
            tip_kind = stream.integer("kind of trunk norm", 0, 1)
            self.zeros(5, "trunk")
        planes, n_globals = ENCODING_SHAPES[spec["encoding"]]
        spec["channels"] = channels
        spec["input"], _ = self.conv("input_conv", planes, channels)
        self.matmul("input_globals", n_globals, channels)
        spec["meta"] = self.meta_encoder(channels) if has_meta else None
        spec["blocks"] = self.block_list("blocks", n_blocks, channels)
        spec["tip"] = self.rms_tip(channels) if tip_kind else {"norm": "batchnorm"}
        if not tip_kind:
            self.batch_norm("tip_norm", channels)
        spec["tip"]["act"] = self.act("the trunk")

    def rms_tip(self, channels: int) -> Spec:
        name = self.stream.word("name of the trunk norm")
        self.agree(name, self.size(f"channels of {name}"), channels, "norm")
        eps, spatial = self.stream.number(f"epsilon of {name}"), self.flag(f"spatial flag of {name}")
        if self.stream.integer(f"group size of {name}", 0, 1 << 30) != 0:
            raise WeightsError(f"trunk norm {name} has channel groups, which are unknown here")
        self.tensors["tip_norm.scale"] = self.stream.floats(channels, f"scale of {name}")
        self.tensors["tip_norm.bias"] = self.stream.floats(channels, f"bias of {name}")
        return {"norm": "rmsnorm", "eps": eps, "spatial": spatial}

    def meta_encoder(self, channels: int) -> Spec:
        self.stream.word("name of the metadata encoder")
        inputs = self.stream.integer("number of metadata inputs", META_INPUTS, META_INPUTS)
        hidden, acts = [], []
        width = inputs
        for layer in ("linear1", "linear2"):
            width = self.matmul(f"meta_encoder.{layer}", width)
            self.mat_bias(f"meta_encoder.{layer}", width)
            acts.append(self.act("the metadata encoder"))
            hidden.append(width)
        self.matmul("meta_encoder.linear3", width, channels)
        return {"inputs": inputs, "hidden": hidden, "acts": acts}

    def block_list(self, key: str, count: int, channels: int, depth: int = 0) -> list[Spec]:
        if depth > 8:
            raise WeightsError("blocks are nested more than eight deep")
        readers = {
            "ordinary_block": self.ordinary,
            "gpool_block": self.gpool,
            "transformer_attention_block": self.attention,
            "transformer_ffn_block": self.ffn,
        }
        blocks = []
        for i in range(count):
            kind = self.stream.word(f"kind of block {i}")
            name = self.stream.word(f"name of block {i}")
            if kind == "nested_bottleneck_block":
                blocks.append(self.nested(f"{key}.{i}", channels, depth))
            elif kind in readers:
                blocks.append(readers[kind](f"{key}.{i}", channels))
            else:
                raise WeightsError(f"unknown kind of block {kind[:40]!r} ({name[:40]})")
        return blocks

    def ordinary(self, key: str, channels: int) -> Spec:
        self.batch_norm(f"{key}.pre_norm", channels)
        acts = [self.act(key)]
        conv1, mid = self.conv(f"{key}.conv1", channels)
        self.batch_norm(f"{key}.mid_norm", mid)
        acts.append(self.act(key))
        conv2, _ = self.conv(f"{key}.conv2", mid, channels)
        return {"kind": "ordinary", "mid": mid, "acts": acts, "convs": [conv1, conv2]}

    def gpool(self, key: str, channels: int) -> Spec:
        self.batch_norm(f"{key}.pre_norm", channels)
        acts = [self.act(key)]
        conv_regular, regular = self.conv(f"{key}.conv_regular", channels)
        conv_gpool, pooled = self.conv(f"{key}.conv_gpool", channels)
        self.batch_norm(f"{key}.gpool_norm", pooled)
        acts.append(self.act(key))
        self.matmul(f"{key}.gpool_to_bias", 3 * pooled, regular)
        self.batch_norm(f"{key}.mid_norm", regular)
        acts.append(self.act(key))
        conv2, _ = self.conv(f"{key}.conv2", regular, channels)
        convs = [conv_regular, conv_gpool, conv2]
        return {"kind": "gpool", "regular": regular, "gpool": pooled, "acts": acts, "convs": convs}

    def nested(self, key: str, channels: int, depth: int) -> Spec:
        inner = self.stream.integer(f"inner blocks of {key}", 1, MAX_BLOCKS)
        self.batch_norm(f"{key}.pre_norm", channels)
        acts = [self.act(key)]
        conv_in, mid = self.conv(f"{key}.conv_in", channels)
        blocks = self.block_list(f"{key}.blocks", inner, mid, depth + 1)
        self.batch_norm(f"{key}.post_norm", mid)
        acts.append(self.act(key))
        conv_out, _ = self.conv(f"{key}.conv_out", mid, channels)
        return {"kind": "nested", "mid": mid, "acts": acts, "convs": [conv_in, conv_out], "blocks": blocks}

    def attention(self, key: str, channels: int) -> Spec:
        heads, kv_heads = self.size(f"heads of {key}", 1024), self.size(f"key heads of {key}", 1024)
        q_dim, v_dim = self.size(f"query width of {key}", 1024), self.size(f"value width of {key}", 1024)
        if heads % kv_heads:
            raise WeightsError(f"{key}: {kv_heads} key heads do not divide {heads} heads")
        use_rope, learnable = self.flag(f"RoPE flag of {key}"), self.flag(f"learnable RoPE flag of {key}")
        eps = self.rms_norm(f"{key}.norm", channels)
        self.matmul(f"{key}.q", channels, heads * q_dim)
        self.matmul(f"{key}.k", channels, kv_heads * q_dim)
        self.matmul(f"{key}.v", channels, kv_heads * v_dim)
        self.matmul(f"{key}.out", heads * v_dim, channels)
        rope: dict[str, Any] | None = None
        if use_rope:
            name = self.stream.word(f"name of the RoPE of {key}")
            if learnable:
                for what, wanted in (("key heads", kv_heads), ("pairs", q_dim // 2), ("axes", 2)):
                    self.stream.integer(f"{what} of {name}", wanted, wanted)
                freqs = self.stream.floats(kv_heads * (q_dim // 2) * 2, f"RoPE {name}")
                self.tensors[f"{key}.rope_freqs"] = freqs.reshape(kv_heads, q_dim // 2, 2)
                rope = {"kind": "learnable"}
            else:
                rope = {"kind": "fixed", "theta": self.stream.number(f"theta of {name}")}
        dims = {"heads": heads, "kv_heads": kv_heads, "q_dim": q_dim, "v_dim": v_dim}
        return {"kind": "attention", **dims, "eps": eps, "rope": rope}

    def ffn(self, key: str, channels: int) -> Spec:
        self.stream.integer(f"channels of {key}", channels, channels)
        hidden, gated = self.size(f"hidden channels of {key}", 1 << 16), self.flag(f"SwiGLU flag of {key}")
        eps = self.rms_norm(f"{key}.norm", channels)
        self.matmul(f"{key}.linear1", channels, hidden)
        if gated:
            self.matmul(f"{key}.gate", channels, hidden)
        self.matmul(f"{key}.linear2", hidden, channels)
        return {"kind": "ffn", "hidden": hidden, "gated": gated, "eps": eps}

    def policy_head(self, channels: int) -> Spec:
        self.stream.word("name of the policy head")
        outputs = 4 if self.version == 16 else 2 if self.version >= 12 else 1
        if self.version >= 17:
            outputs = self.stream.integer("number of policy outputs", 2, 4)
            if outputs == 3:
                raise WeightsError("a policy head has three outputs")
            self.zeros(3, "policy head")
        p1_conv, p1 = self.conv("policy_head.p1_conv", channels)
        g1_conv, g1 = self.conv("policy_head.g1_conv", channels)
        self.batch_norm("policy_head.g1_norm", g1)
        acts = [self.act("the policy head")]
        self.matmul("policy_head.gpool_to_bias", 3 * g1, p1)
        self.batch_norm("policy_head.p1_norm", p1)
        acts.append(self.act("the policy head"))
        p2_conv, _ = self.conv("policy_head.p2_conv", p1, outputs)
        pass_spec: Spec | None = None
        if self.version >= 15:
            hidden = self.matmul("policy_head.pass_hidden", 3 * g1)
            self.mat_bias("policy_head.pass_hidden", hidden)
            pass_spec = {"hidden": hidden, "act": self.act("the pass head")}
            self.matmul("policy_head.pass_out", hidden, outputs)
        else:
            self.matmul("policy_head.pass_out", 3 * g1, outputs)
        return {
            "p1": p1,
            "g1": g1,
            "acts": acts,
            "outputs": list(POLICY_OUTPUTS[:outputs]),
            "kernels": {"p1": self.plain(p1_conv), "g1": self.plain(g1_conv), "p2": self.plain(p2_conv)},
            "pass": pass_spec,
        }

    def value_head(self, channels: int) -> Spec:
        self.stream.word("name of the value head")
        if self.version >= 17:
            self.zeros(3, "value head")
        score = score_outputs_of_version(self.version)
        v1_conv, v1 = self.conv("value_head.v1_conv", channels)
        self.batch_norm("value_head.v1_norm", v1)
        acts = [self.act("the value head")]
        v2 = self.matmul("value_head.v2", 3 * v1)
        self.mat_bias("value_head.v2", v2)
        acts.append(self.act("the value head"))
        self.matmul("value_head.value", v2, 3)
        self.mat_bias("value_head.value", 3)
        self.matmul("value_head.score", v2, len(score))
        self.mat_bias("value_head.score", len(score))
        ownership, _ = self.conv("value_head.ownership", v1, 1)
        kernels = {"v1": self.plain(v1_conv), "ownership": self.plain(ownership)}
        return {"v1": v1, "v2": v2, "acts": acts, "kernels": kernels, "score": score}

    def plain(self, conv: Spec) -> list[int]:
        if conv["dilation"] != [1, 1]:
            raise WeightsError("a head's convolution is dilated")
        return list(conv["kernel"])
