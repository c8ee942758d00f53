"""`keisei loop`: self-play, training and a match for the best net's place, over and over, by a recipe.

keisei loop --recipe zero7 --out DIR --minutes 60      goes on in DIR after a kill; a JSON line a generation
keisei loop --recipe zero7 --out DIR --rate 60         matches between the generations, ratings, DIR/strength.png
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.usage import Parser

from ..folder import held
from ..nets import add_net_options, at_least
from ..recipe import data_home, read_recipe
from .loop import Loop

if TYPE_CHECKING:
    from engine.evaluator import Evaluator

MOST_ROWS = 256  # in one batch


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei loop`. Errors go to the caller as EngineError."""
    parser = Parser(prog="keisei loop", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", required=True, help="recipe name or TOML file, with [selfplay] and [loop]")
    parser.add_argument("--out", type=Path, help="run folder; default $KEISEI_DATA/<recipe>/loop")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no generation after so long")
    parser.add_argument("--rate", type=at_least(1), metavar="GAMES", help="of each match that rates generations")
    add_net_options(parser)
    arguments = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    recipe = read_recipe(arguments.recipe)

    def open_net(path: Path) -> tuple[Evaluator, str]:
        from ..nets import open_net

        return open_net(str(path), arguments, max_batch=MOST_ROWS)

    if arguments.threads:
        import torch

        torch.set_num_threads(arguments.threads)
    folder = arguments.out or data_home() / recipe.name / "loop"
    with held(folder):
        loop = Loop(recipe, folder, open_net)
        if arguments.rate:
            show_ratings(loop, arguments.rate)
            return 0
        for line in loop.run(until=time.monotonic() + 60 * arguments.minutes):
            show(line)
    return 0


def show(line: dict[str, Any]) -> None:
    """Print a line of JSON at once."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def show_ratings(loop: Loop, games: int) -> None:
    """Play what is missing of the matches, print all ratings and draw the plot."""
    from .rate import FILE, plot, rate, ratings, read_lines

    for line in rate(loop, games):
        show(line)
    for net, (elo, error) in ratings(read_lines(loop.folder / FILE)).items():
        show({"net": net, "elo": round(elo), "error": round(error)})
    plot(loop, loop.folder / "strength.png")
