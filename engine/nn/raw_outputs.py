"""What a net's module returns before post-processing. Every tensor is from the point of view of the player to move."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class RawOutputs(NamedTuple):
    """Heads of a net for B positions of P points; actions are P points row-major from the top left, then pass.

    A Leela Zero net has value [B, 1] (before tanh), and empty score and ownership. A k-step net has a policy of points
    alone, [B, k, P], and nothing else.
    """

    policy: Tensor  # [B, outputs, P + 1] logits
    value: Tensor  # [B, 3] logits of win, loss, no result
    score: Tensor  # [B, S] in the order of spec["value"]["score"]
    ownership: Tensor  # [B, P] before tanh
