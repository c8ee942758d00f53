"""What training minimises: soft targets of a teacher mixed with what was really played and who really won.

Every term is a mean over the batch; the weights say what they are worth beside one nat of policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

if TYPE_CHECKING:
    from engine.nn.raw_outputs import RawOutputs

    from .dataset import Batch

SCORE_SCALE = 20.0  # points; the unit of the net's score outputs


@dataclass(frozen=True, slots=True)
class LossWeights:
    """The weights of the terms, and how much the record counts beside the teacher."""

    policy: float = 1.0
    value: float = 1.0
    lead: float = 0.3
    score_mean: float = 0.15
    score_stdev: float = 0.05
    ownership: float = 0.5
    played_share: float = 0.15  # of the policy target, where a move was played
    result_share: float = 0.1  # of the value target, where the result is known


def policy_target(batch: Batch, share: float) -> Tensor:
    """Return the teacher's policy [B, A] with `share` of it moved onto the move that was played."""
    known = (batch.played >= 0).float() * share
    target = batch.policy * (1 - known)[:, None]
    return target.scatter_add(1, batch.played.clamp(min=0)[:, None], known[:, None])


def value_target(batch: Batch, share: float) -> Tensor:
    """Return win, loss, no result [B, 3], with `share` of it taken from the game's result."""
    known = (batch.result != 0).float()[:, None] * share
    won = torch.stack([(batch.result > 0).float(), (batch.result < 0).float(), torch.zeros_like(batch.result)], dim=1)
    return batch.outcome * (1 - known) + won * known


def losses(outputs: RawOutputs, batch: Batch, weights: LossWeights) -> dict[str, Tensor]:
    """Return the terms, unweighted, and "total", their weighted sum.

    Args:
        outputs: of the net; its score columns are mean, stdev, lead, in units of SCORE_SCALE points.
        batch: the targets.
        weights: see LossWeights.
    """
    logits, scores = outputs.policy[:, 0].float(), outputs.score.float()
    lead, mean, stdev = (batch.score / SCORE_SCALE).unbind(dim=1)
    terms = {
        "policy": F.cross_entropy(logits, policy_target(batch, weights.played_share)),
        "value": F.cross_entropy(outputs.value.float(), value_target(batch, weights.result_share)),
        "lead": F.smooth_l1_loss(scores[:, 2], lead, beta=0.5),
        "score_mean": F.smooth_l1_loss(scores[:, 0], mean, beta=0.5),
        "score_stdev": F.smooth_l1_loss(F.softplus(scores[:, 1]), stdev, beta=0.5),
        # 1 - tanh(x) over 2 is the sigmoid of -2x, so this is the cross-entropy of the owner.
        "ownership": F.binary_cross_entropy_with_logits(2 * outputs.ownership.float(), (1 + batch.ownership) / 2),
    }
    terms["total"] = torch.stack([getattr(weights, name) * term for name, term in terms.items()]).sum()
    return terms


def measures(outputs: RawOutputs, batch: Batch) -> dict[str, float]:
    """Return sums over the batch of what validation reports: agreement with teacher and record, errors, divergence."""
    logits = outputs.policy[:, 0].float().masked_fill(batch.policy <= 0, -torch.inf)
    order = logits.topk(5, dim=1).indices
    known = batch.played >= 0
    hits = order == batch.played[:, None]
    win = torch.softmax(outputs.value.float(), dim=1)
    value = win[:, 0] - win[:, 1]
    teacher = batch.outcome[:, 0] - batch.outcome[:, 1]
    log_ratio = batch.policy.clamp(min=1e-12).log() - torch.log_softmax(logits, dim=1).clamp(min=-30)
    owner = torch.tanh(outputs.ownership.float())
    sums: dict[str, float | Tensor] = {
        "positions": float(len(logits)),
        "known": known.sum(),
        "top1_played": (hits[:, 0] & known).sum(),
        "top5_played": (hits.any(dim=1) & known).sum(),
        "top1_teacher": (order[:, 0] == batch.policy.argmax(dim=1)).sum(),
        "teacher_played": ((batch.policy.argmax(dim=1) == batch.played) & known).sum(),
        "divergence": (batch.policy * log_ratio).sum(),
        "value_error": ((value - teacher) ** 2).sum(),
        "lead_error": (outputs.score[:, 2].float() * SCORE_SCALE - batch.score[:, 0]).abs().sum(),
        "ownership_error": (owner - batch.ownership).abs().mean(dim=1).sum(),
    }
    return {name: float(value) for name, value in sums.items()}
