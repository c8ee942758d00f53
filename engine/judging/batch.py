"""`keisei judge FOLDER`: judges every record below a folder on all cores, into a file of JSON lines, resumable.

Each line is the object of `keisei judge --json` with "file" (relative to the folder) and "options" (what was asked)
first, or "error" instead of a judgment. A run that was cut short goes on where it stopped: records whose judgment is
complete are not judged again, those that failed are tried again and keep one line each.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from engine.errors import EngineError
from engine.files import reason, sgf_files
from engine.match import lock

if TYPE_CHECKING:
    from engine.judge.influence_judge import InfluenceJudge
    from engine.judge.net_judge import Judge

log = logging.getLogger(__name__)

SHOWN = 5  # names of records that failed, on the screen


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
        from engine.judging.cli import doubts, position_of
        from engine.sgf import read

        head = {"file": name, "options": asked(self._options)}
        try:
            record = read(self._folder / name)
            position = position_of(record, self._options)
            judgment = self._judge.judge(position)
        except EngineError as error:
            return {**head, "error": str(error)}
        except Exception as error:  # one record must not end a run over thousands
            log.exception("%s", name)
            return {**head, "error": f"internal error: {error!r}"}
        said = {"warnings": found} if (found := doubts(record, self._options)) else {}
        return {**head, "record_result": record.result, **said, **as_dict(position, judgment)}


def asked(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that the judgments of a folder hang on; those of one file must agree."""
    names = ("rules", "komi", "move", "influence", "net", "config")
    given = {name: getattr(options, name, None) for name in names}
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None and value is not False}
    settings = sorted(text for text in options.set if not text.startswith("net.threads"))
    return {**chosen, "set": settings} if settings else chosen


_worker: Worker | EngineError | None = None


def _begin(folder: Path, options: argparse.Namespace) -> None:
    """Start a process of the pool. An error waits for the first record: raised here it would say nothing."""
    global _worker
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        _worker = Worker(folder, options, alone=False)
    except EngineError as error:
        _worker = error


def _end_with_parent() -> None:
    """End this process when the one that started it ends, killed or not: nobody would take its answers."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _line(name: str) -> dict[str, Any]:
    if isinstance(_worker, EngineError):
        raise _worker
    assert _worker is not None
    return _worker.line(name)


def judge_folder(folder: Path, options: argparse.Namespace) -> int:
    """Judge every record below the folder. Return 1 if some could not be judged. Raises EngineError."""
    whole = folder.resolve()
    if not options.out and not whole.name:
        raise EngineError(f"{folder}: nothing can be written beside this folder; give a file with --out")
    out = Path(options.out) if options.out else whole.with_name(whole.name + ".jsonl")
    names = sorted(path.relative_to(folder).as_posix() for path in sgf_files(folder))
    if not names:
        raise EngineError(f"{folder}: no .sgf files")
    failed: list[str] = []
    with only_run(out):
        done = finished_lines(out, asked(options))
        todo = [name for name in names if name not in done]
        with out.open("a", encoding="utf-8") as file:
            for line in _progress(lines_of(folder, todo, options), len(names) - len(todo), len(names)):
                if "error" in line:
                    failed.append(line["file"])
                _write(file, line)
    print(f"{out.resolve()}: a line of JSON for each of {len(names)} records")
    print(f"{len(todo) - len(failed)} judged, {len(names) - len(todo)} judged before, {len(failed)} failed")
    for name in sorted(failed)[:SHOWN]:
        print(f"failed: {name}")
    if len(failed) > SHOWN:
        print(f"failed: {len(failed) - SHOWN} more, see \"error\" in the file")
    return 1 if failed else 0


@contextmanager
def only_run(out: Path) -> Iterator[None]:
    """Keep other runs from a file while this one writes it. Raises EngineError if another does."""
    path = out.with_name(out.name + ".lock")
    while True:
        try:
            held = lock.take(path)
        except OSError as error:
            raise EngineError(f"{out}: {reason(error)}") from None
        if held is None:
            raise EngineError(f"{out}: another run is writing it")
        if _is_still(held, path):
            break
        held.close()  # the run that held it has just removed it
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes no open file
            path.unlink()
        held.close()
        if sys.platform == "win32":
            with suppress(OSError):
                path.unlink()


def _is_still(held: IO[bytes], path: Path) -> bool:
    """Tell whether a locked file is the one of that name."""
    try:
        return os.path.samestat(os.fstat(held.fileno()), path.stat())
    except OSError:
        return False


def lines_of(folder: Path, names: list[str], options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a line for each record, in the order in which they are ready."""
    jobs = min(options.jobs or os.cpu_count() or 1, len(names))
    if jobs <= 1:
        if names:
            worker = Worker(folder, options, alone=True)
            yield from map(worker.line, names)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _begin, (folder, options)) as pool:
        waiting = [pool.submit(_line, name) for name in names]
        try:
            for ready in as_completed(waiting):
                yield ready.result()
        except BrokenProcessPool:
            raise EngineError("a process of this run was ended from outside; the same command goes on") from None
        finally:
            pool.shutdown(cancel_futures=True)


def finished_lines(out: Path, options: dict[str, Any]) -> set[str]:
    """Return the files that have a judgment already; take out of the file what is none: failures, a line cut short.

    Raises EngineError if the file holds something else, or judgments that were made with other options.
    """
    if not out.is_file():
        return set()
    done: set[str] = set()
    kept = 0
    with out.open("rb") as file:
        for number, text in enumerate(file, start=1):
            if not text.endswith(b"\n"):
                break  # cut short
            try:
                line = json.loads(text)
                name, error = str(line["file"]), "error" in line
            except (ValueError, KeyError, TypeError):
                raise EngineError(f"{out}, line {number}: no judgment; give another file with --out") from None
            if line.get("options", options) != options:
                raise EngineError(f"{out}, line {number}: judged with other options; give another file with --out")
            if not error and name not in done:
                done.add(name)
                kept += len(text)
    if kept < out.stat().st_size:
        _rewrite(out, done)
    return done


def _rewrite(out: Path, done: set[str]) -> None:
    """Keep the first judgment of each of these files and nothing else."""
    new = out.with_name(out.name + ".new")
    left = set(done)
    with out.open("rb") as file, new.open("wb") as kept:
        for text in file:
            line = json.loads(text) if text.endswith(b"\n") else {"error": "cut short"}
            if "error" not in line and line["file"] in left:
                left.discard(line["file"])
                kept.write(text)
    os.replace(new, out)


def _write(file: IO[str], line: dict[str, Any]) -> None:
    file.write(json.dumps(line, separators=(",", ":")) + "\n")
    file.flush()


def _progress(lines: Iterator[dict[str, Any]], done: int, total: int) -> Iterator[dict[str, Any]]:
    from tqdm import tqdm

    yield from tqdm(lines, initial=done, total=total, unit="game", disable=None, file=sys.stderr)
