"""Positions in the middle of games of random moves, the same for a seed."""

import numpy as np

from engine.board.position import Position


def random_position(width, height, rules, komi, n_moves, seed):
    """Return the position after so many random moves, passes only where there is nothing else."""
    position = Position(width, height, rules=rules, komi=komi)
    rng = np.random.default_rng(seed)
    for _ in range(n_moves):
        moves = np.flatnonzero(position.legal_mask()[:-1])
        position.play(int(rng.choice(moves)) if len(moves) else position.area)
    return position
