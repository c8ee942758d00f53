"""Turns a net's raw outputs into the numbers of an Evaluation, in float32, as part of the net's graph.

The result is one packed row a position, so that a GPU needs one copy back: policy logits [A], eight scalars
(spec.SCALARS), then ownership [P]. Everything is from the point of view of the player to move.
Source: docs/nets.md §1.8, by model version; §5 for Leela Zero.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .raw_outputs import RawOutputs
from .spec import KO_RULE_INPUT, PASS_SHARE, SCALARS, TERRITORY_INPUT, VALUE_ONLY, Spec


def mixed_policy(policy: Tensor, outputs: list[str], optimism: float) -> Tensor:
    """Mix ordinary and optimistic logits [B, outputs, A] to [B, A]: plain + optimism * (optimistic - plain)."""
    plain = policy[:, 0].float()
    if optimism == 0.0 or "optimistic" not in outputs:
        return plain
    return plain + optimism * (policy[:, 1].float() - plain)


class Postprocess(nn.Module):
    """Packs RawOutputs for one spec.

    Args:
        optimism: share of the optimistic policy, 0 to 1; nets with an SGF-metadata encoder ignore it.
    """

    def __init__(self, spec: Spec, optimism: float) -> None:
        super().__init__()
        self.spec = spec
        self.optimism = 0.0 if spec.get("meta") else optimism

    def forward(self, raw: RawOutputs, globals_: Tensor) -> Tensor:
        """Return [B, A + 8 + P] float32; P = 0 columns where the net has no ownership.

        A k-step net gives [B, A + 8 + (k - 1) P]: logits of the moves after the next one.
        """
        if self.spec["family"] == "k-step":
            return self._kstep(raw.policy.float())
        if self.spec["family"] in VALUE_ONLY:
            value = torch.tanh(raw.value[:, 0].float())
            scalars = [value, torch.zeros_like(value)] + [torch.zeros_like(value)] * 6
            return torch.cat([raw.policy[:, 0].float(), torch.stack(scalars, dim=1)], dim=1)
        policy = mixed_policy(raw.policy, self.spec["policy"]["outputs"], self.optimism)
        scalars = self._scalars(raw.value.float(), raw.score.float(), globals_.float())
        return torch.cat([policy, torch.stack(scalars, dim=1), torch.tanh(raw.ownership.float())], dim=1)

    def _kstep(self, policy: Tensor) -> Tensor:
        """Pack [B, k, P]: the next move with its pass, no scalars, then the other moves' points."""
        now = policy[:, 0]
        passed = torch.logsumexp(now, dim=1, keepdim=True) + math.log(PASS_SHARE)
        none = torch.zeros_like(passed.expand(-1, len(SCALARS)))
        return torch.cat([now, passed, none, policy[:, 1:].flatten(1)], dim=1)

    def _scalars(self, value: Tensor, score: Tensor, globals_: Tensor) -> list[Tensor]:
        if globals_.shape[1] > TERRITORY_INPUT:
            never = (globals_[:, KO_RULE_INPUT] != 0) & (globals_[:, TERRITORY_INPUT] == 0)
        else:  # an encoding that does not tell the rules, such as AlphaGo Zero's
            never = torch.ones_like(value[:, 2], dtype=torch.bool)
        no_result_logit = torch.where(never, value[:, 2] - 100_000.0, value[:, 2])
        win, loss, no_result = torch.softmax(
            torch.stack([value[:, 0], value[:, 1], no_result_logit], dim=1), dim=1
        ).unbind(dim=1)
        outputs = dict(zip(self.spec["value"]["score"], score.unbind(dim=1), strict=True))
        scale = self.spec["multipliers"]
        result = 1.0 - no_result
        absent = torch.full_like(win, -1.0)
        zero = torch.zeros_like(win)
        mean = lead = stdev = zero
        if "mean" in outputs:
            raw_mean = outputs["mean"] * scale["score_mean"]
            mean = lead = raw_mean * result
            if "stdev" in outputs:
                spread = F.softplus(outputs["stdev"], threshold=40.0) * scale["score_stdev"]
                square = (raw_mean * raw_mean + spread * spread) * result
                stdev = torch.sqrt((square - mean * mean).clamp_min(0.0))
        if "lead" in outputs:
            lead = outputs["lead"] * scale["lead"] * result
        var_time = absent
        if "var_time" in outputs and self.spec["version"] >= 9:  # version 8 has the output; KataGo does not use it
            var_time = F.softplus(outputs["var_time"], threshold=40.0) * scale["var_time"]
        value_error = score_error = absent
        if "value_error" in outputs:
            value_error = self._error(outputs["value_error"], scale["value_error"], 1.0)
        if "score_error" in outputs:
            score_error = self._error(outputs["score_error"], scale["score_error"], 10.0)
        return [win - loss, no_result, lead, mean, stdev, var_time, value_error, score_error]

    def _error(self, x: Tensor, multiplier: float, version_9_scale: float) -> Tensor:
        version = self.spec["version"]
        if version >= 14:
            return F.softplus(x * 0.5, threshold=40.0) * float(multiplier**0.5)
        if version >= 10:
            return torch.sqrt(F.softplus(x, threshold=40.0) * multiplier)
        return F.softplus(x, threshold=40.0) * version_9_scale
