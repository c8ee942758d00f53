"""What waits to be searched: queries with turns that are still to begin, by priority, then in the order they came."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator

from .query import Query

Key = tuple[int, int, int]  # -priority, number of the query, place among its turns


class Waiting:
    """The turns of one query that have the same priority and have not begun."""

    __slots__ = ("key", "query", "turns")

    def __init__(self, key: Key, query: Query, turns: deque[int]) -> None:
        self.key, self.query, self.turns = key, query, turns

    def __lt__(self, other: Waiting) -> bool:
        return self.key < other.key


class Queue:
    """Queries that wait. Not for several threads at once."""

    def __init__(self) -> None:
        self._heap: list[Waiting] = []
        self._by_id: dict[str, list[Waiting]] = {}
        self._count = 0
        self.turns = 0  # waiting in all

    def add(self, query: Query) -> None:
        """Add all turns of a query."""
        self._count += 1
        groups: dict[int, deque[int]] = {}
        for turn, priority in zip(query.turns, query.priorities, strict=True):
            groups.setdefault(priority, deque()).append(turn)
        for place, (priority, turns) in enumerate(groups.items()):
            waiting = Waiting((-priority, self._count, place), query, turns)
            heapq.heappush(self._heap, waiting)
            self._by_id.setdefault(query.id, []).append(waiting)
        self.turns += len(query.turns)

    def first(self) -> Key | None:
        """Return the place of what is next, None if nothing waits."""
        while self._heap and not self._heap[0].turns:
            self._drop(heapq.heappop(self._heap))
        return self._heap[0].key if self._heap else None

    def take(self) -> tuple[Key, Query, int]:
        """Take what is next: its place, query and turn. Raises IndexError if nothing waits."""
        if self.first() is None:
            raise IndexError("nothing waits")
        waiting = self._heap[0]
        self.turns -= 1
        return waiting.key, waiting.query, waiting.turns.popleft()

    def remove(self, number: str | None, turns: frozenset[int] | None) -> Iterator[tuple[Query, int]]:
        """Take out what waits under an id (None: all), or some turns of it (None: all of them)."""
        ids = list(self._by_id) if number is None else [number]
        for name in ids:
            for waiting in self._by_id.get(name, ()):
                gone = [turn for turn in waiting.turns if turns is None or turn in turns]
                if not gone:
                    continue
                left = deque(turn for turn in waiting.turns if turns is not None and turn not in turns)
                waiting.turns = left
                self.turns -= len(gone)
                for turn in gone:
                    yield waiting.query, turn
        self.first()
        if number is None and not self.turns:
            self._heap.clear()
            self._by_id.clear()

    def _drop(self, waiting: Waiting) -> None:
        same = self._by_id.get(waiting.query.id)
        if same is not None:
            same[:] = [other for other in same if other is not waiting]
            if not same:
                del self._by_id[waiting.query.id]
