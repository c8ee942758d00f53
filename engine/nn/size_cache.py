"""Keeps what is built for a board size, for the few sizes used last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Built = TypeVar("Built")


class SizeCache(Generic[Built]):
    """Keeps what is built for the few board sizes used last. Safe to use from several threads.

    Args:
        build: makes the value for (width, height).
        keep: how many are kept.
    """

    def __init__(self, build: Callable[[int, int], Built], keep: int) -> None:
        self._build = build
        self._keep = keep
        self._items: OrderedDict[tuple[int, int], Built] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, width: int, height: int) -> Built:
        """Return the value for a size, building it where needed, and drop the one unused longest."""
        key = (width, height)
        with self._lock:
            if key not in self._items:
                self._items[key] = self._build(width, height)
                while len(self._items) > self._keep:
                    self._items.popitem(last=False)
            self._items.move_to_end(key)
            return self._items[key]

    def items(self) -> list[tuple[tuple[int, int], Built]]:
        """Return what is kept, by size, the one unused longest first."""
        with self._lock:
            return list(self._items.items())

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._items.clear()
