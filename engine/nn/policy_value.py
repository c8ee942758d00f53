"""The policy/value net: one class for KataGo's files and for our own, built from a spec, for evaluation or training.

An evaluation net carries folded norms; a trainable one carries BatchNorm2d under the same names, and fold_for_export
turns its state into the tensors that the evaluation net (and a checkpoint) takes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from ..errors import WeightsError
from ..evaluator import ENCODING_SHAPES
from .alphagozero_net import AlphaGoZeroNet
from .blocks import Linear, TipRMSNorm, activation, conv, he_initialise, make_block, norm, pool_policy, pool_value
from .judgment import JudgmentNet
from .kstep import KStepNet, initialise
from .leelazero_net import LeelaZeroNet
from .new_spec import conv_spec
from .raw_outputs import RawOutputs
from .spec import Spec, count_blocks
from .spec_check import check_spec

__all__ = ["PolicyValueNet", "RawOutputs", "build_module", "fold_for_export", "load_tensors"]


class PolicyHead(nn.Module):
    """Trunk [B, C, H, W] to logits [B, outputs, H*W + 1]; the pass logit comes from the pooled vector."""

    def __init__(self, spec: Spec, channels: int, trainable: bool) -> None:
        super().__init__()
        p1, g1, outputs, kernels = spec["p1"], spec["g1"], len(spec["outputs"]), spec["kernels"]
        self.p1_conv = conv({**conv_spec(), "kernel": kernels["p1"]}, channels, p1)
        self.g1_conv = conv({**conv_spec(), "kernel": kernels["g1"]}, channels, g1)
        self.g1_norm = norm(g1, trainable)
        self.g1_act = activation(spec["acts"][0])
        self.gpool_to_bias = Linear(3 * g1, p1, bias=False)
        self.p1_norm = norm(p1, trainable)
        self.p1_act = activation(spec["acts"][1])
        self.p2_conv = conv({**conv_spec(), "kernel": kernels["p2"]}, p1, outputs)
        self.pass_hidden: Linear | None = None
        self.pass_act: nn.Module | None = None
        if spec["pass"] is None:
            self.pass_out = Linear(3 * g1, outputs, bias=False)
        else:
            self.pass_hidden = Linear(3 * g1, spec["pass"]["hidden"])
            self.pass_act = activation(spec["pass"]["act"])
            self.pass_out = Linear(spec["pass"]["hidden"], outputs, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        pooled = pool_policy(self.g1_act(self.g1_norm(self.g1_conv(x))))
        y = self.p1_conv(x) + self.gpool_to_bias(pooled)[:, :, None, None]
        points = self.p2_conv(self.p1_act(self.p1_norm(y))).flatten(2)
        if self.pass_hidden is not None and self.pass_act is not None:
            pooled = self.pass_act(self.pass_hidden(pooled))
        logits: Tensor = torch.cat([points, self.pass_out(pooled)[:, :, None]], dim=2)
        return logits


class ValueHead(nn.Module):
    """Trunk to value logits [B, 3], score outputs [B, S] and ownership before tanh [B, H*W]."""

    def __init__(self, spec: Spec, channels: int, trainable: bool) -> None:
        super().__init__()
        v1, v2 = spec["v1"], spec["v2"]
        self.v1_conv = conv({**conv_spec(), "kernel": spec["kernels"]["v1"]}, channels, v1)
        self.v1_norm = norm(v1, trainable)
        self.v1_act = activation(spec["acts"][0])
        self.v2 = Linear(3 * v1, v2)
        self.v2_act = activation(spec["acts"][1])
        self.value = Linear(v2, 3)
        self.score = Linear(v2, len(spec["score"]))
        self.ownership = conv({**conv_spec(), "kernel": spec["kernels"]["ownership"]}, v1, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        maps = self.v1_act(self.v1_norm(self.v1_conv(x)))
        hidden = self.v2_act(self.v2(pool_value(maps)))
        return self.value(hidden), self.score(hidden), self.ownership(maps).flatten(1)


class MetaEncoder(nn.Module):
    """SGF metadata [B, 192] to a bias of the trunk [B, C]: three linear layers, two activations."""

    def __init__(self, spec: Spec, channels: int) -> None:
        super().__init__()
        h1, h2 = spec["hidden"]
        self.linear1, self.linear2 = Linear(spec["inputs"], h1), Linear(h1, h2)
        self.linear3 = Linear(h2, channels, bias=False)
        self.act1, self.act2 = activation(spec["acts"][0]), activation(spec["acts"][1])

    def forward(self, meta: Tensor) -> Tensor:
        bias: Tensor = self.linear3(self.act2(self.linear2(self.act1(self.linear1(meta)))))
        return bias


class PolicyValueNet(nn.Module):
    """A net of a policy-value spec. Works on any board size; nothing in it remembers one.

    Args of forward: spatial [B, planes, H, W], globals [B, G], meta [B, 192] for nets with a metadata encoder.
    Returns: RawOutputs, before any post-processing (postprocess.py).
    """

    def __init__(self, spec: Spec, *, trainable: bool = False) -> None:
        super().__init__()
        self.spec = spec
        planes, n_globals = ENCODING_SHAPES[spec["encoding"]]
        channels = spec["channels"]
        self.input_conv = conv(spec["input"], planes, channels)
        self.input_globals = Linear(n_globals, channels, bias=False) if n_globals else None
        self.meta_encoder = MetaEncoder(spec["meta"], channels) if spec["meta"] else None
        self.blocks = nn.ModuleList(make_block(b, channels, trainable) for b in spec["blocks"])
        tip = spec["tip"]
        self.tip_norm = (
            norm(channels, trainable)
            if tip["norm"] == "batchnorm"
            else TipRMSNorm(channels, tip["eps"], tip["spatial"])
        )
        self.tip_act = activation(tip["act"])
        self.policy_head = PolicyHead(spec["policy"], channels, trainable)
        self.value_head = ValueHead(spec["value"], channels, trainable)

    def forward(self, spatial: Tensor, globals_: Tensor, meta: Tensor | None = None) -> RawOutputs:
        x = self.input_conv(spatial)
        if self.input_globals is not None:
            x = x + self.input_globals(globals_)[:, :, None, None]
        if self.meta_encoder is not None and meta is not None:
            x = x + self.meta_encoder(meta)[:, :, None, None]
        for block in self.blocks:
            x = block(x)
        x = self.tip_act(self.tip_norm(x))
        value, score, ownership = self.value_head(x)
        return RawOutputs(self.policy_head(x), value, score, ownership)


FAMILIES: dict[str, Callable[[Spec], nn.Module]] = {
    "policy-value": PolicyValueNet,
    "leela-zero": LeelaZeroNet,
    "alphago-zero": AlphaGoZeroNet,
    "judgment": JudgmentNet,
    "k-step": KStepNet,
}


def build_module(spec: Spec, *, trainable: bool = False) -> nn.Module:
    """Build the module of a spec, weights initialised for training (or to be overwritten by load_tensors).

    Args:
        trainable: True gives BatchNorm2d where evaluation has one multiply-add, and a random start; False leaves the
            module on the "meta" device, without memory, until load_tensors fills it.

    Raises: WeightsError for a bad spec.
    """
    check_spec(spec)
    if not trainable:
        with torch.device("meta"):
            return FAMILIES[spec["family"]](spec)
    if spec["family"] == "alphago-zero":
        zero = AlphaGoZeroNet(spec, trainable=True)
        zero.initialise()
        return zero
    if spec["family"] == "judgment":
        judging = JudgmentNet(spec, trainable=True)
        judging.initialise()
        return judging
    if spec["family"] == "k-step":
        net = KStepNet(spec, trainable=True)
        initialise(net)
        return net
    if spec["family"] != "policy-value":
        raise WeightsError(f"{spec['family']} nets cannot be trained")
    module = PolicyValueNet(spec, trainable=True)
    _initialise(module)
    return module


def load_tensors(module: nn.Module, tensors: dict[str, Tensor]) -> nn.Module:
    """Fill a module with the tensors of its spec and return it. A trainable module takes folded norms as its start.

    Raises: WeightsError naming a missing, surplus, misshapen or non-finite tensor.
    """
    state = module.state_dict()
    wanted = {}
    trained_norms = {name for name, m in module.named_modules() if isinstance(m, nn.BatchNorm2d)}
    given = dict(tensors)
    for name in trained_norms:
        if f"{name}.scale" in given:
            scale = given.pop(f"{name}.scale")
            given[f"{name}.weight"] = scale
            given[f"{name}.running_mean"] = torch.zeros_like(scale)
            given[f"{name}.running_var"] = torch.full_like(scale, 1.0 - 1e-5)
        given.setdefault(f"{name}.num_batches_tracked", torch.tensor(0))
    for name, expected in state.items():
        if name not in given:
            raise WeightsError(f"tensor {name} is missing")
        tensor = given.pop(name)
        if tensor.shape != expected.shape:
            raise WeightsError(f"tensor {name} has shape {list(tensor.shape)} instead of {list(expected.shape)}")
        if tensor.is_floating_point():
            tensor = tensor.float()
            if not bool(np.isfinite(tensor.numpy()).all()):
                raise WeightsError(f"tensor {name} holds a value that is not finite")
        wanted[name] = tensor.contiguous().clone()
    if given:
        raise WeightsError(f"unknown tensor {min(given)}")
    module.load_state_dict(wanted, assign=True)
    return module if trained_norms else module.requires_grad_(False).eval()


def fold_for_export(module: nn.Module) -> dict[str, Tensor]:
    """Return the tensors of the evaluation net that computes what a trained module computes in eval mode.

    Every BatchNorm2d becomes scale = weight / sqrt(var + eps) and bias = bias - mean * scale, worked out in float64.
    """
    tensors = {name: t.detach().float().cpu() for name, t in module.state_dict().items()}
    for name, part in module.named_modules():
        if not isinstance(part, nn.BatchNorm2d):
            continue
        weight, bias = (tensors.pop(f"{name}.{key}").double() for key in ("weight", "bias"))
        mean, var = (tensors.pop(f"{name}.running_{key}").double() for key in ("mean", "var"))
        tensors.pop(f"{name}.num_batches_tracked")
        scale = weight / torch.sqrt(var + part.eps)
        tensors[f"{name}.scale"], tensors[f"{name}.bias"] = scale.float(), (bias - mean * scale).float()
    return {name: tensors[name].contiguous() for name in sorted(tensors)}


def _initialise(module: PolicyValueNet) -> None:
    """He initialisation; the last layer of every residual branch starts small so that depth does no harm."""
    he_initialise(module)
    damp = (2.0 * count_blocks(module.spec["blocks"])) ** -0.5
    last = ("conv2", "conv_out", "out", "linear2")
    for name, part in module.blocks.named_modules():
        if name.rsplit(".", 1)[-1] in last and isinstance(part, nn.Conv2d | nn.Linear):
            part.weight.data.mul_(damp)
    for part in (module.policy_head.p2_conv, module.policy_head.pass_out, module.value_head.value):
        part.weight.data.mul_(0.5)

