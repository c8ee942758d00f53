"""Plays a position on until nothing is left to decide: a teacher searches every move, both sides pass, the judge looks.

What comes out is the end for a judgment label: the board, its dead stones, whose each point is, what is in seki.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.board.position import BLACK, EMPTY, WHITE, Position

from .judgment_targets import Points, needless

if TYPE_CHECKING:
    from engine.evaluator import Evaluator

PLAY_RULES = "chinese"  # a move into one's own territory costs nothing, so borders get closed
COUNT_RULES = (
    '{"ko":"SIMPLE","scoring":"AREA","tax":"SEKI","suicide":false,"whiteHandicapBonus":"0","friendlyPassOk":true}'
)
LONGEST = 2.0  # moves of a play-out, in boards


@dataclass(frozen=True, slots=True)
class Count:
    """An end that was counted; flat arrays."""

    bare: Points  # without dead stones
    owner: Points  # of every point as area; EMPTY: nobody's, eyes in seki among them
    seki: NDArray[np.bool_]  # stones and points in seki

    def without_needless(self, start: Points) -> Points:
        """Return the board without stones that are not on `start` and that no border needs: the patent's second step.

        They stood in territory of their own, so taking them off changes no owner.
        """
        bare = self.bare.copy()
        bare[needless(start, bare)] = EMPTY
        return bare


class PlayOut:
    """Plays positions out with one teacher.

    Args:
        evaluator: the teacher, with ownership.
        visits: of each search, 16 or more for labels.
        seed: of the searches.
    """

    def __init__(self, evaluator: Evaluator, *, visits: int, seed: int) -> None:
        from engine.judge import Judge
        from engine.search.params import SearchParams
        from engine.search.searcher import Searcher

        self._judge = Judge(evaluator)
        self._visits = visits
        self._searcher = Searcher(evaluator, SearchParams(), seed=seed)
        self.evaluator = evaluator

    def play(self, position: Position) -> tuple[Position, Count | None]:
        """Play on from a position, which is left as it is; return the last position and its count.

        No count: the longest play-out was reached, or the judge finds something open at its end.
        """
        from engine.search.root import Limits

        game = position.copy()
        game.set_rules(PLAY_RULES)
        self._searcher.drop_tree()
        limit = int(LONGEST * game.area)
        passes = 0
        while passes < 2 and limit > 0:
            self._searcher.set_position(game)
            action = self._searcher.search(Limits(visits=self._visits)).best_action
            passes = passes + 1 if action == game.area else 0
            game.play(action)
            limit -= 1
        judgment = self._judge.judge(game)
        dead = np.zeros(game.area, np.bool_)
        dead[list(judgment.dead)] = True
        finished = passes == 2 and judgment.settled
        return game, count_end(game.board().ravel(), dead) if finished else None


def count_end(end: Points, dead: NDArray[np.bool_]) -> Count:
    """Take the dead stones off an end and count it; every stone that is left lives."""
    from engine.judge import Judge
    from engine.judge.asking import GivenOpinion
    from engine.judge.types import Status

    bare = np.where(dead, EMPTY, end).astype(np.uint8)
    size = round(len(bare) ** 0.5)
    if not bare.any():
        return Count(bare, np.zeros_like(bare), np.zeros(len(bare), np.bool_))
    board = Position(size, rules=COUNT_RULES, komi=0.0)
    board.set_up([(int(bare[action]), action) for action in np.flatnonzero(bare).tolist()])
    lives = np.array([0.0, 1.0, -1.0], np.float32)[bare].reshape(size, size)
    judgment = Judge(GivenOpinion(lives)).judge(board)
    seki = judgment.seki_points.ravel().copy()
    seki[list(judgment.stones(Status.SEKI))] = True
    sign = np.where(bare == BLACK, 1, np.where(bare == WHITE, -1, judgment.territory.ravel()))
    return Count(bare, np.array([EMPTY, BLACK, WHITE], np.uint8)[sign], seki)
