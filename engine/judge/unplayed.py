"""Ground on which nothing has been played yet: large, beside one side's stones at most, and nobody's for certain.

A net that sees stones of one color alone gives them the whole board, and stones that close nothing in border every
empty point. Neither makes territory: the other side may still move in. Such ground is open, and its worth is the net's
to say.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.board.position import EMPTY
from engine.judge.board import Board
from engine.judge.settle import SMALL
from engine.judge.types import OpenItem, Opinion


def unplayed_regions(board: Board, dead: NDArray[np.bool_], facts: NDArray[np.uint8]) -> list[list[int]]:
    """Return the empty points of each such region.

    While one side has no stone on the board that is every region of more than SMALL points that is not unconditionally
    the other's; later one that holds more than half the board's points. What living stones enclose is theirs only where
    no two points keep off from their stones: else there is room for two eyes.

    Args:
        dead: [H, W], dead stones.
        facts: [H, W], whose a point is unconditionally (engine.board.scoring.pass_alive).
    """
    alone = len({color for color in board.color if color != EMPTY}) < 2
    least = SMALL if alone else board.area // 2
    gone, certain = dead.ravel().tolist(), facts.ravel().tolist()
    found = []
    for region in board.regions(lambda action: board.color[action] == EMPTY or gone[action]):
        points = [action for action in region if board.color[action] == EMPTY]
        inner = [action for action in points if all(board.color[near] == EMPTY for near in board.neighbours[action])]
        if len(inner) < 2 and all(certain[action] != EMPTY for action in points):
            continue
        if len(points) > least and len({board.color_of(chain) for chain in board.touching(region)}) < 2:
            found.append(points)
    return found


def unplayed_items(regions: list[list[int]], opinion: Opinion | None) -> list[OpenItem]:
    """Return an open item for each of these regions, with the moves that the net likes best there."""
    items = []
    for points in regions:
        moves: list[int | None] = []
        for color in (1, 2):
            policy = None if opinion is None else opinion.policy.get(color)
            best = None if policy is None else max(points, key=lambda action: float(policy[action]))
            moves.append(best if policy is not None and best is not None and float(policy[best]) > 0.0 else None)
        items.append(OpenItem("border", tuple(sorted(points)), moves[0], moves[1], 2.0 * len(points)))
    return items
