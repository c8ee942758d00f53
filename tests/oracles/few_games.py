"""A few small games as SGF files, and a recipe small enough to train on them."""

import numpy as np

from engine.board.position import Position
from engine.sgf import actions_to_letters

RECIPE = """
name = "small"
[samples]
astray_share = 0.1
[net]
blocks = 1
channels = 8
head_channels = 8
value_channels = 8
[train]
steps = 12
batch = 16
shares = { "19" = 0.5, "9" = 0.5 }
validate_every = 100
"""


def write_games(folder, count):
    folder.mkdir()
    rng = np.random.default_rng(7)
    for number in range(count):
        position, moves = Position(9, rules="tromp-taylor", komi=7.0), []
        for ply in range(40):
            legal = position.legal_mask()[:-1].nonzero()[0]
            action = int(rng.choice(legal))
            position.play(action)
            moves.append(f";{'BW'[ply % 2]}[{actions_to_letters([action], 9)}]")
        result = f"{'BW'[number % 2]}+{'R' if number % 3 else '2.5'}"
        (folder / f"{number}.sgf").write_text(f"(;GM[1]SZ[9]KM[7]RU[Chinese]RE[{result}]{''.join(moves)})")
