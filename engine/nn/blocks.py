"""The building blocks of a policy/value net as PyTorch modules, each made from its part of a spec (spec.py).

Shapes: feature maps are [B, C, H, W], every point on the board (one tensor, one board size), so no masks are needed.
Where a batch norm stood in training an evaluation net holds one multiply-add a channel (ScaleBias).
Source: docs/nets.md §1.2–1.4 (facts); Zhang & Sennrich 2019 (RMSNorm), Su et al. 2021 (RoPE), Shazeer 2020 (SwiGLU).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .spec import Spec


class Linear(nn.Linear):
    """A linear layer that starts uninitialised: weights are loaded, or set by policy_value for training."""

    def reset_parameters(self) -> None:
        pass


class Conv2d(nn.Conv2d):
    """A convolution that starts uninitialised (see Linear)."""

    def reset_parameters(self) -> None:
        pass


def activation(name: str) -> nn.Module:
    """Return the activation of that name. In place nowhere: residuals keep their input."""
    kinds: dict[str, type[nn.Module]] = {"identity": nn.Identity, "relu": nn.ReLU, "mish": nn.Mish, "silu": nn.SiLU}
    return kinds[name]()


def pool_policy(x: Tensor) -> Tensor:
    """Pool [B, C, H, W] to [B, 3C]: mean, mean scaled by the board's side, max (gpool blocks, policy head)."""
    side = math.sqrt(x.shape[2] * x.shape[3])
    mean = x.mean(dim=(2, 3))
    return torch.cat([mean, mean * ((side - 14.0) * 0.1), x.amax(dim=(2, 3))], dim=1)


def pool_value(x: Tensor) -> Tensor:
    """Pool [B, C, H, W] to [B, 3C]: mean, scaled by the side, and by the side squared (value head)."""
    side = math.sqrt(x.shape[2] * x.shape[3])
    mean = x.mean(dim=(2, 3))
    return torch.cat([mean, mean * ((side - 14.0) * 0.1), mean * ((side - 14.0) ** 2 * 0.01 - 0.1)], dim=1)


class ScaleBias(nn.Module):
    """y = x * scale + bias, a channel each: a batch norm at evaluation time."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        return torch.addcmul(self.bias.view(1, -1, 1, 1), x, self.scale.view(1, -1, 1, 1))


def norm(channels: int, trainable: bool) -> nn.Module:
    """Return the channel norm: BatchNorm2d where it is to be trained, else its folded form."""
    return nn.BatchNorm2d(channels, eps=1e-5, momentum=0.05) if trainable else ScaleBias(channels)


def conv(spec: Spec, c_in: int, c_out: int) -> Conv2d:
    """Return a "same"-padded convolution without bias."""
    (ky, kx), (dy, dx) = spec["kernel"], spec["dilation"]
    padding = (dy * (ky - 1) // 2, dx * (kx - 1) // 2)
    return Conv2d(c_in, c_out, (ky, kx), padding=padding, dilation=(dy, dx), bias=False)


class OrdinaryBlock(nn.Module):
    """Pre-activation residual block: x + conv2(act(norm(conv1(act(norm(x))))))."""

    def __init__(self, spec: Spec, channels: int, trainable: bool) -> None:
        super().__init__()
        self.pre_norm = norm(channels, trainable)
        self.pre_act = activation(spec["acts"][0])
        self.conv1 = conv(spec["convs"][0], channels, spec["mid"])
        self.mid_norm = norm(spec["mid"], trainable)
        self.mid_act = activation(spec["acts"][1])
        self.conv2 = conv(spec["convs"][1], spec["mid"], channels)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.conv1(self.pre_act(self.pre_norm(x)))
        y = self.conv2(self.mid_act(self.mid_norm(y)))
        return x + y


class GpoolBlock(nn.Module):
    """Residual block in which some channels are pooled over the board and bias the others."""

    def __init__(self, spec: Spec, channels: int, trainable: bool) -> None:
        super().__init__()
        regular, pooled = spec["regular"], spec["gpool"]
        self.pre_norm = norm(channels, trainable)
        self.pre_act = activation(spec["acts"][0])
        self.conv_regular = conv(spec["convs"][0], channels, regular)
        self.conv_gpool = conv(spec["convs"][1], channels, pooled)
        self.gpool_norm = norm(pooled, trainable)
        self.gpool_act = activation(spec["acts"][1])
        self.gpool_to_bias = Linear(3 * pooled, regular, bias=False)
        self.mid_norm = norm(regular, trainable)
        self.mid_act = activation(spec["acts"][2])
        self.conv2 = conv(spec["convs"][2], regular, channels)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.pre_act(self.pre_norm(x))
        pooled = pool_policy(self.gpool_act(self.gpool_norm(self.conv_gpool(y))))
        y = self.conv_regular(y) + self.gpool_to_bias(pooled)[:, :, None, None]
        y = self.conv2(self.mid_act(self.mid_norm(y)))
        return x + y


class NestedBlock(nn.Module):
    """Bottleneck: a 1x1 convolution to fewer channels, blocks there, a 1x1 convolution back, a residual around all."""

    def __init__(self, spec: Spec, channels: int, trainable: bool) -> None:
        super().__init__()
        mid = spec["mid"]
        self.pre_norm = norm(channels, trainable)
        self.pre_act = activation(spec["acts"][0])
        self.conv_in = conv(spec["convs"][0], channels, mid)
        self.blocks = nn.ModuleList(make_block(inner, mid, trainable) for inner in spec["blocks"])
        self.post_norm = norm(mid, trainable)
        self.post_act = activation(spec["acts"][1])
        self.conv_out = conv(spec["convs"][1], mid, channels)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.conv_in(self.pre_act(self.pre_norm(x)))
        for block in self.blocks:
            y = block(y)
        y = self.conv_out(self.post_act(self.post_norm(y)))
        return x + y


class RMSNorm(nn.Module):
    """Divide a position's vector by its root mean square over channels, times a weight. Takes [B, P, C]."""

    def __init__(self, channels: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


class TipRMSNorm(nn.Module):
    """The trunk's last norm: root mean square a point, or over all points of a sample (spatial). Takes [B, C, H, W]."""

    def __init__(self, channels: int, eps: float, spatial: bool) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.eps = eps
        self.dims = (1, 2, 3) if spatial else (1,)

    def forward(self, x: Tensor) -> Tensor:
        square = x.float().square().mean(dim=self.dims, keepdim=True)
        y = x * torch.rsqrt(square + self.eps).to(x.dtype)
        return torch.addcmul(self.bias.view(1, -1, 1, 1), y, self.scale.view(1, -1, 1, 1))


class AttentionBlock(nn.Module):
    """x + out(softmax(q·k / sqrt(q_dim)) v) over all points, with grouped-query heads and rotary positions.

    Query head h reads key/value head h // (heads / kv_heads). Rotation acts on the channel pairs (2p, 2p+1) of q and k.
    """

    rope_freqs: nn.Parameter | None

    def __init__(self, spec: Spec, channels: int, trainable: bool) -> None:
        super().__init__()
        self.heads, self.kv_heads = spec["heads"], spec["kv_heads"]
        self.q_dim, self.v_dim, self.rope = spec["q_dim"], spec["v_dim"], spec["rope"]
        self.norm = RMSNorm(channels, spec["eps"])
        self.q = Linear(channels, self.heads * self.q_dim, bias=False)
        self.k = Linear(channels, self.kv_heads * self.q_dim, bias=False)
        self.v = Linear(channels, self.kv_heads * self.v_dim, bias=False)
        self.out = Linear(self.heads * self.v_dim, channels, bias=False)
        if self.rope and self.rope["kind"] == "learnable":
            self.rope_freqs = nn.Parameter(torch.zeros(self.kv_heads, self.q_dim // 2, 2))
        else:
            self.rope_freqs = None

    def angles(self, height: int, width: int) -> Tensor | None:
        """Return rotation angles [kv_heads or 1, H*W, q_dim/2] in radians, float32; None without RoPE."""
        if not self.rope:
            return None
        device = self.q.weight.device
        row = torch.arange(height, dtype=torch.float32, device=device).repeat_interleave(width)
        col = torch.arange(width, dtype=torch.float32, device=device).repeat(height)
        if self.rope_freqs is not None:
            fx, fy = self.rope_freqs.float().unbind(dim=-1)
            return col[None, :, None] * fx[:, None, :] + row[None, :, None] * fy[:, None, :]
        half = self.q_dim // 4
        steps = torch.arange(half, dtype=torch.float64, device=device)
        freqs = (float(self.rope["theta"]) ** (-2.0 * steps / (self.q_dim / 2))).float()
        return torch.cat([row[:, None] * freqs, col[:, None] * freqs], dim=1)[None]

    def forward(self, x: Tensor) -> Tensor:
        batch, channels, height, width = x.shape
        tokens: Tensor = x.flatten(2).transpose(1, 2)  # [B, P, C]
        y = self.norm(tokens)
        q = self.q(y).view(batch, -1, self.heads, self.q_dim).transpose(1, 2)  # [B, heads, P, q_dim]
        k = self.k(y).view(batch, -1, self.kv_heads, self.q_dim).transpose(1, 2)
        v = self.v(y).view(batch, -1, self.kv_heads, self.v_dim).transpose(1, 2)
        angles = self.angles(height, width)
        group = self.heads // self.kv_heads
        if angles is not None:
            k = rotate_pairs(k, angles)
            q = rotate_pairs(q, angles if angles.shape[0] == 1 else angles.repeat_interleave(group, dim=0))
        if group > 1:
            k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, height * width, -1)
        tokens = tokens + self.out(mixed)
        x = tokens.transpose(1, 2).reshape(batch, channels, height, width)
        return x


def rotate_pairs(x: Tensor, angles: Tensor) -> Tensor:
    """Rotate the pairs (2p, 2p+1) of x [B, heads, P, 2n] by angles [heads or 1, P, n]."""
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


class FFNBlock(nn.Module):
    """x + linear2(SiLU(linear1(norm(x))) * gate(norm(x))), a point at a time; without a gate no product."""

    def __init__(self, spec: Spec, channels: int, trainable: bool) -> None:
        super().__init__()
        self.norm = RMSNorm(channels, spec["eps"])
        self.linear1 = Linear(channels, spec["hidden"], bias=False)
        self.gate = Linear(channels, spec["hidden"], bias=False) if spec["gated"] else None
        self.linear2 = Linear(spec["hidden"], channels, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, channels, height, width = x.shape
        tokens: Tensor = x.flatten(2).transpose(1, 2)
        y = self.norm(tokens)
        hidden = F.silu(self.linear1(y))
        if self.gate is not None:
            hidden = hidden * self.gate(y)
        tokens = tokens + self.linear2(hidden)
        x = tokens.transpose(1, 2).reshape(batch, channels, height, width)
        return x


def make_block(spec: Spec, channels: int, trainable: bool) -> nn.Module:
    """Build the block that a (checked) block spec describes, on `channels` channels."""
    kinds: dict[str, Callable[[Spec, int, bool], nn.Module]] = {
        "ordinary": OrdinaryBlock,
        "gpool": GpoolBlock,
        "nested": NestedBlock,
        "attention": AttentionBlock,
        "ffn": FFNBlock,
    }
    return kinds[spec["kind"]](spec, channels, trainable)


def he_initialise(module: nn.Module) -> None:
    """Set all convolutions to He's normal weights and all linear layers to variance 1 / inputs, biases to zero."""
    for part in module.modules():
        if isinstance(part, nn.Conv2d):
            nn.init.kaiming_normal_(part.weight, nonlinearity="relu")
        elif isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=(1.0 / part.in_features) ** 0.5)
            if part.bias is not None:
                nn.init.zeros_(part.bias)
