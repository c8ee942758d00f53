"""Rewrites a policy/value net for evaluation on a CPU at one board size: fewer, larger steps with the same result.

Norms that follow a convolution go into its weights, ReLU into the convolution; weights are laid out once for oneDNN;
attention becomes one projection, one rotation by constants and two matrix products; the heads' last layers run in
float32. Everything else of a net (blocks.py, policy_value.py) stays what it is.
Perf: processor time of one thread, bfloat16, 19x19, AMD EPYC with AVX-512 BF16 (2026-11), against the net as it is:
g170-b6c96, batch 1 / 4: 4.4 / 3.7 ms a position, not 5.3 / 4.1; b10c384h6nbttflrs, batch 1: 91 ms, not 131.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .alphagozero_net import AlphaGoZeroNet, ConvNorm, ResidualBlock
from .blocks import (
    AttentionBlock,
    FFNBlock,
    GpoolBlock,
    NestedBlock,
    OrdinaryBlock,
    ScaleBias,
    pool_policy,
    pool_value,
)
from .policy_value import PolicyHead, PolicyValueNet, ValueHead
from .raw_outputs import RawOutputs

Size = tuple[int, int]
ATTENTION_CACHE = 300_000  # attention weights worked on at a time


def fuse(net: nn.Module, height: int, width: int, dtype: torch.dtype) -> nn.Module | None:
    """Return a module that computes what the net computes, on boards of one size, with layers in dtype.

    None for a family of nets that has no fused form.
    """
    fused: nn.Module
    if isinstance(net, PolicyValueNet):
        fused = FusedNet(net, (height, width), dtype)
    elif isinstance(net, AlphaGoZeroNet):
        fused = FusedZero(net, (height, width), dtype)
    else:
        return None
    return fused.eval().requires_grad_(False)


class FusedConv(nn.Module):
    """A convolution with bias and activation; its weights are packed for boards of one size where oneDNN is there."""

    def __init__(self, conv: nn.Conv2d, norm: nn.Module | None, act: nn.Module | None, size: Size, dtype: torch.dtype):
        super().__init__()
        weight, bias = conv.weight.double(), torch.zeros(conv.out_channels, dtype=torch.float64)
        if isinstance(norm, ScaleBias):
            weight, bias = weight * norm.scale.double()[:, None, None, None], norm.bias.double()
        relu = isinstance(act, nn.ReLU)
        weight = weight.to(dtype).contiguous(memory_format=torch.channels_last)
        self.padding, self.dilation = [int(p) for p in conv.padding], list(conv.dilation)
        self.weight, self.bias = nn.Parameter(weight), nn.Parameter(bias.to(dtype))
        self.act = act if not isinstance(act, nn.Identity) else None
        self.packed = None
        if torch.backends.mkldnn.is_available() and hasattr(  # type: ignore[no-untyped-call]
            torch.ops.mkldnn_prepacked, "conv2d_prepack"
        ):
            shape = [1, conv.in_channels, *size]
            self.packed = torch.ops.mkldnn_prepacked.conv2d_prepack(
                self.weight, self.bias, [1, 1], self.padding, self.dilation, 1, shape, "relu" if relu else "none"
            )
            self.act = None if relu else self.act

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor
        if self.packed is not None:
            y = torch.ops.mkldnn_prepacked.conv2d_run(x, self.packed)
        else:
            y = F.conv2d(x, self.weight, self.bias, 1, self.padding, self.dilation)
        return y if self.act is None else self.act(y)


class ScaleAct(nn.Module):
    """The multiply-add and activation in front of a convolution, which zero padding keeps from being folded into it."""

    def __init__(self, norm: nn.Module, act: nn.Module, dtype: torch.dtype) -> None:
        super().__init__()
        assert isinstance(norm, ScaleBias)
        self.scale = nn.Parameter(norm.scale.to(dtype).view(1, -1, 1, 1))
        self.bias = nn.Parameter(norm.bias.to(dtype).view(1, -1, 1, 1))
        self.act = act

    def forward(self, x: Tensor) -> Tensor:
        y = torch.addcmul(self.bias, x, self.scale)
        if isinstance(self.act, nn.ReLU):
            return y.relu_()
        z: Tensor = self.act(y)
        return z


class PooledBias(nn.Module):
    """Pooled maps to a bias of other maps, in float32: act(norm(x + linear(pool))) with the norm folded in.

    The scale belongs into the convolution that made x: see `scaled`.
    """

    def __init__(self, linear: nn.Linear, norm: ScaleBias) -> None:
        super().__init__()
        self.weight = nn.Parameter(linear.weight * norm.scale[:, None])
        self.bias = nn.Parameter(norm.bias.clone())

    def forward(self, pooled: Tensor, x: Tensor) -> Tensor:
        bias = F.linear(pooled, self.weight, self.bias).to(x.dtype)
        return x.add_(bias[:, :, None, None])


def scaled(conv: nn.Conv2d, norm: ScaleBias) -> tuple[nn.Conv2d, ScaleBias]:
    """Return the convolution with a norm that only scales: its bias comes with the PooledBias."""
    only_scale = ScaleBias(conv.out_channels)
    only_scale.scale.data.copy_(norm.scale)
    return conv, only_scale


class FusedOrdinary(nn.Module):
    def __init__(self, block: OrdinaryBlock, size: Size, dtype: torch.dtype) -> None:
        super().__init__()
        self.pre = ScaleAct(block.pre_norm, block.pre_act, dtype)
        self.conv1 = FusedConv(block.conv1, block.mid_norm, block.mid_act, size, dtype)
        self.conv2 = FusedConv(block.conv2, None, None, size, dtype)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.conv2(self.conv1(self.pre(x)))
        return y.add_(x)


class FusedGpool(nn.Module):
    def __init__(self, block: GpoolBlock, size: Size, dtype: torch.dtype) -> None:
        super().__init__()
        assert isinstance(block.mid_norm, ScaleBias)
        self.pre = ScaleAct(block.pre_norm, block.pre_act, dtype)
        self.conv_regular = FusedConv(*scaled(block.conv_regular, block.mid_norm), None, size, dtype)
        self.conv_gpool = FusedConv(block.conv_gpool, block.gpool_norm, block.gpool_act, size, dtype)
        self.to_bias = PooledBias(block.gpool_to_bias, block.mid_norm)
        self.mid_act = block.mid_act
        self.conv2 = FusedConv(block.conv2, None, None, size, dtype)

    def forward(self, x: Tensor) -> Tensor:
        y = self.pre(x)
        pooled = pool_policy(self.conv_gpool(y).float())
        z: Tensor = self.conv2(self.mid_act(self.to_bias(pooled, self.conv_regular(y))))
        return z.add_(x)


class FusedNested(nn.Module):
    def __init__(self, block: NestedBlock, size: Size, dtype: torch.dtype) -> None:
        super().__init__()
        self.pre = ScaleAct(block.pre_norm, block.pre_act, dtype)
        self.conv_in = FusedConv(block.conv_in, None, None, size, dtype)
        self.blocks = nn.ModuleList(fuse_block(inner, size, dtype) for inner in block.blocks)
        self.post = ScaleAct(block.post_norm, block.post_act, dtype)
        self.conv_out = FusedConv(block.conv_out, None, None, size, dtype)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.conv_in(self.pre(x))
        for block in self.blocks:
            y = block(y)
        y = self.conv_out(self.post(y))
        return y.add_(x)


def unit_rms(x: Tensor, eps: float) -> Tensor:
    """Divide vectors [..., C] by their root mean square; the norm's weight is in the next matrix."""
    norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float32)
    return x * torch.rsqrt(norm * norm * (1.0 / x.shape[-1]) + eps).to(x.dtype)


def tokens_of(x: Tensor) -> Tensor:
    """View maps [B, C, H, W] (channels last in memory) as [B, H*W, C]."""
    return x.permute(0, 2, 3, 1).reshape(x.shape[0], -1, x.shape[1])


def maps_of(tokens: Tensor, size: Size) -> Tensor:
    """View [B, H*W, C] as [B, C, H, W]."""
    return tokens.view(tokens.shape[0], size[0], size[1], -1).permute(0, 3, 1, 2)


class FusedAttention(nn.Module):
    """Attention with one projection for q, k and v, pairs rotated as halves, query heads grouped by their key head.

    Perf: a few heads at a time, so that the P x P weights stay in the cache (six heads of 361 points alone: 1.3 ms two
    at a time, 2.3 ms at once, 1.8 ms by scaled_dot_product_attention).
    """

    cos: Tensor
    sin: Tensor

    def __init__(self, block: AttentionBlock, size: Size, dtype: torch.dtype) -> None:
        super().__init__()
        self.size, self.eps = size, block.norm.eps
        self.heads, self.kv_heads, self.q_dim, self.v_dim = block.heads, block.kv_heads, block.q_dim, block.v_dim
        gain = block.norm.weight.double()[None]
        order = torch.arange(self.q_dim)
        angles = block.angles(*size)
        if angles is not None:
            order = torch.cat([order[0::2], order[1::2]])
            angles = angles.double().permute(1, 0, 2)  # [P, kv_heads or 1, pairs]
            per_q = angles.repeat_interleave(self.heads // self.kv_heads if angles.shape[1] > 1 else self.heads, dim=1)
            per_k = angles if angles.shape[1] > 1 else angles.repeat(1, self.kv_heads, 1)
            angles = torch.cat([per_q, per_k], dim=1)
            self.register_buffer("cos", torch.cat([angles.cos(), angles.cos()], dim=2).to(dtype))
            self.register_buffer("sin", torch.cat([-angles.sin(), angles.sin()], dim=2).to(dtype))
        self.rotated = angles is not None
        q = (block.q.weight.double() * gain).view(self.heads, self.q_dim, -1)[:, order] * self.q_dim**-0.5
        k = (block.k.weight.double() * gain).view(self.kv_heads, self.q_dim, -1)[:, order]
        v = block.v.weight.double() * gain
        self.qkv = nn.Parameter(torch.cat([q.flatten(0, 1), k.flatten(0, 1), v]).to(dtype))
        self.out = nn.Parameter(block.out.weight.to(dtype))

    def forward(self, x: Tensor) -> Tensor:
        tokens = tokens_of(x)
        batch, points = tokens.shape[0], self.size[0] * self.size[1]
        heads, kv, qd, vd = self.heads, self.kv_heads, self.q_dim, self.v_dim
        z = F.linear(unit_rms(tokens, self.eps), self.qkv)
        split = (heads + kv) * qd
        qk = z[..., :split].view(batch, points, heads + kv, qd)
        if self.rotated:
            turned = torch.cat([qk[..., qd // 2 :], qk[..., : qd // 2]], dim=3)
            qk = torch.addcmul(qk * self.cos, turned, self.sin)
        group = heads // kv
        q = qk[:, :, :heads].reshape(batch, points, kv, group, qd).permute(2, 0, 3, 1, 4)
        q = q.reshape(kv, batch, group * points, qd)
        k = qk[:, :, heads:].permute(2, 0, 3, 1).contiguous()  # [kv, B, qd, P]
        v = z[..., split:].view(batch, points, kv, vd).permute(2, 0, 1, 3).contiguous()  # [kv, B, P, vd]
        step = max(1, ATTENTION_CACHE // (group * points * points))
        parts = [
            torch.matmul(torch.softmax(torch.matmul(q[i : i + step], k[i : i + step]), dim=3), v[i : i + step])
            for i in range(0, kv, step)
        ]
        mixed = torch.cat(parts).view(kv, batch, group, points, vd).permute(1, 3, 0, 2, 4)
        mixed = mixed.reshape(batch, points, heads * vd)
        return maps_of(F.linear(mixed, self.out).add_(tokens), self.size)


class FusedFFN(nn.Module):
    """The feed-forward layer with one projection for both halves of SwiGLU."""

    def __init__(self, block: FFNBlock, size: Size, dtype: torch.dtype) -> None:
        super().__init__()
        self.size, self.eps, self.hidden = size, block.norm.eps, block.linear1.out_features
        first = [block.linear1.weight] + ([block.gate.weight] if block.gate is not None else [])
        self.gated = block.gate is not None
        self.first = nn.Parameter((torch.cat(first).double() * block.norm.weight.double()[None]).to(dtype))
        self.second = nn.Parameter(block.linear2.weight.to(dtype))

    def forward(self, x: Tensor) -> Tensor:
        tokens = tokens_of(x)
        z = F.linear(unit_rms(tokens, self.eps), self.first)
        hidden = F.silu(z[..., : self.hidden])
        if self.gated:
            hidden = hidden.mul_(z[..., self.hidden :])
        return maps_of(F.linear(hidden, self.second).add_(tokens), self.size)


def fuse_block(block: nn.Module, size: Size, dtype: torch.dtype) -> nn.Module:
    """Return the fused form of a block of blocks.py."""
    kinds: dict[type[nn.Module], Callable[[Any, Size, torch.dtype], nn.Module]] = {
        OrdinaryBlock: FusedOrdinary,
        GpoolBlock: FusedGpool,
        NestedBlock: FusedNested,
        AttentionBlock: FusedAttention,
        FFNBlock: FusedFFN,
    }
    if type(block) in kinds:
        return kinds[type(block)](block, size, dtype)
    raise TypeError(f"no fused form of {type(block).__name__}")


class FusedPolicyHead(nn.Module):
    """The policy head; its pooling and last layers in float32."""

    def __init__(self, head: PolicyHead, size: Size, dtype: torch.dtype) -> None:
        super().__init__()
        assert isinstance(head.p1_norm, ScaleBias)
        self.p1_conv = FusedConv(*scaled(head.p1_conv, head.p1_norm), None, size, dtype)
        self.g1_conv = FusedConv(head.g1_conv, head.g1_norm, head.g1_act, size, dtype)
        self.to_bias = PooledBias(head.gpool_to_bias, head.p1_norm)
        self.p1_act, self.p2_conv = head.p1_act, head.p2_conv
        self.pass_hidden, self.pass_act, self.pass_out = head.pass_hidden, head.pass_act, head.pass_out

    def forward(self, x: Tensor) -> Tensor:
        pooled = pool_policy(self.g1_conv(x).float())
        y = self.p1_act(self.to_bias(pooled, self.p1_conv(x).float()))
        points = self.p2_conv(y).flatten(2)
        if self.pass_hidden is not None and self.pass_act is not None:
            pooled = self.pass_act(self.pass_hidden(pooled))
        return torch.cat([points, self.pass_out(pooled)[:, :, None]], dim=2)


class FusedValueHead(nn.Module):
    """The value head; everything after its first convolution in float32."""

    def __init__(self, head: ValueHead, size: Size, dtype: torch.dtype) -> None:
        super().__init__()
        self.v1_conv = FusedConv(head.v1_conv, head.v1_norm, head.v1_act, size, dtype)
        self.v2, self.v2_act, self.value, self.score = head.v2, head.v2_act, head.value, head.score
        self.ownership = head.ownership

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        maps = self.v1_conv(x).float()
        hidden = self.v2_act(self.v2(pool_value(maps)))
        return self.value(hidden), self.score(hidden), self.ownership(maps).flatten(1)


class FusedNet(nn.Module):
    """A whole net; same arguments and results as PolicyValueNet, spatial inputs in dtype, the rest in float32."""

    def __init__(self, net: PolicyValueNet, size: Size, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype
        self.input_conv = FusedConv(net.input_conv, None, None, size, dtype)
        self.input_globals, self.meta_encoder = net.input_globals, net.meta_encoder
        self.blocks = nn.ModuleList(fuse_block(block, size, dtype) for block in net.blocks)
        self.tip = (
            ScaleAct(net.tip_norm, net.tip_act, dtype)
            if isinstance(net.tip_norm, ScaleBias)
            else nn.Sequential(net.tip_norm.to(dtype), net.tip_act)
        )
        self.policy_head = FusedPolicyHead(net.policy_head, size, dtype)
        self.value_head = FusedValueHead(net.value_head, size, dtype)

    def forward(self, spatial: Tensor, globals_: Tensor, meta: Tensor | None = None) -> RawOutputs:
        x: Tensor = self.input_conv(spatial)
        if self.input_globals is not None:
            bias = self.input_globals(globals_)
            if self.meta_encoder is not None and meta is not None:
                bias = bias + self.meta_encoder(meta)
            x.add_(bias.to(self.dtype)[:, :, None, None])
        for block in self.blocks:
            x = block(x)
        x = self.tip(x)
        value, score, ownership = self.value_head(x)
        return RawOutputs(self.policy_head(x), value, score, ownership)


class FusedZero(nn.Module):
    """AlphaGo Zero's net: every norm in its convolution; the fully connected layers in float32."""

    def __init__(self, net: AlphaGoZeroNet, size: Size, dtype: torch.dtype) -> None:
        super().__init__()

        def fused(part: ConvNorm) -> FusedConv:
            return FusedConv(part.conv, part.norm, part.act, size, dtype)

        self.input = fused(net.input)
        blocks = [block for block in net.blocks if isinstance(block, ResidualBlock)]
        self.first = nn.ModuleList(fused(block.first) for block in blocks)
        self.second = nn.ModuleList(fused(block.second) for block in blocks)
        self.policy_conv, self.value_conv = fused(net.policy_conv), fused(net.value_conv)
        self.last = net

    def forward(self, spatial: Tensor, globals_: Tensor, meta: Tensor | None = None) -> RawOutputs:
        x: Tensor = self.input(spatial)
        for first, second in zip(self.first, self.second, strict=True):
            y: Tensor = second(first(x))
            x = y.add_(x).relu_()
        return self.last.heads(self.policy_conv(x), self.value_conv(x))
