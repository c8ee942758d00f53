"""The work of labelling: positions of one board size encoded, given to a teacher, and written as records.

This is what a process, or a worker of a Ray cluster, does with the samples that it is handed (label.py hands them out).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.sgf.letters import letters_to_actions

from .ends import final_owners, final_score
from .plane_store import store_planes
from .records import BLACK, RecordError
from .samples import Sample, replay
from .shards import Header, game_number
from .targets import pack_points, pack_policy

if TYPE_CHECKING:
    from engine.board.position import Position
    from engine.evaluator import Evaluation, Evaluator

log = logging.getLogger(__name__)


class Labeller:
    """Labels samples; holds the arrays that positions are encoded into."""

    def __init__(self, evaluator: Evaluator | None, header: Header, batch: int) -> None:
        """Make it.

        Args:
            evaluator: the teacher; None: only what the records say is written.
            header: of the shard folder.
            batch: positions on 19x19 that are evaluated at once; see batch_of.
        """
        self.evaluator, self.header, self.batch = evaluator, header, batch
        self._arrays: dict[int, tuple[NDArray[np.float32], ...]] = {}

    def label(self, samples: Sequence[Sample]) -> NDArray[Any]:
        """Return the records of samples of one board size, at most batch_of(size); unplayable games are left out."""
        from engine.board.planes import encode_into

        size = samples[0].game.size
        kept: list[tuple[Sample, Position]] = []
        arrays = self._allocate(size)
        for sample in samples:
            try:
                position = replay(sample)
            except RecordError as error:
                log.debug("left out: %s", error)
                continue
            row = len(kept)
            encode_into(position, self.header.encoding, arrays[0][row], arrays[1][row])
            if self.evaluator is not None and arrays[2] is not arrays[0]:
                encode_into(position, self.evaluator.encoding, arrays[2][row], arrays[3][row])
            kept.append((sample, position))
        return self._records(size, kept, [array[: len(kept)] for array in arrays])

    def _allocate(self, size: int) -> tuple[NDArray[np.float32], ...]:
        """Return inputs in the folder's encoding, spatial and globals, and in the teacher's (the same if it is)."""
        if size not in self._arrays:
            rows, header = batch_of(self.batch, size), self.header
            mine: tuple[NDArray[np.float32], ...]
            mine = (np.zeros((rows, header.spatial, size, size), np.float32), np.zeros((rows, header.global_), "f4"))
            taught = self.evaluator.allocate(rows, size, size) if self.evaluator is not None else mine
            same = self.evaluator is not None and self.evaluator.encoding == header.encoding
            self._arrays[size] = (*(taught if same else mine), *taught)
        return self._arrays[size]

    def _records(
        self, size: int, kept: Sequence[tuple[Sample, Position]], arrays: Sequence[NDArray[np.float32]]
    ) -> NDArray[Any]:
        records = self.header.empty(size, len(kept))
        if not kept:
            return records
        store_planes(records, self.header.encoding, arrays[0])
        records["globals"] = arrays[1]
        if self.evaluator is not None:
            opinion = self.evaluator.evaluate(arrays[2], arrays[3], ownership=True)
            write_opinion(records, opinion, np.stack([position.legal_mask() for _, position in kept]) > 0)
        for record, (sample, position) in zip(records, kept, strict=True):
            write_record(record, sample, position, self.header)
        return records


def batch_of(batch: int, size: int) -> int:
    """Return how many positions of a size are evaluated at once: on small boards more, up to four times as many."""
    return batch * min(4, max(1, round((19 / size) ** 2)))


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
