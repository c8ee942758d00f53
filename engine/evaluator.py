"""The seam between search and nets: what an evaluator takes and gives. numpy only; knows no rules and no torch.

Everything here is from the point of view of the player to move. Masking illegal moves and the softmax over the legal
ones belong to the search; caching, symmetry and batching across searches are wrappers (engine/nn/wrappers.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]

ENCODING_SHAPES: dict[str, tuple[int, int]] = {
    "katago-v3": (22, 14),
    "katago-v4": (22, 14),
    "katago-v5": (13, 12),
    "katago-v6": (22, 16),
    "katago-v7": (22, 19),
    "alphagozero-17": (17, 0),
    "leelazero-18": (18, 0),
    "darkforest-25": (25, 0),
    "patent-17": (17, 0),
    "judgment-18": (18, 0),
}
"""Names of the encodings with their planes and global inputs; engine.board.planes writes them."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a net says of B positions of one board size (W x H, P = W*H points, A = P+1 actions, last = pass).

    All arrays are float32, C-contiguous, to_play's point of view. Point order is row-major from the top left.
    """

    policy_logits: FloatArray  # [B, A], before masking and softmax
    value: FloatArray  # [B], win - loss, in [-1, 1]
    no_result: FloatArray | None = None  # [B], probability of no result; win + loss + no_result = 1
    ownership: FloatArray | None = None  # [B, P], in [-1, 1], +1 = to_play owns the point
    lead: FloatArray | None = None  # [B], points ahead, komi included
    score_mean: FloatArray | None = None  # [B], expected final score (KataGo's "selfplay" score)
    score_stdev: FloatArray | None = None  # [B], standard deviation of the final score
    var_time_left: FloatArray | None = None  # [B], -1 where the net does not say
    shortterm_value_error: FloatArray | None = None  # [B], -1 where the net does not say
    shortterm_score_error: FloatArray | None = None  # [B], -1 where the net does not say
    later_logits: FloatArray | None = None  # [B, k - 1, P], points alone: of the opponent's answer, the move after, …


@runtime_checkable
class Evaluator(Protocol):
    """Evaluates batches of encoded positions.

    Attributes that may be there besides: `preferred_batch`, the batch that a search should ask for where its settings
    leave it open, `in_flight`, how many batches of an AsyncEvaluator it should keep under way (2),
    `pass_alive_under_suicide`, a flag of some nets that encoding has to know (planes.pxd), and `policy_only`, true of a
    net whose `value` says nothing: it can choose moves but not judge positions. And three methods: `improve()`, called
    once by who plays for long, `between_games()`, which returns whether answers differ a little from now on, and
    `prepare(width, height)`, after which no batch has to wait for the net to be made ready; from any thread, and other
    threads may evaluate meanwhile. It returns False where that cannot be.
    """

    encoding: str  # a name in engine.board.planes.ENCODINGS
    max_batch: int  # largest B that evaluate takes
    name: str  # for logs and reports

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether boards of this size can be evaluated."""
        ...

    def allocate(self, batch: int, width: int, height: int) -> tuple[FloatArray, FloatArray]:
        """Return zeroed input arrays (spatial [batch, C, H, W], globals [batch, G]), pinned where that helps."""
        ...

    def evaluate(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> Evaluation:
        """Evaluate spatial [B, C, H, W], globals [B, G], 1 <= B <= max_batch, all of one board size."""
        ...


@runtime_checkable
class AsyncEvaluator(Evaluator, Protocol):
    """An evaluator that can have a second batch in flight, or more. Results come in the order of submission."""

    def submit(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> int:
        """Start evaluating; the arrays must stay unchanged until the result is taken. Return a ticket."""
        ...

    def result(self, ticket: int) -> Evaluation:
        """Wait for the batch of that ticket."""
        ...
