"""`keisei judge --influence`: what the influence judge says, and its picture, a landscape over the board."""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from engine.board.position import BLACK, EMPTY, Position
from engine.judge.influence_judge import InfluenceJudge
from engine.judge.text import as_dict, drawing, result_text

HEIGHT = 100.0
"""Where the landscape is cut off; stones stand there."""


def show(position: Position, options: argparse.Namespace) -> int:
    """Print the judgment, and draw it if asked. Raises EngineError as pictures do."""
    judge = InfluenceJudge()
    judgment = judge.judge(position)
    if options.png:
        draw(position, judge, options.png)
    if options.json:
        data = as_dict(position, judgment)
        data["influence"] = [[round(float(value), 2) for value in row] for row in judge.influence(position)]
        print(json.dumps(data))
        return 0
    black, white = judgment.black, judgment.white
    print(drawing(position, judgment))
    print()
    print(f"By influence: {result_text(judgment.score)}")
    print(f"Black: {black.total:g} = {black.stones} stones + {black.territory} territory")
    print(f"White: {white.total:g} = {white.stones} stones + {white.territory} territory + {white.bonus:g} bonus")
    return 0


def draw(position: Position, judge: InfluenceJudge, path: str) -> None:
    """Draw the influence as a surface over the board, Black's hills up, White's down. Raises EngineError."""
    from engine.judging.picture import new_figure

    figure = new_figure(path, 9.5, 7.5)
    axes: Any = figure.add_axes((0.0, 0.0, 0.96, 0.94), projection="3d", box_aspect=(1.0, 1.0, 0.4))
    board = position.board()
    values = np.clip(judge.influence(position), -HEIGHT, HEIGHT)
    stones = board != EMPTY
    values[stones] = np.where(board[stones] == BLACK, HEIGHT, -HEIGHT)
    ys, xs = np.mgrid[0 : position.height, 0 : position.width]
    axes.plot_surface(xs, ys, values, cmap="RdBu_r", vmin=-HEIGHT, vmax=HEIGHT, rstride=1, cstride=1, lw=0.2,
                      edgecolor="#555555", alpha=0.9)  # fmt: skip
    for color, face in ((1, "black"), (2, "white")):
        rows, columns = np.nonzero(board == color)
        axes.scatter(columns, rows, values[rows, columns], c=face, edgecolors="black", s=22, depthshade=False)
    axes.set_zlim(-HEIGHT, HEIGHT)
    axes.set_xticks(range(0, position.width, 3))
    axes.set_yticks(range(0, position.height, 3))
    axes.invert_yaxis()
    axes.view_init(elev=55, azim=-75)
    axes.set_zlabel("influence")
    judgment = judge.judge(position)
    figure.suptitle(f"{result_text(judgment.score)}   (territory from ±{judge.settings.threshold:g})")
    figure.savefig(path)
