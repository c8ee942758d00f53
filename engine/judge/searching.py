"""The opinion of a search: who owns the points when both sides play on, each side moving first for half of the time.

A judge asks for it where its net alone leaves something open, after lines of likely moves (playing_on.py), whose word
on winrate and score stays. What the moves at the root do to the points of an open group tells which of them settles it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engine.board.position import BLACK, WHITE, Position
from engine.evaluator import Evaluator
from engine.judge.board import Board
from engine.judge.opening import around_stones
from engine.judge.types import OpenItem, Opinion, TriedMove
from engine.search.params import SearchParams
from engine.search.result import SearchResult
from engine.search.root import Limits, RootOptions
from engine.search.searcher import Searcher

MOST_GROUPS = 6  # that are searched by themselves, the largest
LEAST_VISITS = 2  # of a move that may count as settling


class SearchOpinion:
    """Opinions by searching over a policy/value net.

    Args:
        evaluator: the net.
        seconds: for one opinion, a quarter for each side and half for the open groups; None: visits alone limit it.
        visits: of each side's tree; None: seconds alone limit it.
        kept: share of what was said of the points before it that stays.
    """

    def __init__(self, evaluator: Evaluator, *, seconds: float | None, visits: int | None, kept: float = 0.0) -> None:
        self._kept = kept
        self.name = f"{evaluator.name}, searched"
        self._evaluator = evaluator
        self._limits = Limits(visits=visits, seconds=None if seconds is None else seconds / 4)

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether the net takes boards of this size."""
        return self._evaluator.supports_size(width, height)

    def refined(self, position: Position, before: Opinion) -> Opinion:
        """Return an opinion with what the searches found in place of the net's plain word."""
        found = {color: self._search(position, color) for color in (BLACK, WHITE)}
        maps = [_black_view(color, result.ownership) for color, result in found.items() if result.ownership is not None]
        owner = self._kept * before.owner + (1.0 - self._kept) * np.mean(maps, axis=0) if maps else before.owner
        return replace(
            before,
            owner=owner.astype(np.float32),
            territory=None,
            tried={color: _tried(color, result) for color, result in found.items()},
            name=self.name,
        )

    def around_groups(self, position: Position, board: Board, before: Opinion, items: Sequence[OpenItem]) -> Opinion:
        """Return an opinion in which open groups were searched by themselves: each side moves first, around the group.

        What both ways agree on becomes the ownership of the group's stones, else the mean of both.
        """
        groups = [item for item in items if item.kind == "group"]
        groups = sorted(groups, key=lambda item: -len(item.points))[:MOST_GROUPS]
        owner = before.owner.copy()
        local = {}
        for item in groups:
            chains = sorted({board.chain_of[stone] for stone in item.points})
            candidates = around_stones(board, chains)
            best = {color: self._best(position, color, candidates, len(groups)) for color in (BLACK, WHITE)}
            moves = {color: move for color, move in best.items() if move is not None}
            if len(moves) == 2:
                local[item.points] = moves
                place = list(item.points)
                owner.ravel()[place] = np.mean([move.owner.ravel()[place] for move in moves.values()], axis=0)
        return replace(before, owner=owner, local=local)

    def _best(self, position: Position, color: int, candidates: Sequence[int], shares: int) -> TriedMove | None:
        """Return the best of the candidates or a pass for `color`, after a search of a share of the time."""
        allowed = [action for action in (*candidates, position.area) if position.is_legal(action, color)]
        visits = max(8, self._limits.visits // 4) if self._limits.visits is not None else None
        seconds = None if self._limits.seconds is None else self._limits.seconds / max(1, shares)
        result = self._search(position, color, Limits(visits=visits, seconds=seconds), tuple(allowed))
        if result.ownership is None:
            return None
        return TriedMove(result.chosen, result.visits, _black_view(color, result.ownership))

    def _search(
        self, position: Position, color: int, limits: Limits | None = None, allow: tuple[int, ...] = ()
    ) -> SearchResult:
        searcher = Searcher(self._evaluator, SearchParams(), seed=1)
        searcher.set_position(position, color)
        options = RootOptions(ownership=True, moves_ownership=not allow, allow=allow)
        return searcher.search(limits or self._limits, root=options)


def _black_view(color: int, ownership: np.ndarray) -> np.ndarray:
    return ownership if color == BLACK else -ownership


def _tried(color: int, result: SearchResult) -> tuple[TriedMove, ...]:
    return tuple(
        TriedMove(move.action, move.visits, _black_view(color, move.ownership))
        for move in result.moves
        if move.ownership is not None and move.visits >= LEAST_VISITS
    )
