"""`keisei label`: what a teacher net and the records say of the positions of a sample plan, written as shards.

Without a teacher the records speak alone: the next moves, who won, and the score and owners where they are known.
The positions are encoded with the code that plays (engine.board.planes) and evaluated in batches of one board size. A
killed run is continued by the same command; `--part I/N` takes every N-th sample, so that N machines can share a plan,
and `--ray` has the workers of a Ray cluster do the work.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray
from tqdm import tqdm

from engine.errors import ConfigError
from engine.evaluator import ENCODING_SHAPES
from engine.usage import Parser

from .advice import check_sources, shards_folder, shortfall, without_absent_exclusions
from .folder import held, write_whole
from .labeller import Labeller, batch_of
from .nets import add_net_options, add_ray_options, at_least, describe_net, open_net
from .plane_store import ShardError
from .recipe import Recipe, read_recipe
from .records import RecordError
from .samples import STREAM, Sample, SamplePlan, SourcePlan, draw
from .shards import Header, ShardWriter, check_folder, make_header
from .stopping import Stopping
from .targets import TEACHER_TARGETS

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class Chunk:
    """Samples of one board size that are evaluated together."""

    samples: list[Sample]
    taken: int  # samples of this size that are used up with them


class Workers(Protocol):
    """Whoever labels chunks: this process, or a cluster (ray_workers.py)."""

    def map(self, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, NDArray[Any]]]:
        """Yield the records of every chunk, in order."""
        ...


class OneProcess:
    """Labels in this process."""

    def __init__(self, labeller: Labeller) -> None:
        self.labeller = labeller

    def map(self, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, NDArray[Any]]]:
        """See Workers."""
        for chunk in chunks:
            yield chunk, self.labeller.label(chunk.samples)


def in_chunks(samples: Iterable[Sample], batch: int, done: Callable[[int], int]) -> Iterator[Chunk]:
    """Yield the samples in chunks of one size, in order, without the first `done(size)` of each size."""
    waiting: dict[int, list[Sample]] = {}
    taken: dict[int, int] = {}
    for sample in samples:
        size = sample.game.size
        taken[size] = taken.get(size, 0) + 1
        if taken[size] <= done(size):
            continue
        mine = waiting.setdefault(size, [])
        mine.append(sample)
        if len(mine) == batch_of(batch, size):
            yield Chunk(waiting.pop(size), taken[size])
    for size, rest in waiting.items():
        yield Chunk(rest, taken[size])


def label(
    workers: Workers,
    header: Header,
    samples: Iterable[Sample],
    out: Path,
    *,
    batch: int,
    part: str = "0/1",
    total: int | None = None,
    capacity: int = 4096,
) -> int:
    """Label samples until they end; return how many records were written.

    Args:
        workers: who labels.
        header: of the shard folder.
        samples: the whole plan's samples, in order.
        out: the shard folder; made if absent, continued if not.
        batch: positions an evaluation on 19x19; smaller boards get more.
        part: "I/N".
        total: number of the samples, for the bar on stderr (only shown on a terminal).
        capacity: positions a shard; a killed run loses at most so many of a size.

    Raises:
        ShardError: the folder holds another plan's shards.
        KeyboardInterrupt: a signal asked to end; what was labelled is written.
    """
    index, count = parse_part(part)
    writers: dict[int, ShardWriter] = {}
    used: dict[int, int] = {}

    def writer_of(size: int) -> ShardWriter:
        if size not in writers:
            writers[size] = ShardWriter(out, header, size, part=part, capacity=capacity)
        return writers[size]

    written, skipped, start, told = 0, 0, time.monotonic(), 0
    mine = None if total is None else len(range(index, total, count))
    chunks = in_chunks(islice(samples, index, None, count), batch, lambda size: writer_of(size).taken)
    with Stopping() as stop, tqdm(total=mine, unit=" positions", disable=None, smoothing=0.1) as bar:
        for chunk, records in workers.map(chunks):
            size = chunk.samples[0].game.size
            writer_of(size).append(records, chunk.taken)
            bar.update(chunk.taken - used.get(size, 0))
            used[size] = chunk.taken
            written, skipped = written + len(records), skipped + len(chunk.samples) - len(records)
            if written - told >= LOG_EVERY:
                told = written
                rate = written / (time.monotonic() - start)
                log.info("%d labelled, %d left out, %.0f a second", written, skipped, rate)
            if stop.number:
                break
    for size, writer in writers.items():
        writer.flush(used.get(size, 0))
    log.info("%d labelled, %.0f s", written, time.monotonic() - start)
    if skipped:
        log.warning("%d positions left out: a move of their game is forbidden (occupied, ko, suicide)", skipped)
    if stop.number:
        raise KeyboardInterrupt(stop.number)
    return written


LOG_EVERY = 4096  # positions


def parse_part(text: str) -> tuple[int, int]:
    """Read "I/N", 0 <= I < N.

    Raises:
        ConfigError: it is not of that form.
    """
    index, slash, count = text.partition("/")
    if not (slash and index.isdigit() and count.isdigit() and int(index) < int(count)):
        raise ConfigError(f"--part {text!r}: it has to be I/N with I from 0 to N - 1")
    return int(index), int(count)


def plan_header(recipe: Recipe, taught_in: str, teacher: str) -> Header:
    """Return the header of the folder that this plan and teacher fill.

    Args:
        recipe: with the plan.
        taught_in: the teacher's encoding, "" without a teacher.
        teacher: its name and hash.

    Raises:
        ConfigError: the encoding or a target does not exist.
    """
    kind, labels = recipe.kind(), recipe.labels
    encoding = labels.encoding or kind.encoding or taught_in or "katago-v7"
    if encoding not in ENCODING_SHAPES:
        raise ConfigError(f"encoding {encoding!r}: there are {', '.join(ENCODING_SHAPES)}")
    targets = labels.targets or (TEACHER_TARGETS if taught_in else kind.record_targets)
    header = make_header(
        encoding,
        targets,
        next_moves=labels.next_moves or kind.next_moves,
        teacher=teacher,
        plan=dataclasses.asdict(recipe.samples) | {"stream": STREAM},
    )
    try:
        header.record_type(9)
    except ShardError as error:
        raise ConfigError(f"[labels]: {error}") from None
    return header


def make_workers(arguments: argparse.Namespace, header: Header) -> Workers:
    """Return who labels: this process, or a Ray cluster."""
    if arguments.ray:
        from .ray_workers import RayLabellers

        return RayLabellers(arguments.ray, arguments.ray_workers, arguments, header)
    evaluator = None
    if arguments.teacher:
        evaluator, _ = open_net(arguments.teacher, arguments, max_batch=4 * arguments.batch)
    return OneProcess(Labeller(evaluator, header, arguments.batch))


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei label`. Errors go to the caller as EngineError."""
    words = list(sys.argv[2:] if argv is None else argv)
    if "--judgment" in words:
        from .judgment_label import main as label_judgments

        return label_judgments(words)
    if "--counted" in words:
        from .counted import main as label_counted

        return label_counted(words)
    parser = Parser(prog="keisei label", description=__doc__)
    parser.add_argument("--judgment", action="store_true", help="label for the judgment net; has options of its own")
    parser.add_argument("--counted", action="store_true", help="find the dead stones of counted games; likewise")
    parser.add_argument("--teacher", help="net whose opinion is the target (file or shipped); default: records alone")
    parser.add_argument("--recipe", required=True, help="recipe name or TOML file; its [samples] is the plan")
    parser.add_argument("--data", type=Path, help="folder that the recipe's paths are relative to; default: this one")
    parser.add_argument("--games", action="append", default=[], help="table or SGF folder instead of the recipe's")
    parser.add_argument("--positions", type=at_least(1), default=100_000, help="of each of --games, at most")
    parser.add_argument("--per-game", type=at_least(1), default=4, help="positions of a game of --games, at most")
    parser.add_argument("--out", type=Path, help="shard folder; default $KEISEI_DATA/<recipe>/shards")
    parser.add_argument("--batch", type=at_least(1), default=16, help="positions an evaluation on 19x19")
    parser.add_argument("--part", default="0/1", metavar="I/N", help="label only every N-th sample, from the I-th")
    parser.add_argument("--shard-size", type=at_least(1), default=4096, help="positions a file")
    add_net_options(parser)
    add_ray_options(parser)
    arguments = parser.parse_args(words)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    parse_part(arguments.part)
    recipe, root = read_recipe(arguments.recipe), arguments.data or Path()
    if arguments.games:
        sources = tuple(SourcePlan(path, arguments.positions, arguments.per_game) for path in arguments.games)
        plan = dataclasses.replace(recipe.samples, sources=sources)
        plan = plan if arguments.data else without_absent_exclusions(plan, root)
        recipe = dataclasses.replace(recipe, samples=plan)
    check_sources(recipe.samples, root, own=bool(arguments.games))
    taught_in, teacher, takes = "", "", None
    if arguments.teacher:
        taught_in, teacher, takes = describe_net(arguments.teacher)
    out = arguments.out or shards_folder(recipe)
    header = plan_header(recipe, taught_in, teacher)
    with held(out, f"lock-{arguments.part.replace('/', '-of-')}"):
        check_folder(out, header)
        samples = draw_and_tell(recipe.samples, root, Path() if arguments.games else root, out)
        samples = those_that_fit(samples, takes)
        label(
            make_workers(arguments, header),
            header,
            samples,
            out,
            batch=arguments.batch,
            part=arguments.part,
            total=len(samples),
            capacity=arguments.shard_size,
        )
    return 0


def those_that_fit(samples: list[Sample], takes: Callable[[int], bool] | None) -> list[Sample]:
    """Return the samples whose board size the teacher takes (None: no teacher), with a warning about the others.

    Raises:
        RecordError: it takes none.
    """
    refused = {size for size in {sample.game.size for sample in samples} if takes is not None and not takes(size)}
    kept = [sample for sample in samples if sample.game.size not in refused]
    if refused:
        sizes = ", ".join(f"{size}x{size}" for size in sorted(refused))
        log.warning("%d positions left out: the teacher cannot play on %s", len(samples) - len(kept), sizes)
    if not kept:
        raise RecordError("no position to label: the teacher plays on none of these boards")
    return kept


def draw_and_tell(plan: SamplePlan, root: Path, games: Path, out: Path) -> list[Sample]:
    """Return the samples of a plan; say, and write into sources.json, what became of every source's games.

    Raises:
        RecordError: there is nothing to label.
    """
    told: dict[str, dict[str, int]] = {}
    samples = draw(plan, root, told, games=games)
    for source in plan.sources:
        counts = told[source.path]
        log.info("%s: %s", source.path, ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
        if text := shortfall(source, counts):
            log.warning("%s", text)
    if not samples:
        raise RecordError("no position to label: every game was left out (see above)")
    write_whole(out / "sources.json", json.dumps(told, indent=1) + "\n")
    log.info("labelling into %s", out)
    return samples
