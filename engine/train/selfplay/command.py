"""`keisei selfplay`: games of a net against itself, with search or with its policy alone, as a table of records.

    keisei selfplay --net NET --sizes 7,8,10-12 --visits 1 --temperature 0.8 --games 5000 --out DIR

writes DIR/games.tsv; with more than one visit also DIR/shards, positions with the visits (pi) and the result (z) to
train from. The same command goes on after a kill, and adds games when --games is higher.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import time
from collections.abc import Sequence
from pathlib import Path

from engine.usage import Parser

from ..folder import held
from ..nets import add_net_options, add_ray_options, at_least, open_net
from .plan import SelfplayPlan, parse_sizes, parse_weights

log = logging.getLogger(__name__)
MOST_ROWS = 256  # in one batch


def make_parser() -> argparse.ArgumentParser:
    """Return the parser; every option that belongs to the plan has its name and its default."""
    default = SelfplayPlan()
    parser = Parser(prog="keisei selfplay", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", help="net file or shipped net; default: the shipped one")
    parser.add_argument("--games", type=at_least(1), default=100, help="games that the folder is to hold in the end")
    parser.add_argument("--out", type=Path, required=True, help="folder; a run goes on in its folder")
    parser.add_argument("--sizes", type=parse_sizes, default=default.sizes, help="board sizes, as in 7,10-12")
    parser.add_argument("--rules", action="append", metavar="NAME[=WEIGHT]", help="rule set; several: drawn for a game")
    parser.add_argument("--komi", type=float, help="default: the fair one of each size")
    parser.add_argument(
        "--komi-spread", type=float, default=default.komi_spread, help="of random komi, points on 19x19"
    )
    parser.add_argument("--visits", type=int, default=default.visits, help="a move; 1: the net's policy, no search")
    parser.add_argument("--temperature", type=float, default=default.temperature)
    parser.add_argument("--temperature-moves", type=int, default=default.temperature_moves, help="on 19x19")
    parser.add_argument("--late-temperature", type=float, default=default.late_temperature)
    parser.add_argument("--noise-fraction", type=float, default=default.noise_fraction, help="of Dirichlet noise")
    parser.add_argument("--leaves", type=int, default=default.leaves, help="of one game in a batch")
    parser.add_argument("--no-resign", dest="resign", action="store_false", help="play every game to its end")
    parser.add_argument("--resign-wrong", type=float, default=default.resign_wrong, help="share of wrong resignations")
    parser.add_argument("--playout-share", type=float, default=default.playout_share, help="of games played to the end")
    parser.add_argument("--games-at-once", type=int, default=default.games_at_once)
    parser.add_argument("--part-games", type=int, default=default.part_games, help="games that are written together")
    parser.add_argument("--sgf", type=at_least(0), default=0, metavar="N", help="of a part as SGF too")
    parser.add_argument("--seed", type=int, default=default.seed)
    add_net_options(parser)
    add_ray_options(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei selfplay`. Errors go to the caller as EngineError."""
    from .run import play
    from .store import GameStore

    arguments = make_parser().parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    given = {f.name: getattr(arguments, f.name) for f in dataclasses.fields(SelfplayPlan) if hasattr(arguments, f.name)}
    if arguments.rules:
        given["rules"] = parse_weights(arguments.rules)
    else:
        given.pop("rules")
    plan = SelfplayPlan(**given)
    plan.check()
    max_batch = max(8, min(MOST_ROWS, plan.games_at_once * plan.leaves))
    evaluator, net = open_net(arguments.net, arguments, max_batch=max_batch)
    with held(arguments.out):
        store = GameStore(arguments.out, plan, net)
        start = time.monotonic()
        players = None
        if arguments.ray:
            from ..ray_workers import RayPlayers

            players = RayPlayers(arguments.ray, arguments.ray_workers, arguments, plan, max_batch)
        played = play(evaluator, plan, arguments.games, store, sgf=arguments.sgf, players=players)
    log.info("%d games in %.0f s; %s", played, time.monotonic() - start, arguments.out)
    return 0
