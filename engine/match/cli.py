"""`keisei match A B`: play a match between two GTP engines and report it.

A and B are command lines. Colors alternate; each opening is played twice, colors swapped. How finished games are scored
is said in verdict.py, how games are lost without a score in play.py. The report goes to stdout and to summary.json in
the output folder, beside an SGF of every game and games.jsonl. GNU Go knows no superko: give it --rules chinese.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from engine.board.position import Position
from engine.board.rules import parse_rules
from engine.errors import ConfigError, EngineError

from .openings import make_openings
from .play import GameSettings
from .report import format_report, summarise
from .runner import Commands, probe, run_games
from .store import MatchStore, write_json


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0, 1 for an expected error, 130 after Ctrl-C."""
    arguments = build_parser().parse_args(argv)
    try:
        return run_match(arguments)
    except EngineError as error:
        print(f"keisei match: {error}", file=sys.stderr)
        return 1


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = argparse.ArgumentParser(
        prog="keisei match", description="Play a match between two GTP engines, given by their command lines."
    )
    add = parser.add_argument
    add("a", metavar="A", help="command line of the first engine")
    add("b", metavar="B", help="command line of the second engine")
    add("--games", type=_positive, default=100, metavar="N", help="games in all (default 100)")
    add("--size", type=_size, default=(19, 19), metavar="S", help="board: 19, or 13x9 (default 19)")
    add("--out", type=Path, required=True, metavar="DIR", help="folder for results and SGFs")
    add("--komi", type=float, help="default: 7.5, on 9x9 7")
    add("--rules", default="chinese-ogs", help="name, or KataGo's JSON (default chinese-ogs)")
    add("--time", type=float, metavar="SECONDS", help="time for a move, told to both engines by time_settings")
    add("--visits", type=_positive, metavar="N", help="told to engines that have kata-set-param maxVisits")
    add("--openings", type=_openings, default=(1, 4), metavar="SEED/PLIES", help="random openings (default 1/4)")
    add("--referee", metavar="CMD", help='engine that scores finished games, e.g. "gnugo --mode gtp"')
    add("--timeout", type=float, default=300.0, metavar="SECONDS", help="an answer later than this loses (default 300)")
    add("--parallel", type=_positive, default=1, metavar="N", help="games at a time (default 1)")
    add("--resume", action="store_true", help="go on with a match that was interrupted")
    return parser


def run_match(arguments: argparse.Namespace) -> int:
    """Run or continue a match as the options say. Raises EngineError if it cannot be run."""
    width, height = arguments.size
    rules = parse_rules(arguments.rules)
    komi = arguments.komi if arguments.komi is not None else Position(width, height).komi
    komi = Position(width, height, rules=rules, komi=komi).komi
    if not abs(komi) <= width * height:
        raise ConfigError(f"komi out of range: {arguments.komi}")
    seed, plies = arguments.openings
    settings = GameSettings(width, height, komi, arguments.rules, arguments.time, arguments.visits)
    commands = Commands(arguments.a, arguments.b, arguments.referee)
    kept = {**dataclasses.asdict(commands), **dataclasses.asdict(settings), "seed": seed, "plies": plies}
    store = MatchStore(arguments.out, kept, resume=arguments.resume)
    logs = arguments.out / "logs"
    logs.mkdir(exist_ok=True)
    names = probe(commands, settings, arguments.timeout, logs)
    missing = [number for number in range(arguments.games) if number not in store.games]
    openings = make_openings((arguments.games + 1) // 2, plies, width, height, seed)
    status = 0
    with tqdm(total=arguments.games, initial=arguments.games - len(missing), file=sys.stderr, unit="game") as bar:

        def progress(game: dict[str, Any]) -> None:
            bar.update()
            games = list(store.games.values())
            wins, losses = (sum(game["winner"] == label for game in games) for label in "AB")
            bar.set_postfix_str(f"A {wins}-{losses}, last {game['result']} {game['reason']}")

        try:
            run_games(
                missing,
                openings,
                commands,
                settings,
                store,
                timeout=arguments.timeout,
                parallel=arguments.parallel,
                progress=progress,
            )
        except KeyboardInterrupt:
            status = 130
    games = [game for _, game in sorted(store.games.items())]
    summary = {
        "a": {"name": names["A"], "command": commands.a},
        "b": {"name": names["B"], "command": commands.b},
        "settings": kept,
        **summarise(games),
    }
    write_json(arguments.out / "summary.json", summary)
    store.close()
    print(format_report(summary), flush=True)
    if status:
        print("keisei match: interrupted; --resume goes on", file=sys.stderr)
    return status


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"not a positive number: {text}")
    return int(text)


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,2})(?:[x:](\d{1,2}))?", text, re.ASCII)
    if match is None:
        raise argparse.ArgumentTypeError(f"not a board size: {text}")
    return int(match[1]), int(match[2] or match[1])


def _openings(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,9})(?:/(\d{1,3}))?", text, re.ASCII)
    if match is None:
        raise argparse.ArgumentTypeError(f"not SEED/PLIES: {text}")
    return int(match[1]), int(match[2] or 4)


if __name__ == "__main__":
    sys.exit(main())
