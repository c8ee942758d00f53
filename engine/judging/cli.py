"""The command `keisei judge`: options, the way from a record to a position, what is printed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli import add_common_options, layers
from engine.errors import ConfigError, SgfError
from engine.usage import Parser

if TYPE_CHECKING:
    from engine.board.position import Position
    from engine.judge.net_judge import Judge
    from engine.sgf.record import GameRecord

MOST_BYTES = 16 << 20  # of a record on standard input


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="keisei judge",
        description="Say which stones are dead, whose the points are, what the score is, and what is still open.",
    )
    parser.add_argument("source", metavar="FILE.sgf|FOLDER|-", nargs="?", help="a game record; - reads one from stdin")
    parser.add_argument("--move", metavar="N", type=int, help="the position after move N (0: before the first)")
    parser.add_argument("--komi", metavar="POINTS", type=float, help="in place of the record's")
    parser.add_argument("--json", action="store_true", help="print one JSON object (docs/judge.md lists its keys)")
    parser.add_argument("--png", metavar="FILE", help="draw the judgment, as .png or .svg")
    parser.add_argument("--influence", action="store_true", help="judge by the influence of stones, without a net")
    parser.add_argument("--out", metavar="FILE.jsonl", help="for a folder: the file to write (FOLDER.jsonl)")
    parser.add_argument("--jobs", metavar="N", type=int, default=0, help="for a folder: processes; 0 = one a core")
    parser.add_argument(
        "--alphago50", metavar="FOLDER", help="print the table of the last positions of FOLDER/*.sgf beside table2.tsv"
    )
    add_common_options(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Run `keisei judge`."""
    parser = make_parser()
    options = parser.parse_args(list(argv))
    if options.alphago50:
        from engine.judging.table import print_table

        return print_table(Path(options.alphago50), options)
    if options.source is None:
        parser.error("which record? give a file, a folder, or - for standard input")
    folder = options.source != "-" and Path(options.source).is_dir()
    if folder and options.png:
        parser.error("--png draws one record, not a folder")
    if not folder and (options.out or options.jobs):
        parser.error("--out and --jobs are for folders")
    if options.jobs < 0:
        parser.error(f"--jobs {options.jobs}: 0 or more processes")
    if folder:
        from engine.judging.batch import judge_folder

        return judge_folder(Path(options.source), options)
    record = read_record(options.source)
    position = position_of(record, options)
    for doubt in doubts(record, options):
        print(f"keisei judge: {doubt}", file=sys.stderr)
    if options.influence:
        from engine.judging.influence_text import show

        return show(position, options)
    from engine.judge.text import as_dict, in_words

    judgment = make_judge(options).judge(position)
    if options.png:
        from engine.judging.picture import draw

        draw(position, judgment, options.png)
    if options.json:
        print(json.dumps(as_dict(position, judgment)))
    else:
        print(in_words(position, judgment))
    return 0


def read_record(source: str) -> GameRecord:
    """Read a record from a file or, named "-", from standard input. Raises SgfError."""
    from engine.sgf import parse, read

    if source != "-":
        return read(source)
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise SgfError(f"standard input: more than {MOST_BYTES >> 20} MiB is no game record")
    return parse(data, "standard input")


UNNAMED_RULES = "chinese"
"""What a record is counted by that names no rules, or none that are known."""


def position_of(record: GameRecord, options: argparse.Namespace) -> Position:
    """Return the position of a record that the options name. Raises SgfError, ConfigError."""
    from engine.board.rules import parse_rules

    last = len(record.moves)
    if options.move is not None and not 0 <= options.move <= last:
        raise ConfigError(f"--move {options.move}: {record.name} has moves 0 to {last}")
    before = None if options.move is None else options.move + 1
    position = record.position(before, rules=parse_rules(UNNAMED_RULES))
    if options.rules:
        position.set_rules(parse_rules(options.rules))
    if options.komi is not None:
        position.set_komi(options.komi)
    return position


def doubts(record: GameRecord, options: argparse.Namespace) -> list[str]:
    """Return what to tell of a record, in sentences: unknown rules, rules or komi that it does not name, more games."""
    found = []
    if record.rules is None and not options.rules:
        said = f"names rules that are not known ({record.rules_text[:40]!r})" if record.rules_text else "names no rules"
        found.append(f"{record.name} {said}: counted by {UNNAMED_RULES} rules; --rules chooses others")
    counted = record.position(None).handicap if record.handicap > 1 else record.handicap
    if counted != record.handicap:
        found.append(f"{record.name} says HA[{record.handicap}], but {counted} handicap stones are counted: "
                     "those set up, and Black's moves that open the game without a pass")  # fmt: skip
    if record.games > 1:
        found.append(f"{record.name} holds {record.games} games: only the first is judged")
    if record.komi is None and options.komi is None:
        found.append(f"{record.name} names no komi: counted with {record.position(1).komi:g}; --komi chooses another")
    return found


def make_judge(options: argparse.Namespace) -> Judge:
    """Return the judge over the net that the options name. Raises ConfigError, WeightsError."""
    from engine import factory

    settings = factory.make_settings(*layers(options))
    return factory.make_judge(settings, options.net)
