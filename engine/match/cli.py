"""`keisei match A B [C …]`: play engines against each other and report how strong they are.

Engines are GTP command lines, or `keisei:NET@VISITS` for a Keisei in this process; `NAME=` before either names it. Each
opening is played twice, colors swapped. How finished games are scored is said in verdict.py, how games are lost without
a score in play.py. The report goes to stdout and into the output folder, beside an SGF of every game. docs/match.md is
the manual.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.board.handicap import fixed_handicap
from engine.board.position import Position
from engine.board.rules import parse_rules
from engine.errors import ConfigError, EngineError
from engine.files import reason
from engine.usage import Parser

from .engines import LOCAL, REFEREE, Engine, parse_engines, shown_names
from .game import GameSettings
from .live import Live
from .local import NetPool, parse_local
from .opening_options import OpeningOptions, openings_for
from .report import format_report, summarise, summarise_pairing
from .runner import Setting, noted_interrupts, probe, run_games
from .running import Running
from .schedule import FORMATS, ROUND_ROBIN, Schedule, make_pairings
from .sprt import Gate, Rule, Sprt
from .store import MatchStore, write_json, write_text
from .timecontrol import parse_time

log = logging.getLogger(__name__)

FAILED_GATE = 3  # exit status
REPORT_SECONDS = 20.0  # between reports on the disk while games are played


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status.

    0; 1 for an expected error; 3 if a gate was not passed; 130 after Ctrl-C.
    """
    arguments = build_parser().parse_args(argv)
    logging.basicConfig(format="keisei match: %(message)s", level=logging.WARNING)
    try:
        return run_match(arguments)
    except EngineError as error:
        print(f"keisei match: {error}", file=sys.stderr)
        return 1


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="keisei match",
        description="Play engines against each other: GTP command lines, or keisei:NET@VISITS in this process.",
    )
    add = parser.add_argument
    add("engines", nargs="+", metavar="ENGINE", help="[NAME=]COMMAND or [NAME=]keisei:NET[@VISITS] [OPTIONS]")
    add("--out", type=Path, required=True, metavar="DIR", help="folder for results and SGFs")
    add("--games", type=_positive, default=100, metavar="N", help="games of each pairing (default 100)")
    add("--format", choices=FORMATS, default=ROUND_ROBIN, help="all against all, or the first against the others")
    add("--size", type=_size, default=(19, 19), metavar="S", help="board: 19, or 13x9 (default 19)")
    add("--komi", type=float, help="default: 7.5, on 9x9 7, with a handicap 0.5")
    add("--handicap", type=_positive, default=0, metavar="N", help="stones for the second engine, always Black then")
    add("--rules", default="chinese-ogs", help="name, or KataGo's JSON (default chinese-ogs)")
    add("--time", metavar="T", help="seconds a move, or MAIN+PERIOD/MOVES")
    add("--margin", type=float, default=2.0, metavar="SECONDS", help="overstepping that is forgiven (default 2)")
    add("--visits", type=_positive, metavar="N", help="told to engines that have kata-set-param maxVisits")
    add("--openings", metavar="SEED/PLIES|FILE", help="random ones, or an SGF file or folder (1/4)")
    add("--plies", type=_positive, metavar="N", help="moves to take from each SGF (default 8)")
    add("--balance", metavar="NET[:SHARE]", help="only openings that this net calls even, to within SHARE (0.15)")
    add("--referee", metavar="COMMAND", help='scores finished games: "gnugo --mode gtp", or keisei:NET')
    add("--sprt", nargs=2, type=float, metavar=("ELO0", "ELO1"), help="stop a pairing when one of them is accepted")
    add("--alpha", type=_probability, default=0.05, help="error of the SPRT where ELO0 holds (default 0.05)")
    add("--beta", type=_probability, default=0.05, help="error of the SPRT where ELO1 holds (default 0.05)")
    add("--gate", type=_probability, metavar="SHARE", help="stop when it is known whether the first engine gets SHARE; "
        f"exit status {FAILED_GATE} if not")  # fmt: skip
    add("--budget", type=float, metavar="MINUTES", help="begin no game after so many minutes; --resume goes on later")
    add("--timeout", type=float, default=300.0, metavar="SECONDS", help="an answer later than this loses (default 300)")
    add("--jobs", "--parallel", type=_jobs, default=1, metavar="N|auto", help="games at a time; auto: one a core (1)")
    add("--no-comments", action="store_true", help="ask for moves by genmove, and write no comments into the SGFs")
    add("--resume", action="store_true", help="go on with a match that was interrupted, or make it longer")
    return parser


def run_match(arguments: argparse.Namespace) -> int:
    """Run or continue a match as the options say. Raises EngineError if it cannot be run."""
    engines = parse_engines(arguments.engines)
    referee = None if arguments.referee is None else Engine(REFEREE, arguments.referee)
    for engine in (*engines, *([referee] if referee else [])):
        if engine.command.startswith(LOCAL):
            parse_local(engine.command)
    pairings = make_pairings([engine.label for engine in engines], arguments.format)
    rule = _rule(arguments, len(pairings))
    settings = _game_settings(arguments)
    if arguments.handicap and (arguments.openings or arguments.plies or arguments.balance):
        raise ConfigError("--handicap has no other openings: leave --openings, --plies and --balance out")
    nets = NetPool(arguments.jobs)
    options = OpeningOptions(arguments.openings or OpeningOptions.openings, arguments.plies, arguments.balance)
    kept = {
        "engines": {engine.label: engine.command for engine in engines},
        "referee": arguments.referee,
        "format": arguments.format,
        **asdict(settings),
        **asdict(options),
    }
    if not settings.handicap:
        del kept["handicap"]  # which older folders do not have
    fresh = not arguments.out.exists()
    begun = False
    store = MatchStore(arguments.out, kept, resume=arguments.resume)
    logs = arguments.out / "logs"
    logs.mkdir(exist_ok=True)
    try:
        by_label = {engine.label: engine for engine in engines}
        setting = Setting(by_label, referee, settings, arguments.timeout, logs, nets)
        names = probe(setting)
        until = None if arguments.budget is None else time.monotonic() + 60 * arguments.budget
        stones = settings.handicap
        schedule = Schedule(pairings, arguments.games, store.games, rule, until=until, swap=not stones)
        blocks = (arguments.games + 1) // 2
        openings = [[] for _ in range(blocks)] if stones else openings_for(options, blocks, settings, nets)
        begun = True
        running = Running()
        live = Live(schedule, running, shown=shown_names(engines))
        status, reported = 0, time.monotonic()

        def progress(line: dict[str, Any]) -> None:
            nonlocal reported
            live.game(line)
            if time.monotonic() - reported > REPORT_SECONDS:
                reported = time.monotonic()
                _write_reports(arguments.out, _summary(engines, names, kept, schedule, store))

        try:
            run_games(schedule, openings, setting, store, jobs=arguments.jobs, progress=progress, running=running,
                      tick=live.tick)  # fmt: skip
        except KeyboardInterrupt:
            status = 130
        except EngineError as error:
            print(f"keisei match: {error}; --resume goes on", file=sys.stderr)
            status = 1
        with noted_interrupts():  # a further Ctrl-C takes no report away
            summary = _summary(engines, names, kept, schedule, store)
            report = _write_reports(arguments.out, summary)
    finally:
        nets.close()
        if fresh and not begun:
            store.remove_unused()
        store.close()
    print(report, flush=True)
    if status == 130:
        print("keisei match: interrupted; --resume goes on", file=sys.stderr)
    elif status == 0 and schedule.is_late and schedule.remaining():
        print(f"keisei match: the time is up, {schedule.remaining()} games are left; --resume goes on", file=sys.stderr)
    if status == 0 and arguments.gate is not None and summary["pairings"][0]["rule"]["decision"] != "passed":
        return FAILED_GATE
    return status


def _write_reports(folder: Path, summary: dict[str, Any]) -> str:
    """Write summary.json and report.md, and return the latter's text. A full disk costs no more than the files."""
    report = format_report(summary)
    try:
        write_json(folder / "summary.json", summary)
        write_text(folder / "report.md", report + "\n")
    except OSError as error:
        log.warning("cannot write the report into %s: %s", folder, reason(error))
    return report


def _summary(
    engines: Sequence[Engine], names: dict[str, str], kept: dict[str, Any], schedule: Schedule, store: MatchStore
) -> dict[str, Any]:
    games = [game for number, game in sorted(store.games.items()) if schedule.has(number)]
    found = [
        summarise_pairing(
            pairing,
            [game for game in games if schedule.game(game["game"]).pairing == i],
            schedule.scores(i),
            schedule.verdict(i),
        )
        for i, pairing in enumerate(schedule.pairings)
    ]
    shown = shown_names(engines)
    about = {engine.label: {"name": names[engine.label], "command": engine.command, "shown": shown[engine.label]}
             for engine in engines}  # fmt: skip
    return summarise(about, kept, found, games)


def _game_settings(arguments: argparse.Namespace) -> GameSettings:
    width, height = arguments.size
    rules = parse_rules(arguments.rules)
    komi = arguments.komi if arguments.komi is not None else 0.5 if arguments.handicap else Position(width, height).komi
    if arguments.handicap:
        fixed_handicap(arguments.handicap, width, height)
    komi = Position(width, height, rules=rules, komi=komi).komi
    if not abs(komi) <= width * height:
        raise ConfigError(f"komi out of range: {arguments.komi}")
    if arguments.time is not None:
        parse_time(arguments.time)
    return GameSettings(
        width,
        height,
        komi,
        arguments.rules,
        arguments.time,
        arguments.margin,
        arguments.visits,
        not arguments.no_comments,
        arguments.handicap,
    )


def _rule(arguments: argparse.Namespace, pairings: int) -> Rule | None:
    """Return the rule that the options name. Raises ConfigError."""
    if arguments.sprt is not None and arguments.gate is not None:
        raise ConfigError("--sprt and --gate are two rules; take one")
    if arguments.gate is not None:
        if pairings != 1:
            raise ConfigError("--gate needs exactly two engines")
        return Gate(arguments.gate, arguments.games)
    if arguments.sprt is None:
        return None
    elo0, elo1 = arguments.sprt
    if arguments.alpha + arguments.beta >= 1:
        raise ConfigError("--alpha and --beta are errors: together below 1")
    if not -2000 <= elo0 < elo1 <= 2000:
        raise ConfigError(f"--sprt: {elo0:g} must be below {elo1:g}, both within ±2000")
    return Sprt(elo0, elo1, arguments.alpha, arguments.beta)


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 10**9:
        raise argparse.ArgumentTypeError(f"not a positive number: {text}")
    return int(text)


def _jobs(text: str) -> int:
    return max(os.cpu_count() or 1, 1) if text == "auto" else _positive(text)


def _probability(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"not between 0 and 1: {text}")
    return value


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,2})(?:[x:](\d{1,2}))?", text, re.ASCII)
    if match is None:
        raise argparse.ArgumentTypeError(f"not a board size: {text}")
    return int(match[1]), int(match[2] or match[1])


if __name__ == "__main__":
    sys.exit(main())
