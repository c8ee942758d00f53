"""Go in the slowest obvious way: a dict-free list of colors, flood fill for everything, whole boards as history.

Shares no idea with the engine's board beyond the rules themselves: no chains are kept, no hashes, no padding.
"""

from __future__ import annotations

EMPTY, BLACK, WHITE = 0, 1, 2


class Oracle:
    """A game of Go. Points are actions, row-major from the top left; width * height is pass."""

    def __init__(self, width: int, height: int, ko: str = "POSITIONAL", suicide: bool = False) -> None:
        self.width, self.height = width, height
        self.area = width * height
        self.ko, self.suicide = ko, suicide
        self.cells = [EMPTY] * self.area
        self.to_play = BLACK
        self.banned: tuple[int, int] | None = None  # simple ko: (point, color that may not play there)
        self.prisoners = {BLACK: 0, WHITE: 0}
        self.around = [self._neighbours(point) for point in range(self.area)]
        self.seen: list[tuple[tuple[int, ...], int]] = [(tuple(self.cells), BLACK)]

    def _neighbours(self, point: int) -> list[int]:
        y, x = divmod(point, self.width)
        beside = [(x, y - 1), (x - 1, y), (x + 1, y), (x, y + 1)]
        return [b * self.width + a for a, b in beside if 0 <= a < self.width and 0 <= b < self.height]

    def set_up(self, stones: list[tuple[int, int]], to_play: int = BLACK) -> None:
        self.cells = [EMPTY] * self.area
        for color, point in stones:
            self.cells[point] = color
        self.to_play, self.banned = to_play, None
        self.prisoners = {BLACK: 0, WHITE: 0}
        self.seen = [(tuple(self.cells), to_play)]

    def chain(self, point: int, cells: list[int] | None = None) -> tuple[set[int], set[int]]:
        """Return the stones of the chain at a point and its liberties."""
        cells = self.cells if cells is None else cells
        color = cells[point]
        stones, liberties, todo = {point}, set(), [point]
        while todo:
            for other in self.around[todo.pop()]:
                if cells[other] == EMPTY:
                    liberties.add(other)
                elif cells[other] == color and other not in stones:
                    stones.add(other)
                    todo.append(other)
        return stones, liberties

    def after(self, point: int, color: int) -> tuple[list[int], set[int], set[int]]:
        """Return the board after a move, the opponent's stones taken, and the own stones taken (suicide)."""
        cells = list(self.cells)
        cells[point] = color
        taken: set[int] = set()
        for other in self.around[point]:
            if cells[other] == 3 - color and other not in taken:
                stones, liberties = self.chain(other, cells)
                if not liberties:
                    taken |= stones
        for stone in taken:
            cells[stone] = EMPTY
        own, liberties = self.chain(point, cells)
        if liberties:
            return cells, taken, set()
        for stone in own:
            cells[stone] = EMPTY
        return cells, taken, own

    def repeats(self, cells: list[int], next_color: int) -> bool:
        board = tuple(cells)
        if self.ko == "POSITIONAL":
            return any(board == old for old, _ in self.seen)
        if self.ko == "SITUATIONAL":
            return (board, next_color) in self.seen
        return False

    def why_illegal(self, point: int, color: int) -> str | None:
        """Return the engine's word for why a move is illegal, None if it is legal."""
        if point == self.area:
            return None
        if self.cells[point] != EMPTY:
            return "occupied"
        if self.banned == (point, color):
            return "ko"
        cells, _, own = self.after(point, color)
        if len(own) == 1 or (own and not self.suicide):
            return "suicide"
        return "superko" if self.repeats(cells, 3 - color) else None

    def legal_mask(self, color: int) -> list[int]:
        return [int(self.why_illegal(point, color) is None) for point in range(self.area + 1)]

    def play(self, point: int, color: int) -> int:
        """Play a legal move or pass; return the number of stones taken."""
        captured = 0
        self.banned = None
        if point != self.area:
            cells, taken, own = self.after(point, color)
            self.cells = cells
            captured = len(taken) + len(own)
            self.prisoners[3 - color] += len(taken)
            self.prisoners[color] += len(own)
            if len(taken) == 1:
                stones, liberties = self.chain(point)
                if len(stones) == 1 and liberties == taken:
                    self.banned = (min(taken), 3 - color)
        self.to_play = 3 - color
        self.seen.append((tuple(self.cells), self.to_play))
        return captured
