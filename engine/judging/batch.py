"""`keisei judge FOLDER`: judges every record below a folder on all cores, into a file of JSON lines, resumable.

Each line is the object of `keisei judge --json` with "file" (relative to the folder) first, or "error" instead of a
judgment. A run that was cut short goes on where it stopped: records whose line is complete are not judged again.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from engine.errors import EngineError, SgfError
from engine.match import lock

if TYPE_CHECKING:
    from engine.judge.influence_judge import InfluenceJudge
    from engine.judge.net_judge import Judge

log = logging.getLogger(__name__)


class Worker:
    """Judges the records of one process.

    Args:
        folder: that the names of files start from.
        options: of the command line.
        alone: whether the net may take all threads that it likes; else one.
    """

    def __init__(self, folder: Path, options: argparse.Namespace, *, alone: bool) -> None:
        from engine.judge.influence_judge import InfluenceJudge
        from engine.judging.cli import make_judge

        self._folder, self._options = folder, options
        if not alone:
            options.set = [*options.set, "net.threads=1"]
        self._judge: Judge | InfluenceJudge = InfluenceJudge() if options.influence else make_judge(options)

    def line(self, name: str) -> dict[str, Any]:
        """Return what is written about one file."""
        from engine.judge.text import as_dict
        from engine.judging.cli import position_of
        from engine.sgf import read

        try:
            record = read(self._folder / name)
            position = position_of(record, self._options)
            judgment = self._judge.judge(position)
        except (SgfError, EngineError) as error:
            return {"file": name, "error": str(error)}
        return {"file": name, "record_result": record.result, **as_dict(position, judgment)}


_worker: Worker | None = None


def _begin(folder: Path, options: argparse.Namespace) -> None:
    global _worker
    _worker = Worker(folder, options, alone=False)


def _line(name: str) -> dict[str, Any]:
    assert _worker is not None
    return _worker.line(name)


def judge_folder(folder: Path, options: argparse.Namespace) -> int:
    """Judge every record below the folder. Return 1 if some could not be judged. Raises EngineError."""
    out = Path(options.out) if options.out else folder.with_name(folder.resolve().name + ".jsonl")
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.sgf") if path.is_file())
    if not names:
        raise EngineError(f"{folder}: no .sgf files")
    held = lock.take(out.with_name(out.name + ".lock"))
    if held is None:
        raise EngineError(f"{out}: another run is writing it")
    try:
        done = finished_lines(out)
        todo = [name for name in names if name not in done]
        failed = 0
        with out.open("a", encoding="utf-8") as file:
            for line in _progress(lines_of(folder, todo, options), len(names) - len(todo), len(names)):
                failed += "error" in line
                _write(file, line)
    finally:
        held.close()
    print(f"{len(todo)} judged, {failed} of them failed, {len(names) - len(todo)} were there: {out}", file=sys.stderr)
    return 1 if failed else 0


def lines_of(folder: Path, names: list[str], options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a line for each record, in the order in which they are ready."""
    jobs = min(options.jobs or os.cpu_count() or 1, len(names))
    if jobs <= 1:
        if names:
            worker = Worker(folder, options, alone=True)
            yield from map(worker.line, names)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs, _begin, (folder, options)) as pool:
        yield from pool.imap_unordered(_line, names, chunksize=1)


def finished_lines(out: Path) -> set[str]:
    """Return the files that have a judgment already; cut off a last line that was not finished."""
    if not out.is_file():
        return set()
    data = out.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        with out.open("r+b") as file:
            file.truncate(whole)
    done = set()
    for number, text in enumerate(data[:whole].splitlines(), start=1):
        try:
            line = json.loads(text)
            if "error" not in line:
                done.add(str(line["file"]))
        except (ValueError, KeyError, TypeError):
            raise EngineError(f"{out}, line {number}: no judgment; give another file with --out") from None
    return done


def _write(file: IO[str], line: dict[str, Any]) -> None:
    file.write(json.dumps(line, separators=(",", ":")) + "\n")
    file.flush()


def _progress(lines: Iterator[dict[str, Any]], done: int, total: int) -> Iterator[dict[str, Any]]:
    from tqdm import tqdm

    yield from tqdm(lines, initial=done, total=total, unit="game", disable=None, file=sys.stderr)
