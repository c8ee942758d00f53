"""What a judgment net is to say of a position whose end is known: classes of stones and points, and the patent's g.

Everything is in Black's view here; the sample that a position becomes turns it to the player to move.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.board.position import BLACK, EMPTY, WHITE

ALIVE, DEAD, SEKI, TERRITORY_BLACK, TERRITORY_WHITE, NEUTRAL, UNKNOWN = 0, 1, 2, 3, 4, 5, 255

Points = NDArray[np.uint8]


def neighbours(size: int) -> list[list[int]]:
    """Return the points beside each point of a square board."""
    table = []
    for point in range(size * size):
        row, column = divmod(point, size)
        table.append([
            r * size + c
            for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
            if 0 <= r < size and 0 <= c < size
        ])  # fmt: skip
    return table


def chains_of(board: Points, size: int) -> list[list[int]]:
    """Return the connected stones of a flat board."""
    beside = neighbours(size)
    seen = board == EMPTY
    found = []
    for start in range(size * size):
        if seen[start]:
            continue
        chain, frontier = [], [start]
        seen[start] = True
        while frontier:
            point = frontier.pop()
            chain.append(point)
            for other in beside[point]:
                if not seen[other] and board[other] == board[start]:
                    seen[other] = True
                    frontier.append(other)
        found.append(chain)
    return found


def in_seki(board: Points, owner: Points, size: int) -> NDArray[np.bool_]:
    """Tell which living stones of a finished position are in seki.

    Chains that share a point next to both, theirs or nobody's, are one group. A group is in seki if none of its
    chains touches territory of its own, some touch a neutral point, and that point touches a living chain of the
    other side whose group has no territory either.

    Args:
        board: stones, flat; owner: final owners, flat, EMPTY on dame and eyes in seki.
    """
    beside = neighbours(size)
    chains = [chain for chain in chains_of(board, size) if owner[chain[0]] == board[chain[0]]]
    number = {point: index for index, chain in enumerate(chains) for point in chain}
    parent = list(range(len(chains)))

    def find(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for point in range(size * size):
        if point in number:
            continue
        touching = [number[other] for other in beside[point] if other in number]
        for color in (BLACK, WHITE):
            same = [index for index in touching if board[chains[index][0]] == color]
            for index in same[1:]:
                parent[find(index)] = find(same[0])
    rich = set()
    for index, chain in enumerate(chains):
        color = board[chain[0]]
        if any(other not in number and owner[other] == color for point in chain for other in beside[point]):
            rich.add(find(index))
    poor_dame: set[int] = set()
    for point in range(size * size):
        if point in number or owner[point] != EMPTY:
            continue
        groups = {(board[chains[number[o]][0]], find(number[o])) for o in beside[point] if o in number}
        poor = {(color, group) for color, group in groups if group not in rich}
        if {color for color, _ in poor} == {BLACK, WHITE}:
            poor_dame.update(group for _, group in poor)
    result = np.zeros(size * size, np.bool_)
    for index, chain in enumerate(chains):
        if find(index) in poor_dame:
            result[chain] = True
    return result


def classes_of(board: Points, owner: Points, seki: NDArray[np.bool_] | None = None) -> Points:
    """Return the class of every point of a board, given the final owner of the points.

    A stone whose point ends as nobody's has no class: it was captured, and what came later does not say what it was.
    """
    classes = np.full(board.shape, UNKNOWN, np.uint8)
    stone = board != EMPTY
    classes[stone & (owner == board)] = ALIVE
    classes[stone & (owner == BLACK + WHITE - board)] = DEAD
    if seki is not None:
        classes[stone & seki & (classes == ALIVE)] = SEKI
    classes[~stone] = np.array([NEUTRAL, TERRITORY_BLACK, TERRITORY_WHITE], np.uint8)[owner[~stone]]
    return classes


def g_of(classes: Points, board: Points) -> NDArray[np.float32]:
    """Return the territory value g, Black positive: ±1 on territory and under dead stones, 0 elsewhere."""
    g = np.zeros(board.shape, np.float32)
    g[classes == TERRITORY_BLACK] = 1.0
    g[classes == TERRITORY_WHITE] = -1.0
    g[(classes == DEAD) & (board == WHITE)] = 1.0
    g[(classes == DEAD) & (board == BLACK)] = -1.0
    return g
