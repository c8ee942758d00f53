"""`keisei evaluate judge`: how often a judge is right about finished games, and about the same games half way.

Asks every judge about the same positions, keeps the answers in a folder so that a slow judge can be resumed, prints a
table by rules (or JSON), and lists the games where a judge, or every judge, says otherwise than the record.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.errors import EngineError
from engine.usage import Parser

from .answers import Answer, AnswerFile, compare
from .cases import END, Case, read_cases
from .judges import Judging, add_judge_options, make_judge
from .table import disagreements, tabulate, text_of

log = logging.getLogger(__name__)


def run_judge(judge: Judging, cases: Sequence[Case], answers: AnswerFile) -> None:
    """Ask a judge about every case that the file has no answer to."""
    waiting = [case for case in cases if case.key not in answers.found]
    start = said = time.monotonic()
    for number, case in enumerate(waiting, start=1):
        try:
            answer = judge.judge(case.position(), case.judged.rules)
        except EngineError as error:  # the record cannot be replayed
            answer = Answer(0.0, error=str(error))
        answers.add(compare(case, answer))
        if time.monotonic() - said > 30:
            said = time.monotonic()
            log.info("%s: %d of %d, %.2f s each", judge.name, number, len(waiting), (said - start) / number)


def answer_path(folder: Path | None, judge: str, data: Path) -> Path | None:
    """Return where a judge's answers are kept."""
    if folder is None:
        return None
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", f"{judge}--{data.name.split('.')[0]}").strip("-")
    return folder / f"{slug[:120]}.jsonl"


def report(by_judge: dict[str, dict[str, dict[str, Any]]], without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the tables and lists of a run as plain data.

    Args:
        by_judge: judge → key → comparison.
        without: keys that are not counted.
    """
    rows = []
    for name, found in by_judge.items():
        rows += tabulate((row for key, row in found.items() if key not in without), name)
    differ = {
        name: sorted(key for key, row in found.items() if row["share"] == END and row.get("dead_exact") is False)
        for name, found in by_judge.items()
    }
    return {"rows": rows, "differ": differ, "all_differ": disagreements(by_judge)}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei evaluate judge`. Errors go to the caller as EngineError."""
    parser = Parser(prog="keisei evaluate judge", description=__doc__)
    add_judge_options(parser)
    data = "table of judged games or of records (their held-out games), or a folder of SGF files"
    parser.add_argument("--data", type=Path, required=True, help=data)
    parser.add_argument("--games", type=int, default=0, help="at most so many games, a fixed choice; 0: all")
    parser.add_argument("--seed", type=int, default=1, help="of that choice")
    parser.add_argument("--at", default="100", metavar="P,P,…", help="percents of the moves: 50,75,90,100")
    parser.add_argument("--out", type=Path, help="folder that keeps the answers; the same command goes on with it")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    cases = read_cases(options.data, games=options.games, shares=_shares(parser, options.at), seed=options.seed)
    by_judge: dict[str, dict[str, dict[str, Any]]] = {}
    for text in options.judge:
        about = {"judge": text, "data": options.data.name, "set": options.set}
        answers = AnswerFile(answer_path(options.out, text, options.data), about)
        judge = make_judge(text, options)
        try:
            run_judge(judge, cases, answers)
        finally:
            judge.close()
        by_judge[text] = {case.key: answers.found[case.key] for case in cases}
    whole = report(by_judge)
    doubtful = frozenset(whole["all_differ"])
    if len(by_judge) > 1 and doubtful:
        whole["rows_without_all_differ"] = report(by_judge, doubtful)["rows"]
    if options.out is not None:
        (options.out / "report.json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(whole) if options.json else _text(whole, options.out))
    return 0


def _shares(parser: argparse.ArgumentParser, text: str) -> list[int]:
    words = text.split(",")
    if not all(word.strip().isdigit() and 1 <= int(word) <= END for word in words):
        parser.error(f"--at {text}: percents from 1 to 100, separated by commas")
    return [int(word) for word in words]


def _text(whole: dict[str, Any], out: Path | None) -> str:
    parts = [text_of(whole["rows"])]
    if "rows_without_all_differ" in whole:
        keys = whole["all_differ"]
        parts.append(f"\n{len(keys)} games that every judge counts otherwise than the record:\n  " + "\n  ".join(keys))
        parts.append("\nWithout these:\n" + text_of(whole["rows_without_all_differ"]))
    if out is not None:
        parts.append(f"\nEvery game where a judge says otherwise: {out / 'report.json'}")
    return "\n".join(parts)
