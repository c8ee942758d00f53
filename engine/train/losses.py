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
COUNTS = {  # of `measures`: each sum and the count it is a mean over
    "top1_played": "known",
    "top5_played": "known",
    "top1_teacher": "taught",
    "teacher_played": "known",
    "result_told": "decided",
    "divergence": "guided",
    "value_error": "valued",
    "lead_error": "scored",
    "ownership_error": "owned",
}


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
    """Return the teacher's policy [B, A] with `share` of it moved onto the move that was played.

    Without a teacher's policy the move played is all of it; a row about which nothing is known is all 0.
    """
    played = played_move(batch)
    rows = len(played)
    taught = batch.targets.get("policy")
    if taught is None:
        taught = batch.globals_.new_zeros(rows, batch.spatial[0, 0].numel() + 1)
    teachers = (taught.sum(dim=1) > 0).float()
    known = (played >= 0).float() * torch.where(teachers > 0, share, 1.0)
    target = taught * (1 - known)[:, None]
    return target.scatter_add(1, played.clamp(min=0)[:, None], known[:, None])


def played_move(batch: Batch) -> Tensor:
    """Return the record's next action [B], -1 unknown."""
    if "played" not in batch.targets:
        if "next" in batch.targets:
            return batch.targets["next"][:, 0]
        return batch.globals_.new_full((len(batch),), -1).long()
    played = batch.targets["played"]
    return torch.where(played >= 0, played, batch.targets["next"][:, 0]) if "next" in batch.targets else played


def taught_outcome(batch: Batch) -> Tensor:
    """Return the teacher's win, loss, no result [B, 3]; NaN where there was no teacher."""
    value, draw = numbers(batch, "value"), numbers(batch, "no_result")
    return torch.stack([(1 - draw + value) / 2, (1 - draw - value) / 2, draw], dim=1).clamp(0, 1)


def value_target(batch: Batch, share: float) -> Tensor:
    """Return win, loss, no result [B, 3], with `share` of it taken from the game's result; all 0 where unknown."""
    result, taught = signs(batch, "result"), taught_outcome(batch)
    has_teacher = ~taught[:, :1].isnan()
    known = (result != 0).float()[:, None] * torch.where(has_teacher, share, 1.0)
    won = torch.stack([(result > 0).float(), (result < 0).float(), torch.zeros_like(result)], dim=1)
    return torch.where(has_teacher, taught, 0.0) * (1 - known) + won * known


def numbers(batch: Batch, name: str, instead: str = "") -> Tensor:
    """Return a target [B], NaN where unknown; `instead` fills in where the folder has it."""
    nothing = batch.globals_.new_full((len(batch),), torch.nan)
    values, others = batch.targets.get(name, nothing), batch.targets.get(instead, nothing)
    return torch.where(values.isnan(), others, values) if instead in batch.targets else values


def signs(batch: Batch, name: str) -> Tensor:
    """Return a target [B] of 1, -1 and 0 (unknown)."""
    return batch.targets.get(name, batch.globals_.new_zeros(len(batch)))


def owners(batch: Batch) -> Tensor:
    """Return the owner of each point [B, P], the teacher's opinion or else the end of the record; NaN unknown."""
    nothing = batch.globals_.new_full((len(batch), batch.spatial[0, 0].numel()), torch.nan)
    taught, final = batch.targets.get("ownership", nothing), batch.targets.get("final_ownership", nothing)
    return torch.where(taught.isnan(), final, taught) if "final_ownership" in batch.targets else taught


def soft_cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """Return the cross-entropy with soft targets [B, A], averaged over the rows that have one."""
    rows = (target.sum(dim=1) > 0).sum().clamp(min=1)
    return F.cross_entropy(logits, target, reduction="sum") / rows


def huber(output: Tensor, target: Tensor) -> Tensor:
    """Return the Huber loss in units of SCORE_SCALE points, averaged over the known."""
    known = ~target.isnan()
    loss = F.smooth_l1_loss(
        output, torch.where(known, target / SCORE_SCALE, output.detach()), beta=0.5, reduction="sum"
    )
    return loss / known.sum().clamp(min=1)


def losses(outputs: RawOutputs, batch: Batch, weights: LossWeights) -> dict[str, Tensor]:
    """Return the terms, unweighted, and "total", their weighted sum. Each is a mean over what is known.

    Args:
        outputs: of the net; its score columns are mean, stdev, lead, in units of SCORE_SCALE points.
        batch: the targets.
        weights: see LossWeights.
    """
    logits, scores = outputs.policy[:, 0].float(), outputs.score.float()
    owner = owners(batch)
    known = ~owner.isnan()
    # 1 - tanh(x) over 2 is the sigmoid of -2x, so this is the cross-entropy of the owner.
    ownership = F.binary_cross_entropy_with_logits(
        2 * outputs.ownership.float(), torch.where(known, (1 + owner) / 2, 0.5), weight=known.float(), reduction="sum"
    )
    terms = {
        "policy": soft_cross_entropy(logits, policy_target(batch, weights.played_share)),
        "value": soft_cross_entropy(outputs.value.float(), value_target(batch, weights.result_share)),
        "lead": huber(scores[:, 2], numbers(batch, "lead", "final_score")),
        "score_mean": huber(scores[:, 0], numbers(batch, "score_mean", "final_score")),
        "score_stdev": huber(F.softplus(scores[:, 1]), numbers(batch, "score_stdev")),
        "ownership": ownership / known.sum().clamp(min=1),
    }
    terms["total"] = torch.stack([getattr(weights, name) * term for name, term in terms.items()]).sum()
    return terms


def measures(outputs: RawOutputs, batch: Batch) -> dict[str, float]:
    """Return sums over the batch of what validation reports, and how many rows each is about (see COUNTS).

    A row without a teacher is compared with the record; top1_teacher and teacher_played are about the teacher alone.
    """
    target = policy_target(batch, 0.0)  # the teacher's, or the move played
    policy = batch.targets.get("policy", torch.zeros_like(target))
    taught, guided = policy.sum(dim=1) > 0, target.sum(dim=1) > 0
    logits = outputs.policy[:, 0].float().masked_fill((policy <= 0) & taught[:, None], -torch.inf)
    order = logits.topk(5, dim=1).indices
    played, result = played_move(batch), signs(batch, "result")
    known = played >= 0
    hits = order == played[:, None]
    win = torch.softmax(outputs.value.float(), dim=1)
    value, told = win[:, 0] - win[:, 1], value_target(batch, 0.0)
    log_ratio = target.clamp(min=1e-12).log() - torch.log_softmax(logits, dim=1).clamp(min=-30)
    lead = numbers(batch, "lead", "final_score")
    owner = (torch.tanh(outputs.ownership.float()) - owners(batch)).abs().nanmean(dim=1)
    sums: dict[str, float | Tensor] = {
        "positions": float(len(logits)),
        "known": known.sum(),
        "taught": taught.sum(),
        "guided": guided.sum(),
        "decided": (result != 0).sum(),
        "valued": (told.sum(dim=1) > 0).sum(),
        "scored": (~lead.isnan()).sum(),
        "owned": (~owner.isnan()).sum(),
        "top1_played": (hits[:, 0] & known).sum(),
        "top5_played": (hits.any(dim=1) & known).sum(),
        "top1_teacher": ((order[:, 0] == policy.argmax(dim=1)) & taught).sum(),
        "teacher_played": ((policy.argmax(dim=1) == played) & known & taught).sum(),
        "result_told": ((value > 0) == (result > 0))[result != 0].sum(),
        "divergence": (target * log_ratio).sum(),
        "value_error": ((value - told[:, 0] + told[:, 1]) ** 2)[told.sum(dim=1) > 0].sum(),
        "lead_error": (outputs.score[:, 2].float() * SCORE_SCALE - lead).abs().nansum(),
        "ownership_error": owner.nansum(),
    }
    return {name: float(value) for name, value in sums.items()}
