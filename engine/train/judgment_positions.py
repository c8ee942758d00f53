"""Labels of positions for a judgment net, in Black's view: by a judged game, a play-out or a teacher's opinion.

`keisei label --judgment` (judgment_label.py) chooses the positions and writes what comes from here.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.board.position import BLACK, WHITE, Position
from engine.errors import ConfigError
from engine.judge.asking import evaluate_rows
from engine.judge.judgment_net import OPPONENT, OWN, JudgmentNetOpinion

from .judged import JudgedGame, replay_judged
from .judgment_targets import classes_of, g_of
from .playout import Count, PlayOut, count_end
from .samples import Sample, replay
from .shards import game_number

if TYPE_CHECKING:
    from engine.evaluator import Evaluator

FINAL, CUT_BACK, ANYWHERE, PLAYED_OUT, THOUGHT = 0, 1, 2, 3, 4  # of a record's `kind`
LATE = 0.12  # share of a game's moves from which positions are cut back
ALONG = 4  # positions of one play-out, its start among them
SURE = 0.75  # probability that a net must give to what became of every stone of an easy game


@dataclasses.dataclass(frozen=True, slots=True)
class Labelled:
    """One position with its label, in Black's view; what the writer encodes."""

    position: Position
    values: dict[str, NDArray[Any]]  # by target: point_class [P] (UNKNOWN where it is), territory and ownership [P]
    to_play: int  # who is shown as the player to move
    ply: int
    game: int
    kind: int


def from_truth(judged: JudgedGame, positions: int, rng: random.Random, times: int = 1) -> Iterator[Labelled]:
    """Label positions of a judged game: the final one for both sides, then half late ones, half from anywhere.

    Args:
        times: so many such lots, each with other late positions.

    Raises:
        RecordError: the game cannot be replayed.
    """
    assert judged.owner is not None and judged.dead is not None
    final, last = replay_judged(judged), judged.n_moves
    end = final.board().ravel()
    bare = np.where(judged.dead, 0, end).astype(np.uint8)
    seki = count_end(end, judged.dead).seki if judged.seki else np.zeros(len(end), np.bool_)
    count = Count(bare, judged.owner, seki)  # the players' word, eyes in seki and all
    late = max(1, round(LATE * last))
    plan = []
    for _ in range(times):
        lot = [(last, FINAL, color) for color in (BLACK, WHITE)]
        for number in range(positions - 2):
            first = last - late if number % 2 == 0 else last // 3
            lot.append((rng.randint(first, last - 1), ANYWHERE if number % 2 else CUT_BACK, rng.choice((BLACK, WHITE))))
        plan += lot[:positions]
    for ply, kind, color in plan:
        position = final if ply == last else replay_judged(judged, ply)
        yield _labelled(position, count, color, ply, game_number(judged.game.moves), kind)


def is_hard(judged: JudgedGame, source: JudgmentNetOpinion) -> bool:
    """Tell whether a judgment net is not sure of what became of every stone at the end of a judged game.

    Raises:
        RecordError: the game cannot be replayed.
    """
    assert judged.dead is not None
    position = replay_judged(judged)
    if not source.supports_size(position.width, position.height):
        return False
    board = position.board().ravel()
    stones = np.flatnonzero(board)
    owner = np.where(judged.dead, BLACK + WHITE - board, board)[stones]
    sure = source.maps(position)[np.where(owner == BLACK, OWN, OPPONENT), stones]
    return bool(len(stones) and sure.min() < SURE)


def from_playout(player: PlayOut, sample: Sample, rng: random.Random) -> list[Labelled]:
    """Play a sample's position out and label it and some positions on the way; nothing if it came to no clear end.

    Raises:
        RecordError: the sample cannot be replayed.
    """
    position = replay(sample)
    last, count = player.play(position)
    if count is None:
        return []
    way = last.n_moves - position.n_moves - 2  # without the passes
    steps = [0, *sorted(rng.sample(range(1, way + 1), min(ALONG - 1, max(0, way))))]
    found = []
    for step in steps:
        here = last.copy()
        for _ in range(last.n_moves - position.n_moves - step):
            here.undo()
        color = here.to_play if rng.random() < 0.5 else rng.choice((BLACK, WHITE))
        found.append(_labelled(here, count, color, sample.ply + step, game_number(sample.game.moves), PLAYED_OUT))
    return found


def _labelled(position: Position, count: Count, to_play: int, ply: int, game: int, kind: int) -> Labelled:
    start = position.board().ravel()
    classes = classes_of(start, count.owner, count.seki)
    g = g_of(start, count.without_needless(start), count.owner, count.seki)
    return Labelled(position, {"point_class": classes, "territory": g}, to_play, ply, game, kind)


def from_opinion(teacher: Evaluator, sample: Sample, rng: random.Random) -> list[Labelled]:
    """Label a sample's position with the teacher's ownership, for the side to move or, one time in four, the other.

    Raises:
        RecordError: the sample cannot be replayed.
    """
    position = replay(sample)
    color = position.to_play if rng.random() < 0.75 else rng.choice((BLACK, WHITE))
    opinion = evaluate_rows(teacher, [(position, color, 0)], ownership=True).ownership
    if opinion is None:
        raise ConfigError(f"{teacher.name} says nothing of ownership")
    owner = opinion[0] if color == BLACK else -opinion[0]
    game = game_number(sample.game.moves)
    return [Labelled(position, {"ownership": owner}, color, sample.ply, game, THOUGHT)]
