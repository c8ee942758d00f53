"""`keisei label --judgment`: positions from every stage of games, labelled as the patent labels them.

A source that knows the truth (a table of judged games) gives its own end: the final position, positions shortly before
it, and others. From any other source a teacher plays the drawn position on with a search for every move, and some
positions along that way get the same end. Either way dead stones and stones that no border needs come off, and the
points get a class and the value g (judgment_targets.py). Games that a given judgment net is not sure of may be labelled
more often. With --ownership nothing is played out: the drawn position's label is what the teacher thinks of its points,
good for the middle of games, where no end is certain. Killed runs go on with the same command.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.board.position import BLACK
from engine.errors import ConfigError, EngineError
from engine.judge.judgment_net import HISTORY, view_of
from engine.usage import Parser

from .advice import shards_folder
from .folder import held
from .judged import read_judged
from .judgment_positions import Labelled, from_opinion, from_playout, from_truth, is_hard
from .judgment_targets import SWAPPED, UNKNOWN
from .label import parse_part
from .nets import add_net_options, at_least, open_net
from .plane_store import store_planes
from .playout import PlayOut
from .recipe import Recipe, read_recipe
from .records import RecordError
from .samples import Sample, draw
from .shards import Header, ShardWriter, check_folder, game_number, make_header
from .targets import pack_points

if TYPE_CHECKING:
    from engine.evaluator import Evaluator

log = logging.getLogger(__name__)

TARGETS = ("point_class", "territory")
OWNERSHIP_TARGETS = ("ownership",)
SHARD = 512  # records of a shard: what a killed run loses at most


def records_of(labelled: Sequence[Labelled], header: Header, size: int) -> NDArray[Any]:
    """Encode positions as a judgment net sees them and return their records [B]."""
    from engine.board.planes import encode_into

    records = header.empty(size, len(labelled))
    spatial = np.zeros((len(labelled), header.spatial, size, size), np.float32)
    globals_ = np.zeros((len(labelled), header.global_), np.float32)
    for row, (record, item) in enumerate(zip(records, labelled, strict=True)):
        encode_into(view_of(item.position), header.encoding, spatial[row], globals_[row],
                    to_play=item.to_play, max_history=HISTORY)  # fmt: skip
        black = item.to_play == BLACK
        for name, values in item.values.items():
            if name == "point_class":
                known = values != UNKNOWN
                record[name][known] = (values if black else SWAPPED[np.where(known, values, 0)])[known]
            else:
                record[name] = pack_points(values if black else -values)
        record["ply"], record["game"], record["kind"] = item.ply, item.game, item.kind
    store_planes(records, header.encoding, spatial)
    records["globals"] = globals_
    return records


Work = tuple[int, int, Any]  # board size, seed, JudgedGame with its number of positions or Sample


def plan_work(recipe: Recipe, root: Path, spare: int = 0, truth: bool = True) -> Iterator[Work]:
    """Yield what a recipe asks for, in one order: judged games first, then positions for the teacher.

    Args:
        spare: games whose number this divides are left for validation; 0: none are.
        truth: False: judged games are games as any others.

    Raises:
        RecordError: a source is missing.
    """
    rng = random.Random(f"{recipe.samples.seed}/judgment")
    rest = []
    for source in recipe.samples.sources:
        if not truth:
            rest.append(source)
            continue
        try:
            games = [
                judged
                for judged in read_judged(root / source.path, only_held_out=False)
                if not spare or game_number(judged.game.moves) % spare
            ]
        except RecordError:
            if not (root / source.path).exists():
                raise
            rest.append(source)
            continue
        rng.shuffle(games)
        for judged in games[: -(-source.positions // source.per_game)]:
            yield judged.size, rng.getrandbits(32), (judged, source.per_game)
    if rest:
        plan = dataclasses.replace(recipe.samples, sources=tuple(rest))
        for sample in draw(plan, root):
            if not spare or game_number(sample.game.moves) % spare:
                yield sample.game.size, sample.seed, sample


def label(recipe: Recipe, root: Path, out: Path, header: Header, evaluator: Evaluator | None, options: Any) -> int:
    """Label everything that a recipe asks for; return how many records were written.

    Args:
        root: folder that the sources are relative to.
        out: shard folder; continued if it is there.
        evaluator: the teacher of the play-outs; None leaves positions out that need one.
        options: `visits`, `ownership`, `spare`, `hard` (a JudgmentNetOpinion or None), `hard_times`, `part` as "I/N".

    Raises:
        ShardError: the folder holds another plan's shards.
        ConfigError: the teacher says nothing of what is asked of it.
    """
    index, parts = (int(number) for number in options.part.split("/"))
    writers: dict[int, ShardWriter] = {}
    taken: dict[int, int] = {}
    player = None
    if evaluator is not None and not options.ownership:
        player = PlayOut(evaluator, visits=options.visits, seed=recipe.samples.seed)
    written = skipped = 0
    start = said = time.monotonic()
    for number, (size, seed, work) in enumerate(plan_work(recipe, root, options.spare, truth=not options.ownership)):
        if number % parts != index or (isinstance(work, Sample) and evaluator is None):
            continue
        if size not in writers:
            writers[size] = ShardWriter(out, header, size, capacity=SHARD, part=options.part)
        taken[size] = taken.get(size, 0) + 1
        if taken[size] <= writers[size].taken:
            continue
        rng = random.Random(seed)
        try:
            if isinstance(work, Sample) and evaluator is not None:
                found = from_opinion(evaluator, work, rng) if player is None else from_playout(player, work, rng)
            else:
                judged, positions = work
                hard = options.hard is not None and is_hard(judged, options.hard)
                found = list(from_truth(judged, positions, rng, options.hard_times if hard else 1))
        except ConfigError:
            raise
        except EngineError as error:
            log.debug("left out: %s", error)
            found = []
        skipped += not found
        if found:
            writers[size].append(records_of(found, header, size), taken[size])
            written += len(found)
        if time.monotonic() - said > 60:
            said = time.monotonic()
            log.info("%d labelled, %d left out, %.1f a second", written, skipped, written / (said - start))
    for size, writer in writers.items():
        writer.flush(taken[size])
    log.info("%d labelled, %d left out, %.0f s", written, skipped, time.monotonic() - start)
    return written


def main(argv: Sequence[str]) -> int:
    """Run `keisei label --judgment`. Errors go to the caller as EngineError."""
    parser = Parser(prog="keisei label --judgment", description=__doc__)
    parser.add_argument("--judgment", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--recipe", required=True, help="recipe name or TOML file; its [samples] is the plan")
    parser.add_argument("--data", required=True, type=Path, help="folder of the game collections")
    parser.add_argument("--teacher", help="net that plays positions out; without one judged games alone are labelled")
    parser.add_argument("--visits", type=at_least(1), default=16, help="of each move of a play-out")
    parser.add_argument("--ownership", action="store_true", help="no play-outs: the teacher's ownership is the label")
    parser.add_argument("--hard", metavar="NET", help="judgment net; what it is not sure of is labelled more often")
    parser.add_argument("--hard-times", type=at_least(1), default=8, help="how often")
    parser.add_argument("--spare", type=at_least(0), default=0, metavar="N",
                        help="leave out games whose number N divides (for thresholds --modulus N)")  # fmt: skip
    parser.add_argument("--out", type=Path, help="shard folder; default $KEISEI_DATA/<recipe>/judgment-shards")
    parser.add_argument("--part", default="0/1", metavar="I/N", help="only every N-th game or position, from the I-th")
    add_net_options(parser)
    options = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    parse_part(options.part)
    recipe = read_recipe(options.recipe)
    if options.ownership and not options.teacher:
        raise ConfigError("--ownership is a teacher's: name one by --teacher NET")
    evaluator, teacher = None, ""
    if options.teacher:
        evaluator, teacher = open_net(options.teacher, options, max_batch=16)
        teacher += " by its ownership" if options.ownership else f" at {options.visits} visits"
    encoding = recipe.labels.encoding or recipe.kind().encoding or "katago-v7"
    plan = dataclasses.asdict(recipe.samples)
    if options.spare:
        plan["spare"] = options.spare
    if options.hard:
        from engine import factory
        from engine.nn.settings import NetSettings

        settings = NetSettings(device=options.device, precision=options.precision, threads=options.threads)
        plan["hard"] = f"{Path(options.hard).name}, {options.hard_times} times"
        options.hard = factory.load_judgment(options.hard, settings)
    targets = OWNERSHIP_TARGETS if options.ownership else TARGETS
    header = make_header(encoding, targets, teacher=teacher, plan=plan)
    out = options.out or shards_folder(recipe)
    with held(out, f"lock-{options.part.replace('/', '-of-')}"):
        check_folder(out, header)
        log.info("labelling into %s", out)
        label(recipe, options.data, out, header, evaluator, options)
    return 0
