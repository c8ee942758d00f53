"""`keisei label`: a teacher net's opinion of the positions of a sample plan, written as shards.

The positions are encoded with the code that plays (engine.board.planes) and evaluated in batches of one board size. A
killed run is continued by the same command; `--part I/N` takes every N-th sample, so that N machines can share a plan.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .nets import add_net_options, open_net
from .recipe import Recipe, data_home, read_recipe
from .records import RecordError
from .samples import Sample, draw, replay
from .shards import Header, ShardWriter, game_number, pack_planes, pack_policy, record_type

if TYPE_CHECKING:
    from engine.board.position import Position
    from engine.evaluator import Evaluator

log = logging.getLogger(__name__)


class Labeller:
    """Encodes positions of one board size, has them evaluated, and packs what the teacher says."""

    def __init__(self, evaluator: Evaluator, size: int, batch: int) -> None:
        self.evaluator, self.size, self.batch = evaluator, size, batch
        self._spatial, self._globals = evaluator.allocate(batch, size, size)
        self._type = record_type(size, self._spatial.shape[1], self._globals.shape[1])
        self._waiting: list[tuple[Sample, Position]] = []

    def add(self, sample: Sample, position: Position) -> NDArray[Any] | None:
        """Take one position in; return the records of a batch when it has filled."""
        from engine.board.planes import encode_into

        row = len(self._waiting)
        encode_into(position, self.evaluator.encoding, self._spatial[row], self._globals[row])
        self._waiting.append((sample, position))
        return self.flush() if len(self._waiting) == self.batch else None

    def flush(self) -> NDArray[Any]:
        """Evaluate what waits and return its records [B]."""
        waiting, self._waiting = self._waiting, []
        records = np.zeros(len(waiting), self._type)
        if not waiting:
            return records
        spatial, globals_ = self._spatial[: len(waiting)], self._globals[: len(waiting)]
        opinion = self.evaluator.evaluate(spatial, globals_, ownership=True)
        legal = np.stack([position.legal_mask() for _, position in waiting]) > 0
        logits = np.where(legal, opinion.policy_logits, -np.inf)
        policy = np.exp(logits - logits.max(axis=1, keepdims=True))
        records["planes"], records["globals"] = pack_planes(spatial), globals_
        records["policy"] = pack_policy((policy / policy.sum(axis=1, keepdims=True)).astype(np.float32))
        records["value"] = opinion.value
        for name in ("no_result", "lead", "score_mean", "score_stdev"):
            values = getattr(opinion, name)
            if values is not None:
                records[name] = values
        if opinion.ownership is not None:
            records["ownership"] = np.rint(opinion.ownership.reshape(len(waiting), -1) * 127)
        for record, (sample, position) in zip(records, waiting, strict=True):
            _describe(record, sample, position)
        return records


def _describe(record: Any, sample: Sample, position: Position) -> None:
    game = sample.game
    winner = 0 if sample.astray else game.result
    standard = game.komi is not None and abs(game.komi - sample.komi) <= 1.0  # else the result says nothing here
    record["result"] = 0 if not winner or not standard else 1 if winner == position.to_play else -1
    record["played"], record["ply"], record["game"] = sample.played, sample.ply, game_number(game.moves)
    record["kind"] = (1 if sample.astray else 0) | (2 if sample.passed else 0)


def label(evaluator: Evaluator, header: Header, samples: Iterator[Sample], out: Path, *, batch: int, part: str) -> int:
    """Label samples until they end; return how many records were written.

    Args:
        evaluator: the teacher.
        header: of the shard folder.
        samples: the whole plan's samples, in order.
        out: the shard folder; made if absent, continued if not.
        batch: positions an evaluation on 19x19; smaller boards get more.
        part: "I/N".

    Raises:
        ShardError: the folder holds another plan's shards.
    """
    index, count = (int(number) for number in part.split("/"))
    labellers: dict[int, Labeller] = {}
    writers: dict[int, ShardWriter] = {}
    taken: dict[int, int] = {}
    written, skipped, start = 0, 0, time.monotonic()
    for number, sample in enumerate(samples):
        size = sample.game.size
        if number % count != index:
            continue
        if size not in writers:
            writers[size] = ShardWriter(out, header, size, part=part)
            labellers[size] = Labeller(evaluator, size, batch * min(4, max(1, round((19 / size) ** 2))))
        taken[size] = taken.get(size, 0) + 1
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


def make_header(evaluator: Evaluator, recipe: Recipe, teacher: str) -> Header:
    """Return the header of the folder that this teacher and plan fill."""
    spatial, globals_ = evaluator.allocate(1, 9, 9)
    plan = dataclasses.asdict(recipe.samples)
    plan = {key: list(value) if isinstance(value, tuple) else value for key, value in plan.items()}
    return Header(evaluator.encoding, spatial.shape[1], globals_.shape[1], teacher, plan)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei label`. Errors go to the caller as EngineError."""
    parser = argparse.ArgumentParser(prog="keisei label", description=__doc__)
    parser.add_argument("--teacher", required=True, help="net file or shipped net whose opinion is the target")
    parser.add_argument("--recipe", required=True, help="recipe name or TOML file; its [samples] is the plan")
    parser.add_argument("--data", required=True, type=Path, help="folder of the game collections")
    parser.add_argument("--out", type=Path, help="shard folder; default $KEISEI_DATA/<recipe>/shards")
    parser.add_argument("--batch", type=int, default=16, help="positions an evaluation on 19x19")
    parser.add_argument("--part", default="0/1", metavar="I/N", help="label only every N-th sample, from the I-th")
    add_net_options(parser)
    arguments = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    recipe = read_recipe(arguments.recipe)
    evaluator, teacher = open_net(arguments.teacher, arguments, max_batch=4 * arguments.batch)
    out = arguments.out or data_home() / recipe.name / "shards"
    header = make_header(evaluator, recipe, teacher)
    log.info("labelling into %s", out)
    label(evaluator, header, draw(recipe.samples, arguments.data), out, batch=arguments.batch, part=arguments.part)
    return 0
