"""`keisei judge --influence`: what the influence judge says, and its picture, a landscape over the board."""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from engine.board.position import BLACK, EMPTY, Position
from engine.board.vertex import format_vertex
from engine.judge.influence_judge import InfluenceJudge
from engine.judge.text import as_dict, bonus_parts, drawing, result_text

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
    beside = "".join(f" + {value:g} {name}" for name, value in bonus_parts(white).items() if value)
    print(f"White: {white.total:g} = {white.stones} stones + {white.territory} territory{beside}")
    print("This judge sees no dead stones: every stone on the board counts as alive. Nor can it tell whether "
          "the game is finished.")
    return 0


def draw(position: Position, judge: InfluenceJudge, path: str) -> None:
    """Draw the influence as a surface over the board, Black's hills up, White's down. Raises EngineError."""
    from engine.judging.picture import new_figure

    figure = new_figure(path, 9.5, 7.5)
    axes: Any = figure.add_axes((0.0, 0.1, 0.96, 0.86), projection="3d", computed_zorder=False,
                                box_aspect=(1.0, 1.0, 0.4))  # fmt: skip
    board = position.board()
    values = np.clip(judge.influence(position), -HEIGHT, HEIGHT)
    stones = board != EMPTY
    values[stones] = np.where(board[stones] == BLACK, HEIGHT, -HEIGHT)
    ys, xs = np.mgrid[0 : position.height, 0 : position.width]
    surface = axes.plot_surface(xs, ys, values, cmap="RdBu_r", vmin=-HEIGHT, vmax=HEIGHT, rstride=1, cstride=1, lw=0.2,
                                edgecolor="#555555", alpha=0.9)  # fmt: skip
    for color, face in ((1, "black"), (2, "white")):
        at_y, at_x = np.nonzero(board == color)
        axes.scatter(at_x, at_y, values[at_y, at_x], c=face, edgecolors="black", s=22, depthshade=False, zorder=5)
    axes.set_zlim(-HEIGHT, HEIGHT)
    width, height = position.width, position.height
    step = 1 if max(width, height) <= 13 else 2
    columns = range(0, width, step)
    axes.set_xticks(columns, [format_vertex(x, width, height)[: -len(str(height))] for x in columns])
    axes.set_yticks(range(height - 1, -1, -step), [str(n) for n in range(1, height + 1, step)])
    axes.invert_yaxis()
    axes.view_init(elev=55, azim=-75)
    axes.set_zlabel("influence")
    judgment = judge.judge(position)
    level = f"{judge.settings.threshold:g}"
    bar = figure.colorbar(surface, ax=axes, shrink=0.55, pad=0.02)
    bar.set_label("influence: Black's above 0 (red), White's below (blue)")
    bar.ax.axhline(judge.settings.threshold, color="black", lw=1)
    bar.ax.axhline(-judge.settings.threshold, color="black", lw=1)
    figure.suptitle(f"By influence: {result_text(judgment.score)}")
    figure.text(0.5, 0.02, f"An empty point is Black's territory from +{level}, White's from -{level} "
                f"(the scale's lines; a stone beside it gives {judge.settings.strength:g}).\nNo stone is dead here.",
                ha="center", va="bottom", fontsize=9)  # fmt: skip
    figure.savefig(path)
