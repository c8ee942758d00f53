"""Who wins a tiny board, by alpha-beta over whole games under superko and Tromp-Taylor counting."""

import numpy as np

from engine.board.position import BLACK
from engine.board.scoring import tromp_taylor


class TooLarge(Exception):
    """The game tree has more nodes than the test wants to pay for."""


class AlphaBeta:
    """Alpha-beta over whole games under superko, on Black's points more than White's. Passing is tried first.

    Args:
        nodes: positions it may look at.
    """

    def __init__(self, nodes):
        self.left = nodes

    def margin(self, position, color, low, high, depth=0):
        """Return the margin with best play, cut to [low, high]."""
        self.left -= 1
        if self.left < 0 or depth > 150:
            raise TooLarge
        if position.ended:
            return max(low, min(high, tromp_taylor(position)[1]))
        for action in np.flatnonzero(position.legal_mask(color))[::-1]:
            after = position.copy()
            after.play(int(action), color)
            margin = self.margin(after, 3 - color, low, high, depth + 1)
            if color == BLACK:
                low = max(low, margin)
            else:
                high = min(high, margin)
            if low >= high:
                break
        return low if color == BLACK else high


def winner_by_force(position, nodes=1_000_000):
    """Return "win", "loss" or "draw" for the side to move, by alpha-beta on a window just around komi."""
    komi = position.komi
    low, high = int(np.ceil(komi)) - 1, int(np.floor(komi)) + 1
    sign = int(np.sign(AlphaBeta(nodes).margin(position, position.to_play, low, high) - komi))
    return {0: "draw", 1: "win", -1: "loss"}[sign if position.to_play == BLACK else -sign]
