"""A judge without a net: an empty point belongs to whose stones' influence is strong enough there; no stone is dead.

It counts area (stones and territory) whatever the rules say of scoring, as the paper does; komi is the position's. It
cannot tell whether a game is finished, nor how far its score may be off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.board.position import BLACK, EMPTY, WHITE, Position
from engine.judge.board import Board, without_final_passes
from engine.judge.influence import influence_map
from engine.judge.score import bonus_parts
from engine.judge.types import ChainStatus, Group, Judgment, SideScore, Status


@dataclass(frozen=True, slots=True)
class InfluenceSettings:
    """The constants of the influence function."""

    k: float = 1.0  # decay by distance, 1/points
    diagonal: float = 1.4  # length of a diagonal step, points
    strength: float = 64.0  # of a stone at distance 1
    threshold: float = 49.0  # influence from which a point is territory


class InfluenceJudge:
    """Judges by influence. Has the face of `Judge`: judge(position) -> Judgment."""

    def __init__(self, settings: InfluenceSettings | None = None) -> None:
        self.settings = settings or InfluenceSettings()

    def influence(self, position: Position) -> NDArray[np.float64]:
        """Return the influence on the empty points, [H, W], Black positive."""
        chosen = self.settings
        return influence_map(position.board(), chosen.k, chosen.diagonal, chosen.strength)

    def judge(self, position: Position) -> Judgment:
        """Return the judgment of a position; its ownership is influence / threshold, cut to [-1, 1]."""
        position = without_final_passes(position)
        board = position.board()
        influence = self.influence(position)
        empty = board == EMPTY
        owner = np.where(board == BLACK, 1, np.where(board == WHITE, -1, 0)).astype(np.int8)
        clear = empty & (np.abs(influence) >= self.settings.threshold)
        territory = np.where(clear, np.sign(influence), 0).astype(np.int8)
        owner += territory
        gets = bonus_parts(position)
        black, white = (
            SideScore(
                stones=int(np.count_nonzero(board == color)),
                territory=int(np.count_nonzero(territory == sign)),
                bonus=sum(gets) if color == WHITE else 0.0,
                komi=gets[0] if color == WHITE else 0.0,
                handicap_bonus=gets[1] if color == WHITE else 0.0,
            )
            for color, sign in ((BLACK, 1), (WHITE, -1))
        )
        score = black.total - white.total
        lean = np.clip(influence / self.settings.threshold, -1.0, 1.0)
        chains = Board(position).chains
        colors = [int(board.ravel()[stones[0]]) for stones in chains]
        return Judgment(
            width=position.width, height=position.height,
            chains=tuple(ChainStatus(color, stones, Status.ALIVE, 0.5, False, index)
                         for index, (color, stones) in enumerate(zip(colors, chains, strict=True))),
            groups=tuple(Group(color, (index,), Status.ALIVE, 0.5, ()) for index, color in enumerate(colors)),
            owner=owner, territory=territory, dame=empty & (territory == 0),
            seki_points=np.zeros(board.shape, dtype=np.bool_),
            confidence=((1.0 + np.abs(np.where(empty, lean, 0.0))) / 2.0).astype(np.float32),
            ownership=np.where(empty, lean, owner).astype(np.float32),
            score=score, black=black, white=white, finished=None, open=(),
            expected_score=score, score_low=-math.inf, score_high=math.inf, winrate=None, doubt=math.inf,
            source="influence", passed=position.ended,
        )  # fmt: skip
