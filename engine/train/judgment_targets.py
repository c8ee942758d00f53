"""What a judgment net is to say of a position whose end is known: a class for every point and the patent's value g.

Pure functions of boards; where the end comes from (a record's truth, a play-out) is for others to say. Boards are flat,
row-major, 0 EMPTY, 1 BLACK, 2 WHITE. Source: docs/judge.md, the patent's labels in three steps.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache

import numpy as np
from numpy.typing import NDArray

from engine.board.position import BLACK, EMPTY, WHITE

Points = NDArray[np.uint8]
UNKNOWN = 255


class PointClass(IntEnum):
    """The classes of the target `point_class`: a stone's colour and fate, an empty point's owner; to_play's view."""

    OWN_ALIVE = 0
    OWN_DEAD = 1
    OWN_SEKI = 2
    OTHER_ALIVE = 3
    OTHER_DEAD = 4
    OTHER_SEKI = 5
    OWN_POINT = 6
    OTHER_POINT = 7
    NEUTRAL = 8


OWNER_OF = np.array([0, 1, 0, 1, 0, 1, 0, 1, 2])
"""Class → 0 to_play's, 1 the opponent's, 2 nobody's: whose the point is when everything is counted as area."""
SWAPPED = np.array([3, 4, 5, 0, 1, 2, 7, 6, 8], np.uint8)
"""Class in one side's view → in the other's."""


@cache
def neighbours(size: int) -> tuple[tuple[int, ...], ...]:
    """Return the points beside each point of a square board."""
    table = []
    for point in range(size * size):
        row, column = divmod(point, size)
        near = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        table.append(tuple(r * size + c for r, c in near if 0 <= r < size and 0 <= c < size))
    return tuple(table)


def needless(start: Points, end: Points) -> list[int]:
    """Return the stones of `end` that are not on `start` and that no border needs.

    A border needs a stone if without it empty points of its side would touch the other side's stones. Stones are
    looked at in board order, those found needless taken off, until no more is found; so of two stones that close the
    same gap one stays.

    Args:
        start: the position that is labelled.
        end: where a play-out ended, dead stones taken off.
    """
    size = round(len(end) ** 0.5)
    beside = neighbours(size)
    board: list[int] = end.tolist()
    added = [point for point in range(len(board)) if board[point] != EMPTY and board[point] != start[point]]
    removed: list[int] = []
    found = True
    while found:
        found = False
        for point in added:
            color = board[point]
            if color == EMPTY:
                continue
            board[point] = EMPTY
            if _touches(board, point, BLACK + WHITE - color, beside):
                board[point] = color
            else:
                removed.append(point)
                found = True
    return removed


def _touches(board: list[int], start: int, color: int, beside: tuple[tuple[int, ...], ...]) -> bool:
    """Tell whether the empty region of a point touches stones of a color."""
    seen, frontier = {start}, [start]
    while frontier:
        for near in beside[frontier.pop()]:
            if board[near] == color:
                return True
            if board[near] == EMPTY and near not in seen:
                seen.add(near)
                frontier.append(near)
    return False


def classes_of(start: Points, owner: Points, seki: NDArray[np.bool_]) -> Points:
    """Return the class of every point of `start`, in Black's view.

    Args:
        start: the position that is labelled.
        owner: of every point at the end, as area: living stones, territory, under dead stones; EMPTY for nobody's.
        seki: points, stones or not, that are in a seki at the end.

    A stone whose point ends as nobody's has no class (UNKNOWN): it was captured, and what came later does not say by
    whom the point was lived on.
    """
    classes = np.full(start.shape, UNKNOWN, np.uint8)
    empty = start == EMPTY
    classes[empty] = np.array([PointClass.NEUTRAL, PointClass.OWN_POINT, PointClass.OTHER_POINT])[owner[empty]]
    for color, alive, dead, shared in (
        (BLACK, PointClass.OWN_ALIVE, PointClass.OWN_DEAD, PointClass.OWN_SEKI),
        (WHITE, PointClass.OTHER_ALIVE, PointClass.OTHER_DEAD, PointClass.OTHER_SEKI),
    ):
        stone = start == color
        classes[stone & (owner == color)] = alive
        classes[stone & (owner == BLACK + WHITE - color)] = dead
        classes[stone & (owner == color) & seki] = shared
    return classes


def g_of(start: Points, bare: Points, owner: Points, seki: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return the territory value g of every point of `start`, Black positive.

    0 for a living stone of `start`, for a stone of the play-out that stays, for dame and in seki; ±1 for territory and
    under dead stones.

    Args:
        bare: the end without dead and needless stones.
        owner, seki: as classes_of.
    """
    sign = np.array([0.0, 1.0, -1.0], np.float32)[owner]
    dead = (start != EMPTY) & (owner == BLACK + WHITE - start)
    territory = (bare == EMPTY) & ~seki
    g: NDArray[np.float32] = np.where(dead | territory, sign, 0.0).astype(np.float32)
    g[(start != EMPTY) & (owner == start)] = 0.0
    return g
