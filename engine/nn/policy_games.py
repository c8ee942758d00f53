"""Positions for measuring a net on: games that its own policy plays against itself, on the sizes it was trained for.

Used to calibrate and check a net in eight bits; needs no data besides the net. Moves are drawn from the policy over the
legal moves, so the games differ and still look like games. Same seed and answers, same positions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..board.planes import encode_position
from ..board.position import Position

FloatArray = NDArray[np.float32]
Policy = Callable[[FloatArray, FloatArray], FloatArray]  # planes, globals -> policy logits [B, A]
RULES = ("tromp-taylor", "chinese", "japanese")
KOMI = (7.5, 6.5, 5.5, 0.5)
LENGTH = 0.7  # moves of a game, at most, as a share of the points
EVERY = 3  # moves from one position that is kept to the next


class Sample(NamedTuple):
    """Positions of one board size."""

    size: int
    spatial: FloatArray  # [N, C, H, W]
    globals_: FloatArray  # [N, G]
    legal: NDArray[np.bool_]  # [N, A]
    game: NDArray[np.int64]  # [N], which game each is from


def play(policy: Policy, encoding: str, size: int, games: int, *, pass_alive: bool, seed: int) -> Sample:
    """Play games side by side and keep every third position of each.

    Args:
        pass_alive: the net's flag of that name (encode_position).
    """
    rng = np.random.default_rng([seed, size])
    boards = [Position(size, rules=RULES[i % len(RULES)], komi=KOMI[i % len(KOMI)]) for i in range(games)]
    kept: list[tuple[Any, Any, Any, int]] = []
    for ply in range(max(1, int(LENGTH * size * size))):
        going = [i for i, board in enumerate(boards) if not board.ended]
        if not going:
            break
        rows = [encode_position(boards[i], encoding, pass_alive_under_suicide=pass_alive) for i in going]
        spatial, globals_ = (np.stack(parts) for parts in zip(*rows, strict=True))
        legal = np.stack([boards[i].legal_mask().astype(bool) for i in going])
        logits = policy(spatial, globals_)
        for row, i in enumerate(going):
            if (ply + i) % EVERY == 0:
                kept.append((spatial[row], globals_[row], legal[row], i))
            boards[i].play(draw(logits[row], legal[row], rng))
    spatial, globals_, legal = (np.stack([row[i] for row in kept]) for i in range(3))
    return Sample(size, spatial, globals_, legal, np.array([row[3] for row in kept]))


def draw(logits: FloatArray, legal: NDArray[np.bool_], rng: np.random.Generator) -> int:
    """Draw an action from the softmax over the legal ones."""
    chances = np.where(legal, np.exp(logits - logits[legal].max(), where=legal, out=np.zeros_like(logits)), 0.0)
    return int(rng.choice(len(chances), p=chances.astype(np.float64) / chances.sum(dtype=np.float64)))


def split(sample: Sample, share: Sequence[bool]) -> tuple[Sample, Sample]:
    """Part a sample by game: those for which share[game % len(share)] is true, and the rest."""
    first = np.array(share)[sample.game % len(share)]
    return choose(sample, first), choose(sample, ~first)


def choose(sample: Sample, rows: NDArray[np.bool_]) -> Sample:
    """Return some positions of a sample."""
    return Sample(sample.size, sample.spatial[rows], sample.globals_[rows], sample.legal[rows], sample.game[rows])
