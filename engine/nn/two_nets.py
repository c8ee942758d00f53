"""Two nets as one evaluator: the moves of a net that cannot judge positions, everything else of a net that can.

The encoding is the pair of both (board/planes.pxd), so a search fills one batch for the two. How likely a pass is says
the second net, since the first has no output for it. As every wrapper here it works at the seam (wrappers.py).
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np

from ..evaluator import ENCODING_SHAPES, AsyncEvaluator, Evaluation, FloatArray

PASS_FLOOR = 1e-6
"""A pass is never less likely than that, nor surer than one minus that."""


class TwoNets:
    """An Evaluator and AsyncEvaluator over two of them.

    Args:
        moves: whose policy to take, by points.
        judge: whose value, score, ownership and pass to take.
    """

    def __init__(self, moves: AsyncEvaluator, judge: AsyncEvaluator) -> None:
        self._moves, self._judge = moves, judge
        self.name = f"{moves.name} with the value of {judge.name}"
        self.encoding = f"{moves.encoding}+{judge.encoding}"
        self.max_batch = min(moves.max_batch, judge.max_batch)
        self.pass_alive_under_suicide = bool(getattr(judge, "pass_alive_under_suicide", False))
        preferred = [getattr(net, "preferred_batch", self.max_batch) for net in (moves, judge)]
        self.preferred_batch = min(self.max_batch, *preferred)
        self._shapes = [ENCODING_SHAPES[net.encoding] for net in (moves, judge)]
        self._flying: dict[int, tuple[int, int, Any]] = {}
        self._next_ticket = 0

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether both nets can evaluate such a board."""
        return self._moves.supports_size(width, height) and self._judge.supports_size(width, height)

    def allocate(self, batch: int, width: int, height: int) -> tuple[FloatArray, FloatArray]:
        """Return zeroed input arrays (spatial [batch, C, H, W], globals [batch, G]) for the pair of encodings."""
        (planes, numbers), (more_planes, more_numbers) = self._shapes
        return (
            np.zeros((batch, planes + more_planes, height, width), dtype=np.float32),
            np.zeros((batch, numbers + more_numbers), dtype=np.float32),
        )

    def evaluate(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> Evaluation:
        """Evaluate spatial [B, C, H, W], globals [B, G], 1 <= B <= max_batch."""
        return self.result(self.submit(spatial, globals_, ownership=ownership))

    def submit(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> int:
        """Start both nets on a batch; return a ticket. The parts are copies, so the arrays are free at once."""
        planes, numbers = self._shapes[0]
        parts = [np.ascontiguousarray(part) for part in (spatial[:, :planes], globals_[:, :numbers],
                                                         spatial[:, planes:], globals_[:, numbers:])]  # fmt: skip
        first = self._moves.submit(parts[0], parts[1])
        try:
            second = self._judge.submit(parts[2], parts[3], ownership=ownership)
        except BaseException:
            with contextlib.suppress(Exception):
                self._moves.result(first)  # nothing may stay in flight
            raise
        ticket, self._next_ticket = self._next_ticket, self._next_ticket + 1
        self._flying[ticket] = first, second, parts
        return ticket

    def result(self, ticket: int) -> Evaluation:
        """Wait for the batch of that ticket. Raises KeyError for a ticket that is unknown or was redeemed."""
        first, second, _ = self._flying.pop(ticket)
        try:
            moves = self._moves.result(first)
        except BaseException:
            with contextlib.suppress(Exception):
                self._judge.result(second)
            raise
        judged = self._judge.result(second)
        return dataclasses.replace(
            judged,
            policy_logits=with_pass(moves.policy_logits, judged.policy_logits),
            later_logits=moves.later_logits,
        )

    def prepare(self, width: int, height: int) -> bool:
        """Make both nets ready for a board size, from any thread; False where that cannot be."""
        return all(hasattr(net, "prepare") and net.prepare(width, height) for net in (self._moves, self._judge))

    def close(self) -> None:
        """Release what both hold."""
        for net in (self._moves, self._judge):
            if hasattr(net, "close"):
                net.close()


def with_pass(moves: FloatArray, judged: FloatArray) -> FloatArray:
    """Return logits [B, A]: the points of `moves`, and a pass as likely beside them as it is in `judged`."""
    top = judged.max(axis=1, keepdims=True)
    weights = np.exp(judged - top)
    share = np.clip(weights[:, -1] / weights.sum(axis=1), PASS_FLOOR, 1.0 - PASS_FLOOR)
    points = moves[:, :-1]
    highest = points.max(axis=1)
    total = highest + np.log(np.exp(points - highest[:, None]).sum(axis=1))
    result = moves.copy()
    result[:, -1] = total + np.log(share / (1.0 - share))
    return result
