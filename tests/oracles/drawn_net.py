"""A net whose opinions a test draws, and players over it."""

from __future__ import annotations

import numpy as np

from engine.board.position import BLACK, WHITE
from engine.evaluator import Evaluation
from engine.evaluator_fakes import HashEvaluator, UniformEvaluator
from engine.player.net import LoadedNet, ReadyNet
from engine.player.player import Player
from engine.player.settings import PlayerSettings
from engine.player.thinking import Wish
from engine.search.params import SearchParams

FINISHED = [
    "..XO...",
    "..XO.X.",
    "..XO...",
    ".OXO...",
    "..XO...",
    "..XO...",
    "..XO...",
]
"""A finished board: White is dead in Black's corner, Black in White's. Black has 21 points with stones, White 28."""
OWNERS = ["XXXOOOO"] * 7
"""Whose its points are."""


class Drawn(UniformEvaluator):
    """An evaluator whose opinions a test draws: ownership by a board picture, value, favourite moves.

    Args:
        picture: rows of "X" (Black's point), "O" (White's), "." (nobody's).
        stones: the position that goes with it, so that a flipped board gets a flipped answer.
        value: what Black's winning chances are worth, in [-1, 1].
        favourites: actions with a large logit, the first the largest.
    """

    def __init__(self, picture=None, stones=None, *, value=0.0, lead=0.0, favourites=()):
        super().__init__("alphagozero-17")  # its last plane says whose turn it is
        self.owner = None if picture is None else drawing(picture)
        self.stones = None if picture is None else drawing(stones or picture)
        self.black_value, self.black_lead, self.favourites = value, lead, favourites

    def evaluate(self, spatial, globals_, *, ownership=False):
        batch, _, height, width = spatial.shape
        black = np.where(spatial[:, 16, 0, 0] > 0, 1.0, -1.0).astype(np.float32)
        logits = np.zeros((batch, width * height + 1), np.float32)
        for rank, action in enumerate(self.favourites):
            logits[:, action] = 12.0 - 2 * rank
        owner = None
        if ownership and self.owner is not None:
            board = black[:, None, None] * (spatial[:, 0] - spatial[:, 8])
            owner = np.stack([color * self.turned_like(row).ravel() for color, row in zip(black, board, strict=True)])
        ones = np.ones(batch, np.float32)
        return Evaluation(
            policy_logits=logits, value=self.black_value * black, no_result=0 * ones, ownership=owner,
            lead=self.black_lead * black, score_mean=self.black_lead * black, score_stdev=3 * ones,
        )  # fmt: skip


    def turned_like(self, board):
        """Return the ownership, flipped as the board is."""
        flips = [(rows, columns) for rows in (1, -1) for columns in (1, -1)]
        best = max(flips, key=lambda flip: float((self.stones[:: flip[0], :: flip[1]] * board).sum()))
        return self.owner[:: best[0], :: best[1]]


def drawing(rows):
    signs = {"X": 1.0, "O": -1.0, ".": 0.0}
    return np.array([[signs[c] for c in row] for row in rows], np.float32)


def make_player(evaluator=None, **settings):
    values = {"visits": 12, "seed": 1, **settings}
    net = ReadyNet(LoadedNet(evaluator or HashEvaluator(), "test"))
    return Player(PlayerSettings(**values), SearchParams(symmetry="fixed"), net)


def place(player, rows, to_play=BLACK):
    """Set up a position from rows of X, O and dots."""
    height, width = len(rows), len(rows[0])
    player.new_board(width, height)
    stones = [
        (BLACK if stone == "X" else WHITE, y * width + x)
        for y, row in enumerate(rows)
        for x, stone in enumerate(row)
        if stone != "."
    ]
    player.set_up(stones, to_play)


def genmove(player, color, **options):
    return player.genmove(color, Wish(), **options)
