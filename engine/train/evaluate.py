"""`keisei evaluate policy`: how well a net's raw policy predicts the moves of held-out games, and who it says is ahead.

Takes one position in a fixed, seeded choice of every game, so the same command gives the same figure.
"""

from __future__ import annotations

import json
import logging
import random
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.usage import Parser

from .nets import add_net_options, at_least, open_net
from .records import Game, RecordError, letters_to_actions, read_any
from .samples import Sample, replay
from .selection import Selection

if TYPE_CHECKING:
    from engine.evaluator import Evaluator

log = logging.getLogger(__name__)


def held_out_samples(games: Iterable[Game], *, positions: int, seed: int, size: int) -> list[Sample]:
    """Choose up to `positions` positions, one a game, from the held-out games; komi and rules as recorded, or usual."""
    rng = random.Random(seed)
    chosen = [game for game in Selection(held_out=True).select(games) if game.size == size and game.n_moves > 20]
    rng.shuffle(chosen)
    samples = []
    for game in chosen[:positions]:
        komi = 7.5 if game.komi is None or game.komi == 0 else game.komi
        samples.append(Sample(game, rng.randrange(game.n_moves), 0, False, "chinese-ogs", komi, 0))
    return samples


def evaluate_policy(evaluator: Evaluator, samples: Sequence[Sample], *, batch: int = 32) -> dict[str, float]:
    """Return top-1 and top-5 shares, mean log loss in nats, and the share of results that the sign of value gives.

    The result is compared in decided games only; it says little early in a game. Of nets that predict the moves after
    the next one the shares of those come too (top1_move2, …); the record's passes are left out of them.
    """
    from engine.board.planes import encode_into

    size = samples[0].game.size
    spatial, globals_ = evaluator.allocate(batch, size, size)
    hits1 = hits5 = told = decided = 0
    loss = 0.0
    later: dict[int, list[int]] = {}
    kept: list[tuple[Sample, NDArray[np.uint8], int]] = []
    total = 0

    def flush() -> None:
        nonlocal hits1, hits5, told, decided, loss, total
        if not kept:
            return
        opinion = evaluator.evaluate(spatial[: len(kept)], globals_[: len(kept)])
        for row, (sample, legal, to_play) in enumerate(kept):
            logits = np.where(legal > 0, opinion.policy_logits[row], -np.inf)
            rank = int((logits > logits[sample.played]).sum())
            hits1, hits5, total = hits1 + (rank < 1), hits5 + (rank < 5), total + 1
            if opinion.later_logits is not None:
                for step, rank in later_ranks(opinion.later_logits[row], sample):
                    later.setdefault(step, []).append(rank)
            top = logits.max()
            loss -= float(logits[sample.played] - top - np.log(np.exp(logits - top).sum()))
            if sample.game.result:
                decided += 1
                told += (opinion.value[row] > 0) == (sample.game.result == to_play)
        kept.clear()

    for sample in samples:
        try:
            position = replay(sample)
        except RecordError as error:
            log.debug("left out: %s", error)
            continue
        if not position.is_legal(sample.played):
            continue
        encode_into(position, evaluator.encoding, spatial[len(kept)], globals_[len(kept)])
        kept.append((sample, position.legal_mask(), position.to_play))
        if len(kept) == batch:
            flush()
    flush()
    beyond = {
        f"top{n}_move{step}": round(float(np.mean(np.array(ranks) < n)), 4)
        for step, ranks in sorted(later.items())
        for n in (1, 5)
    }
    judged = {} if getattr(evaluator, "policy_only", False) else {"result": round(told / max(1, decided), 4)}
    return {
        "positions": total,
        "top1": round(hits1 / max(1, total), 4),
        "top5": round(hits5 / max(1, total), 4),
        "loss": round(loss / max(1, total), 4),
        **judged,
        **beyond,
    }


def later_ranks(logits: NDArray[np.float32], sample: Sample) -> list[tuple[int, int]]:
    """Return (2, rank), (3, rank), … of the moves that the record has after the next one; rank 0 is the likeliest.

    Args:
        logits: [k - 1, P], over all points.
    """
    game, area = sample.game, sample.game.size**2
    moves = letters_to_actions(game.moves[2 * sample.ply + 2 : 2 * (sample.ply + 1 + len(logits))], game.size)
    return [
        (step, int((row > row[move]).sum()))
        for step, (move, row) in enumerate(zip(moves, logits, strict=False), start=2)
        if move < area
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei evaluate`. Errors go to the caller as EngineError."""
    parser = Parser(prog="keisei evaluate", description=__doc__)
    parser.add_argument("what", choices=["policy"])
    parser.add_argument("--net", help="net file or shipped net; default: the shipped one")
    parser.add_argument(
        "--games", required=True, type=Path, help="table or folder of games; its held-out ones are used"
    )
    parser.add_argument("--positions", type=at_least(1), default=4000, help="at most, one a game")
    parser.add_argument("--size", type=at_least(2), default=19)
    parser.add_argument("--seed", type=int, default=1)
    add_net_options(parser)
    arguments = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    evaluator, _ = open_net(arguments.net, arguments, max_batch=32)
    samples = held_out_samples(
        read_any(arguments.games), positions=arguments.positions, seed=arguments.seed, size=arguments.size
    )
    if not samples:
        raise RecordError(f"{arguments.games}: no held-out games of size {arguments.size}")
    json.dump(evaluate_policy(evaluator, samples), sys.stdout)
    sys.stdout.write("\n")
    return 0
