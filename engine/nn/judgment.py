"""The judgment net: a trunk of residual blocks and, for every point, what it is worth and whose it will be.

Its outputs are maps in the view of the player to move: g, the territory value of the patent (0 on living stones, dame
and in seki, ±1 on territory and under dead stones); the owner of the point as three logits (the player's, the
opponent's, nobody's), from which it follows whether a stone is dead; and a logit of being in seki. Where the trunk is
that of a policy-value net its tensors have the same names, so that a playing net can be the start of a judgment net.
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from ..errors import WeightsError
from ..evaluator import ENCODING_SHAPES
from .blocks import Linear, activation, conv, he_initialise, make_block, norm, pool_policy
from .new_spec import conv_spec, new_net_spec
from .spec import Spec, count_blocks
from .spec_check import check_spec

MAPS = ("g", "own", "opponent", "neutral", "seki")
LAST = ("conv2", "conv_out", "out", "linear2")  # the last layers of residual branches


def judgment_spec(*, head_channels: int = 32, **trunk: object) -> Spec:
    """Describe a new judgment net.

    Args:
        head_channels: width of the head.
        trunk: blocks, channels, gpool_every, …, as of spec.new_net_spec. The paper's net has 19 blocks of 256
            channels, none of which pools (gpool_every = 0), and the encoding judgment-18.

    Raises: WeightsError where the sizes are out of bounds.
    """
    return of_trunk(new_net_spec(**trunk), head_channels=head_channels)  # type: ignore[arg-type]


def of_trunk(trunk: Spec, *, head_channels: int = 32) -> Spec:
    """Describe a judgment net on the trunk of a policy-value spec. Raises WeightsError."""
    spec: Spec = {
        "family": "judgment",
        "name": trunk["name"],
        "encoding": trunk["encoding"],
        "version": 1,
        "pass_alive_under_suicide": trunk["pass_alive_under_suicide"],
        "input": trunk["input"],
        "channels": trunk["channels"],
        "blocks": trunk["blocks"],
        "tip": trunk["tip"],
        "head": {"channels": head_channels, "act": trunk["tip"]["act"]},
    }
    check_spec(spec)
    return spec


def deepened(spec: Spec, more: int) -> Spec:
    """Describe a deeper net: the last `more` blocks stand twice. Raises WeightsError where there are not so many."""
    if not 0 <= more <= len(spec["blocks"]):
        raise WeightsError(f"{spec['name']}: {more} more blocks, but it has {len(spec['blocks'])}")
    deeper = {**spec, "blocks": spec["blocks"] + copy.deepcopy(spec["blocks"][len(spec["blocks"]) - more :])}
    check_spec(deeper)
    return deeper


class JudgmentHead(nn.Module):
    """Trunk [B, C, H, W] to five maps [B, 5, H*W] in the order of MAPS, g before tanh, the others logits."""

    def __init__(self, spec: Spec, channels: int, trainable: bool) -> None:
        super().__init__()
        width = spec["channels"]
        self.conv = conv(conv_spec(1), channels, width)
        self.gpool_to_bias = Linear(3 * width, width, bias=False)
        self.norm = norm(width, trainable)
        self.act = activation(spec["act"])
        self.out = conv(conv_spec(1), width, len(MAPS))
        self.out_bias = nn.Parameter(torch.zeros(len(MAPS)))

    def forward(self, x: Tensor) -> Tensor:
        maps = self.conv(x)
        maps = maps + self.gpool_to_bias(pool_policy(maps))[:, :, None, None]
        out: Tensor = self.out(self.act(self.norm(maps))).flatten(2)
        return out + self.out_bias[:, None]


class JudgmentNet(nn.Module):
    """A net of a judgment spec; works on any board size.

    Args of forward: spatial [B, planes, H, W], globals [B, G].
    Returns: [B, 5, H*W] as JudgmentHead says.
    """

    def __init__(self, spec: Spec, *, trainable: bool = False) -> None:
        super().__init__()
        self.spec = spec
        planes, n_globals = ENCODING_SHAPES[spec["encoding"]]
        channels = spec["channels"]
        self.input_conv = conv(spec["input"], planes, channels)
        self.input_globals = Linear(n_globals, channels, bias=False) if n_globals else None
        self.blocks = nn.ModuleList(make_block(b, channels, trainable) for b in spec["blocks"])
        self.tip_norm = norm(channels, trainable)
        self.tip_act = activation(spec["tip"]["act"])
        self.judgment_head = JudgmentHead(spec["head"], channels, trainable)

    def forward(self, spatial: Tensor, globals_: Tensor, meta: Tensor | None = None) -> Tensor:
        x = self.input_conv(spatial)
        if self.input_globals is not None:
            x = x + self.input_globals(globals_)[:, :, None, None]
        for block in self.blocks:
            x = block(x)
        maps: Tensor = self.judgment_head(self.tip_act(self.tip_norm(x)))
        return maps

    def initialise(self) -> None:
        """Start as policy-value nets do: He, the last layer of every residual branch small, the head smaller."""
        he_initialise(self)
        damp = (2.0 * count_blocks(self.spec["blocks"])) ** -0.5
        for name, part in self.blocks.named_modules():
            if name.rsplit(".", 1)[-1] in LAST:
                part.weight.data.mul_(damp)
        self.judgment_head.out.weight.data.mul_(0.5)
        self.judgment_head.gpool_to_bias.weight.data.mul_(0.1)


@torch.no_grad()
def start_from(net: JudgmentNet, tensors: dict[str, Tensor]) -> list[str]:
    """Take over what a net has: all of a judgment net, or a playing net's trunk, and its ownership as a first guess.

    Blocks that it does not have change nothing at first.

    Args:
        net: freshly initialised.
        tensors: of a net for evaluation with the same trunk. Its norms become the scales and biases of batch norms,
            whose statistics are not known.

    Returns: the names of the net's tensors that stayed as they were.
    """
    trained = [name for name, part in net.named_modules() if isinstance(part, nn.BatchNorm2d)]
    norms = {f"{name}.weight": f"{name}.scale" for name in trained}
    head = {"conv.weight": "v1_conv.weight", "norm.scale": "v1_norm.scale", "norm.bias": "v1_norm.bias"}
    twins = {f"judgment_head.{own}": f"value_head.{other}" for own, other in head.items()}
    left = []
    for name, tensor in net.state_dict().items():
        own = norms.get(name, name)
        source = tensors.get(own, tensors.get(twins.get(own, own)))
        if source is not None and source.shape == tensor.shape:
            tensor.copy_(source)
        else:
            left.append(name)
            if name.startswith("blocks.") and name.rsplit(".", 2)[-2] in LAST:
                tensor.zero_()
    ownership = tensors.get("value_head.ownership.weight")
    if ownership is not None and ownership.shape[1] == net.judgment_head.out.weight.shape[1]:
        net.judgment_head.out.weight.zero_()
        for row, sign in ((MAPS.index("own"), 1.0), (MAPS.index("opponent"), -1.0)):
            net.judgment_head.out.weight[row] = sign * ownership[0]
        net.judgment_head.gpool_to_bias.weight.zero_()
        for name in ("neutral", "seki"):
            net.judgment_head.out_bias[MAPS.index(name)] = -4.0
    return left


def read_maps(raw: Tensor) -> Tensor:
    """Turn raw maps [B, 5, P] into [B, 5, P]: g in [-1, 1], three probabilities that add up to 1, and one of seki."""
    raw = raw.float()
    return torch.cat([torch.tanh(raw[:, :1]), torch.softmax(raw[:, 1:4], 1), torch.sigmoid(raw[:, 4:])], dim=1)
