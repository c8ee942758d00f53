"""A position taken apart for judging: chains, their liberties, regions, in plain lists by action.

Made once a judgment and never changed. The rules stay in engine.board; this only looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from engine.board.position import EMPTY, Position


@cache
def neighbours_of(width: int, height: int) -> tuple[tuple[int, ...], ...]:
    """Return the neighbours of every action of a board."""
    found = []
    for action in range(width * height):
        y, x = divmod(action, width)
        around = ((y - 1, x), (y, x - 1), (y, x + 1), (y + 1, x))
        found.append(tuple(r * width + c for r, c in around if 0 <= r < height and 0 <= c < width))
    return tuple(found)


def without_final_passes(position: Position) -> Position:
    """Return a copy with the passes at the end taken back."""
    copy = position.copy()
    moves = copy.moves
    while moves and moves[-1][1] == copy.area:
        moves.pop()
        copy.undo()
    return copy


class Board:
    """Chains and liberties of a position.

    Attributes:
        color: of each action, 0 where it is empty.
        neighbours: of each action.
        chains: each as its sorted actions, in board order; chain_of gives the index for a stone, -1 elsewhere.
        liberties: of each chain.
    """

    def __init__(self, position: Position) -> None:
        self.width, self.height, self.area = position.width, position.height, position.area
        self.color: list[int] = position.board().ravel().tolist()
        self.neighbours = neighbours_of(self.width, self.height)
        self.chain_of = [-1] * self.area
        self.chains: list[tuple[int, ...]] = []
        self.liberties: list[frozenset[int]] = []
        for action, color in enumerate(self.color):
            if color != EMPTY and self.chain_of[action] < 0:
                self._add_chain(action, color)

    def _add_chain(self, start: int, color: int) -> None:
        number = len(self.chains)
        self.chain_of[start] = number
        stones, liberties = [start], set()
        for stone in stones:  # grows while it is walked
            for near in self.neighbours[stone]:
                if self.color[near] == EMPTY:
                    liberties.add(near)
                elif self.color[near] == color and self.chain_of[near] < 0:
                    self.chain_of[near] = number
                    stones.append(near)
        self.chains.append(tuple(sorted(stones)))
        self.liberties.append(frozenset(liberties))

    def color_of(self, chain: int) -> int:
        """Return the color of a chain."""
        return self.color[self.chains[chain][0]]

    def regions(self, inside: Callable[[int], bool]) -> list[list[int]]:
        """Return the connected sets of the actions for which inside(action) holds."""
        return self.parts(filter(inside, range(self.area)))

    def parts(self, actions: Iterable[int]) -> list[list[int]]:
        """Return the connected sets of these actions, in the order of their first ones."""
        waiting = dict.fromkeys(actions)  # in order; walked in full, so nothing else is looked at
        found = []
        while waiting:
            start = next(iter(waiting))
            del waiting[start]
            region = [start]
            for action in region:  # grows while it is walked
                for near in self.neighbours[action]:
                    if near in waiting:
                        del waiting[near]
                        region.append(near)
            found.append(region)
        return found

    def touching(self, actions: Iterable[int]) -> set[int]:
        """Return the chains that the actions touch, those that they lie on left out."""
        actions = set(actions)
        return {
            self.chain_of[near]
            for action in actions
            for near in self.neighbours[action]
            if near not in actions and self.chain_of[near] >= 0
        }


def chains(position: Position) -> list[list[int]]:
    """Return the chains on the board, each as its actions, in board order."""
    return [list(chain) for chain in Board(position).chains]


class Union:
    """Sets that grow together (union-find) over the numbers 0..n-1."""

    def __init__(self, n: int) -> None:
        self._parent = list(range(n))

    def find(self, item: int) -> int:
        """Return the number that stands for the item's set, its least member."""
        while self._parent[item] != item:
            self._parent[item] = self._parent[self._parent[item]]
            item = self._parent[item]
        return item

    def join(self, one: int, other: int) -> None:
        """Make one set of two."""
        a, b = self.find(one), self.find(other)
        self._parent[max(a, b)] = min(a, b)

    def sets(self) -> list[list[int]]:
        """Return the members of every set, in order of the least."""
        found: dict[int, list[int]] = {}
        for item in range(len(self._parent)):
            found.setdefault(self.find(item), []).append(item)
        return list(found.values())
