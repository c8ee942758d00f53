"""Seeded openings: a few random but sensible moves, so that no two pairs of games begin alike.

Moves come from a mild distribution: third and fourth lines first, away from the stones that are there. An opening that
equals an earlier one up to rotation and reflection is drawn again.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from engine.board.position import Position

# Weight of a point by its line, counted from the edge; the last entry serves all lines further in.
LARGE_BOARD = (0.0, 0.02, 1.0, 1.2, 0.4, 0.15)
SMALL_BOARD = (0.0, 0.1, 1.0, 1.2, 1.2)
TINY_BOARD = (1.0,)
NEAR_STONE = 0.1  # factor for points beside or diagonal to a stone
MAX_DRAWS = 50  # for one opening; then a repetition is accepted (tiny boards)


def make_openings(count: int, plies: int, width: int, height: int, seed: int) -> list[list[int]]:
    """Return `count` openings, each a list of `plies` actions from Black's first move on.

    The first k openings of a seed are the same whatever the count.
    """
    return list(itertools.islice(draw_openings(plies, width, height, seed), count))


def draw_openings(plies: int, width: int, height: int, seed: int) -> Iterator[list[int]]:
    """Yield openings without end.

    Raises no error: where the board is too small for so many different ones, some repeat.
    """
    rng = random.Random(f"{seed}/{plies}/{width}x{height}")
    seen: set[bytes] = set()
    while True:
        for _ in range(MAX_DRAWS):
            actions, key = _draw(rng, plies, width, height)
            if key not in seen:
                break
        seen.add(key)
        yield actions


def _draw(rng: random.Random, plies: int, width: int, height: int) -> tuple[list[int], bytes]:
    """Return one opening and the key of its last position."""
    position = Position(width, height)
    base = line_weights(width, height)
    actions: list[int] = []
    for _ in range(plies):
        weights = base * np.where(_near_stones(position.board()), NEAR_STONE, 1.0)
        weights = weights.reshape(-1) * position.legal_mask()[:-1]
        if not weights.any():
            break
        action = rng.choices(range(width * height), weights=weights.tolist())[0]
        position.play(action)
        actions.append(action)
    return actions, canonical_key(position.board())


def line_weights(width: int, height: int) -> NDArray[np.float64]:
    """Return [H, W] weights of the points of an empty board by their line."""
    shortest = min(width, height)
    table = LARGE_BOARD if shortest >= 13 else SMALL_BOARD if shortest >= 7 else TINY_BOARD
    rows = np.minimum(np.arange(height), np.arange(height)[::-1])
    columns = np.minimum(np.arange(width), np.arange(width)[::-1])
    lines = np.minimum(rows[:, None], columns[None, :])
    return np.asarray(table)[np.minimum(lines, len(table) - 1)]


def _near_stones(board: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return [H, W]: whether a stone stands on the point or on one of its eight neighbours."""
    padded = np.pad(board != 0, 1)
    height, width = board.shape
    near = np.zeros_like(board, dtype=bool)
    for dy in range(3):
        for dx in range(3):
            near |= padded[dy : dy + height, dx : dx + width]
    return near


def canonical_key(board: NDArray[np.uint8]) -> bytes:
    """Return the same bytes for boards that are rotations or reflections of one another."""
    turned = [np.rot90(side, turns) for side in (board, np.fliplr(board)) for turns in range(4)]
    return min(bytes(side.shape) + np.ascontiguousarray(side).tobytes() for side in turned)
