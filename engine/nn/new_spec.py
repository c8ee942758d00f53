"""Specs of new nets to train: sizes in, a checked description (spec.py) out."""

from __future__ import annotations

from .spec import DEFAULT_MULTIPLIERS, Spec
from .spec_check import check_spec


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
