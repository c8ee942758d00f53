"""Which stones are dead, as the net's ownership and Benson's pass-alive analysis see it, and the score that follows.

A position has one judgment: passes at the end of the game do not change it, nor does whose turn it is, so that what is
said before, between and after the final passes is the same. The net is asked for both sides to move and under several
symmetries, and a chain is judged by the mean over its points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.board.position import BLACK, EMPTY, WHITE, Position
from engine.board.scoring import pass_alive, score, territory
from engine.evaluator import Evaluator
from engine.player.rawnet import ownership_of

UNSETTLED = 0.6
"""A point whose mean ownership is nearer to 0 than this is not settled."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a position is worth. Point arrays are [H, W], Black positive."""

    dead: frozenset[int]  # actions of dead stones
    ownership: NDArray[np.float32] | None  # in [-1, 1]; None if the net does not say
    score: float  # Black − White − komi under the rules in force, after removing the dead
    doubt: float  # points that might still go either way


def all_alive(position: Position) -> bool:
    """Tell whether the rules count every stone on the board as alive at the end (Tromp-Taylor, as on CGOS)."""
    rules = position.rules
    return rules.scoring == "AREA" and not rules.friendly_pass_ok


def without_final_passes(position: Position) -> Position:
    """Return a copy with the passes at the end taken back."""
    copy = position.copy()
    moves = copy.moves
    while moves and moves[-1][1] == copy.area:
        moves.pop()
        copy.undo()
    return copy


def chains(position: Position) -> list[list[int]]:
    """Return the chains on the board, each as its actions, in board order."""
    seen: set[int] = set()
    found = []
    for action in np.flatnonzero(position.board().ravel()).tolist():
        if action not in seen:
            chain = position.chain(action)
            seen.update(chain)
            found.append(chain)
    return found


class Judge:
    """Judges positions and remembers the last ones.

    Args:
        evaluator: the net.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._cache: dict[tuple[object, ...], Judgment] = {}

    def judge(self, position: Position) -> Judgment:
        """Return the judgment of a position."""
        settled = without_final_passes(position)
        moves = tuple(settled.moves[-8:])
        key = (settled.width, settled.height, settled.hash, settled.rules, settled.komi, moves, position.handicap)
        if key not in self._cache:
            if len(self._cache) >= 16:
                self._cache.clear()
            self._cache[key] = self._judge(settled)
        return self._cache[key]

    def _judge(self, position: Position) -> Judgment:
        ownership = ownership_of(self._evaluator, position)
        if ownership is None:
            return Judgment(frozenset(), None, score(position), float(position.area))
        return judgment_from(position, ownership)


def judgment_from(position: Position, ownership: NDArray[np.float32]) -> Judgment:
    """Make a judgment from an ownership map [H, W], Black positive."""
    flat = ownership.ravel()
    safe = pass_alive(position).ravel()
    dead: set[int] = set()
    doubt = 0.0
    for chain in chains(position):
        color = position.color_at(chain[0])
        mean = (1.0 if color == BLACK else -1.0) * float(flat[chain].mean())
        if safe[chain[0]] == color:
            continue
        if safe[chain[0]] == 3 - color or mean < 0.0:
            dead.update(chain)
        if safe[chain[0]] == EMPTY and abs(mean) < UNSETTLED:
            doubt += 2.0 * len(chain)
    empty = (position.board().ravel() == EMPTY) & (safe == EMPTY)
    doubt += 2.0 * float(np.count_nonzero(empty & (np.abs(flat) < UNSETTLED)))
    mask = np.zeros(position.area, dtype=np.bool_)
    mask[list(dead)] = True
    return Judgment(frozenset(dead), ownership, _score(position, mask.reshape(ownership.shape), ownership), doubt)


def _score(position: Position, dead: NDArray[np.bool_], ownership: NDArray[np.float32]) -> float:
    """Score a position whose dead stones are known.

    Empty points that reach living stones of both sides count for nobody in a finished game. While borders are open
    they hold most of the board: there the net's clear word on a point counts.
    """
    owners = territory(position, dead=dead)
    left = ~dead & (position.board() != EMPTY)
    contested = (owners == EMPTY) & _reaches_both(position, left) & (np.abs(ownership) >= UNSETTLED)
    if not contested.any():
        return score(position, dead=dead)
    owners[contested] = np.where(ownership[contested] > 0, BLACK, WHITE)
    return score(position, ownership=owners)


def _reaches_both(position: Position, living: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the points [H, W] without a living stone whose region touches living stones of both sides."""
    height, width = living.shape
    board = position.board()
    result = np.zeros_like(living)
    seen = living.copy()
    for start in zip(*np.nonzero(~living), strict=True):
        if seen[start]:
            continue
        region, colors, frontier = [], set(), [start]
        seen[start] = True
        while frontier:
            y, x = frontier.pop()
            region.append((y, x))
            for ny, nx in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                if not (0 <= ny < height and 0 <= nx < width):
                    continue
                if living[ny, nx]:
                    colors.add(int(board[ny, nx]))
                elif not seen[ny, nx]:
                    seen[ny, nx] = True
                    frontier.append((ny, nx))
        if len(colors) == 2:
            rows, columns = zip(*region, strict=True)
            result[list(rows), list(columns)] = True
    return result
