"""`keisei label`: what a teacher net and the records say of the positions of a sample plan, written as shards.

Without a teacher the records speak alone: the next moves, who won, and the score and owners where they are known.
The positions are encoded with the code that plays (engine.board.planes) and evaluated in batches of one board size. A
killed run is continued by the same command; `--part I/N` takes every N-th sample, so that N machines can share a plan.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import logging
import sys
import time
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from engine.errors import ConfigError
from engine.evaluator import ENCODING_SHAPES
from engine.sgf.letters import letters_to_actions

from .ends import final_owners, final_score
from .nets import add_net_options, open_net
from .plane_store import ShardError, store_planes
from .recipe import Recipe, data_home, read_recipe
from .records import BLACK, RecordError
from .samples import STREAM, Sample, SourcePlan, draw, replay
from .shards import Header, ShardWriter, game_number, make_header
from .targets import TEACHER_TARGETS, pack_points, pack_policy

if TYPE_CHECKING:
    from engine.board.position import Position
    from engine.evaluator import Evaluation, Evaluator

log = logging.getLogger(__name__)


class Labeller:
    """Encodes positions of one board size, has them evaluated where there is a teacher, and packs what is known."""

    def __init__(self, evaluator: Evaluator | None, header: Header, size: int, batch: int) -> None:
        self.evaluator, self.header, self.size, self.batch = evaluator, header, size, batch
        self._spatial = np.zeros((batch, header.spatial, size, size), np.float32)
        self._globals = np.zeros((batch, header.global_), np.float32)
        self._taught = (self._spatial, self._globals)
        self._same = evaluator is None or evaluator.encoding == header.encoding
        if evaluator is not None:
            self._taught = evaluator.allocate(batch, size, size)
            if self._same:
                self._spatial, self._globals = self._taught
        self._waiting: list[tuple[Sample, Position]] = []

    def add(self, sample: Sample, position: Position) -> NDArray[Any] | None:
        """Take one position in; return the records of a batch when it has filled."""
        from engine.board.planes import encode_into

        row = len(self._waiting)
        encode_into(position, self.header.encoding, self._spatial[row], self._globals[row])
        if self.evaluator is not None and not self._same:
            encode_into(position, self.evaluator.encoding, self._taught[0][row], self._taught[1][row])
        self._waiting.append((sample, position))
        return self.flush() if len(self._waiting) == self.batch else None

    def flush(self) -> NDArray[Any]:
        """Evaluate what waits and return its records [B]."""
        waiting, self._waiting = self._waiting, []
        records = self.header.empty(self.size, len(waiting))
        if not waiting:
            return records
        rows = len(waiting)
        store_planes(records, self.header.encoding, self._spatial[:rows])
        records["globals"] = self._globals[:rows]
        if self.evaluator is not None:
            opinion = self.evaluator.evaluate(self._taught[0][:rows], self._taught[1][:rows], ownership=True)
            write_opinion(records, opinion, np.stack([position.legal_mask() for _, position in waiting]) > 0)
        for record, (sample, position) in zip(records, waiting, strict=True):
            write_record(record, sample, position, self.header)
        return records


def write_opinion(records: NDArray[Any], opinion: Evaluation, legal: NDArray[np.bool_]) -> None:
    """Write what a teacher says of B positions into their records, as far as these have a place for it."""
    names = records.dtype.names or ()
    if "policy" in names:
        logits = np.where(legal, opinion.policy_logits, -np.inf)
        policy = np.exp(logits - logits.max(axis=1, keepdims=True))
        records["policy"] = pack_policy((policy / policy.sum(axis=1, keepdims=True)).astype(np.float32))
    if "no_result" in names:
        records["no_result"] = 0
    for name in ("value", "no_result", "lead", "score_mean", "score_stdev"):
        values = getattr(opinion, name)
        if values is not None and name in names:
            records[name] = values
    if opinion.ownership is not None and "ownership" in names:
        records["ownership"] = pack_points(opinion.ownership.reshape(len(records), -1))


def write_record(record: Any, sample: Sample, position: Position, header: Header) -> None:
    """Write into one record where its position comes from and what the game's record says of it."""
    game, names = sample.game, header.targets
    known: dict[str, Any] = {"played": sample.played, "result": 0}
    standard = game.komi is not None and abs(game.komi - sample.komi) <= 1.0  # else the result says nothing here
    if game.result and standard and not sample.astray:
        known["result"] = 1 if game.result == position.to_play else -1
    own_game = not (sample.astray or sample.passed)
    if own_game and "next" in names:
        end = 2 * (sample.ply + header.next_moves)
        actions = letters_to_actions(game.moves[2 * sample.ply : end], game.size)
        known["next"] = actions + [-1] * (header.next_moves - len(actions))
    if own_game and "final_score" in names:
        known["final_score"] = final_score(sample, position.to_play)
    if own_game and "final_ownership" in names and (owners := final_owners(game)) is not None:
        known["final_ownership"] = owners if position.to_play == BLACK else -owners
    for name in known.keys() & set(names):
        record[name] = known[name]
    record["ply"], record["game"] = sample.ply, game_number(game.moves)
    record["kind"] = (1 if sample.astray else 0) | (2 if sample.passed else 0)


def label(
    evaluator: Evaluator | None,
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
        evaluator: the teacher; None: only what the records say is written.
        header: of the shard folder.
        samples: the whole plan's samples, in order.
        out: the shard folder; made if absent, continued if not.
        batch: positions an evaluation on 19x19; smaller boards get more.
        part: "I/N".
        total: number of the samples, for the bar on stderr (only shown on a terminal).
        capacity: positions a shard; a killed run loses at most so many of a size.

    Raises:
        ShardError: the folder holds another plan's shards.
    """
    index, count = parse_part(part)
    labellers: dict[int, Labeller] = {}
    writers: dict[int, ShardWriter] = {}
    taken: dict[int, int] = {}
    written, skipped, start = 0, 0, time.monotonic()
    mine = None if total is None else len(range(index, total, count))
    with tqdm(total=mine, unit=" positions", disable=None, smoothing=0.1) as bar:
        for sample in islice(samples, index, None, count):
            size = sample.game.size
            if size not in writers:
                writers[size] = ShardWriter(out, header, size, part=part, capacity=capacity)
                labellers[size] = Labeller(evaluator, header, size, batch * min(4, max(1, round((19 / size) ** 2))))
            taken[size] = taken.get(size, 0) + 1
            bar.update()
            if taken[size] <= writers[size].taken:
                continue
            try:
                records = labellers[size].add(sample, replay(sample))
            except RecordError as error:
                skipped += 1
                log.debug("left out: %s", error)
                continue
            if records is not None:
                writers[size].append(records, taken[size])
                before, written = written, written + len(records)
                if written // 4096 != before // 4096:
                    rate = written / (time.monotonic() - start)
                    log.info("%d labelled, %d left out, %.0f a second", written, skipped, rate)
    for size, writer in writers.items():
        if taken[size] > writer.taken:
            rest = labellers[size].flush()
            writer.append(rest, taken[size])
            writer.flush(taken[size])
            written += len(rest)
    log.info("%d labelled, %d left out, %.0f s", written, skipped, time.monotonic() - start)
    return written


def parse_part(text: str) -> tuple[int, int]:
    """Read "I/N", 0 <= I < N.

    Raises:
        ConfigError: it is not of that form.
    """
    index, slash, count = text.partition("/")
    if not (slash and index.isdigit() and count.isdigit() and int(index) < int(count)):
        raise ConfigError(f"--part {text!r}: it has to be I/N with I from 0 to N - 1")
    return int(index), int(count)


def plan_header(recipe: Recipe, evaluator: Evaluator | None, teacher: str) -> Header:
    """Return the header of the folder that this plan and teacher (if any) fill.

    Raises:
        ConfigError: the encoding or a target does not exist.
    """
    kind, labels = recipe.kind(), recipe.labels
    encoding = labels.encoding or kind.encoding or (evaluator.encoding if evaluator else "katago-v7")
    if encoding not in ENCODING_SHAPES:
        raise ConfigError(f"encoding {encoding!r}: there are {', '.join(ENCODING_SHAPES)}")
    targets = labels.targets or (TEACHER_TARGETS if evaluator else kind.record_targets)
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei label`. Errors go to the caller as EngineError."""
    words = list(sys.argv[2:] if argv is None else argv)
    if "--judgment" in words:
        from .judgment_label import main as label_judgments

        return label_judgments(words)
    parser = argparse.ArgumentParser(prog="keisei label", description=__doc__)
    parser.add_argument("--judgment", action="store_true", help="label for the judgment net; has options of its own")
    parser.add_argument("--teacher", help="net whose opinion is the target (file or shipped); default: records alone")
    parser.add_argument("--recipe", required=True, help="recipe name or TOML file; its [samples] is the plan")
    parser.add_argument("--data", type=Path, default=Path(), help="folder that the recipe's paths are relative to")
    parser.add_argument("--games", action="append", default=[], help="table or SGF folder instead of the recipe's")
    parser.add_argument("--positions", type=int, default=100_000, help="of each of --games, at most")
    parser.add_argument("--out", type=Path, help="shard folder; default $KEISEI_DATA/<recipe>/shards")
    parser.add_argument("--batch", type=int, default=16, help="positions an evaluation on 19x19")
    parser.add_argument("--part", default="0/1", metavar="I/N", help="label only every N-th sample, from the I-th")
    parser.add_argument("--shard-size", type=int, default=4096, help="positions a file")
    add_net_options(parser)
    arguments = parser.parse_args(words)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    parse_part(arguments.part)
    recipe = read_recipe(arguments.recipe)
    if arguments.games:
        sources = tuple(SourcePlan(str(Path(path).resolve()), arguments.positions) for path in arguments.games)
        recipe = dataclasses.replace(recipe, samples=dataclasses.replace(recipe.samples, sources=sources))
    evaluator, teacher = None, ""
    if arguments.teacher:
        evaluator, teacher = open_net(arguments.teacher, arguments, max_batch=4 * arguments.batch)
    out = arguments.out or data_home() / recipe.name / "shards"
    header = plan_header(recipe, evaluator, teacher)
    told: dict[str, dict[str, int]] = {}
    samples = draw(recipe.samples, arguments.data, told)
    for source, counts in told.items():
        log.info("%s: %s", source, ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    out.mkdir(parents=True, exist_ok=True)
    (out / "sources.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    log.info("labelling into %s", out)
    label(
        evaluator,
        header,
        samples,
        out,
        batch=arguments.batch,
        part=arguments.part,
        total=len(samples),
        capacity=arguments.shard_size,
    )
    return 0
