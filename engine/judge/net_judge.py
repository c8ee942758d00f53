"""`Judge`: from a position to its judgment, with a source of opinions and a memory of the last ones.

A position has one judgment: passes at the end of the game do not change it, nor does whose turn it is, so that what is
said before, between and after the final passes is the same (only the button, where there is one, is counted with them).
"""

from __future__ import annotations

from engine.board.position import Position
from engine.evaluator import Evaluator
from engine.judge.asking import NetOpinion
from engine.judge.assemble import assemble, living_groups
from engine.judge.board import Board
from engine.judge.readings import Reading, read_all
from engine.judge.settings import JudgeSettings
from engine.judge.settle import verdicts
from engine.judge.types import Judgment, OpinionSource

_REMEMBERED = 16


def without_final_passes(position: Position) -> Position:
    """Return a copy with the passes at the end taken back."""
    copy = position.copy()
    moves = copy.moves
    while moves and moves[-1][1] == copy.area:
        moves.pop()
        copy.undo()
    return copy


def as_source(source: OpinionSource | Evaluator | None, settings: JudgeSettings) -> OpinionSource | None:
    """Return a source of opinions for an evaluator; anything else as it is."""
    if isinstance(source, Evaluator):
        return NetOpinion(source, symmetries=settings.symmetries)
    return source


class Judge:
    """Judges positions and remembers the last judgments.

    Args:
        source: whose opinion to judge by: an evaluator with ownership, any OpinionSource, or None (facts alone; every
            chain lives that is not unconditionally dead).
        settings: section `judge`.
    """

    def __init__(
        self, source: OpinionSource | Evaluator | None = None, settings: JudgeSettings | None = None
    ) -> None:
        self.settings = settings or JudgeSettings()
        self.source = as_source(source, self.settings)
        self._memory: dict[tuple[object, ...], Judgment] = {}

    def judge(self, position: Position) -> Judgment:
        """Return the judgment of a position. Raises what the source raises."""
        settled = without_final_passes(position)
        moves = tuple(settled.moves[-8:])
        passes = position.n_moves - settled.n_moves
        key = (settled.width, settled.height, settled.hash, settled.rules, settled.komi, settled.ko_action, moves,
               position.handicap, passes, position.prisoners(1), position.prisoners(2))  # fmt: skip
        if key not in self._memory:
            if len(self._memory) >= _REMEMBERED:
                self._memory.clear()
            self._memory[key] = self._judge(position, settled)
        return self._memory[key]

    def _judge(self, position: Position, settled: Position) -> Judgment:
        board = Board(settled)
        opinion = None if self.source is None else self.source.opinion(settled)
        found = verdicts(settled, board, opinion)
        readings: dict[int, Reading] = {}
        if self.settings.nodes > 0:
            groups = living_groups(settled, board, found, opinion, self.settings)
            readings = read_all(settled, board, found, groups, self.settings)
            found = verdicts(settled, board, opinion, {c: r.verdict for c, r in readings.items() if r.dead is not None})
        return assemble(position, board, found, opinion, self.settings, readings)


def judge(
    position: Position,
    source: OpinionSource | Evaluator | None = None,
    *,
    settings: JudgeSettings | None = None,
) -> Judgment:
    """Judge one position.

    Args:
        position: with its rules, komi and history; final passes do not matter.
        source: an evaluator with ownership (`engine.factory.load(None, NetSettings()).evaluator` is that of the net
            that comes with the engine), any OpinionSource, or None for facts alone.
        settings: section `judge`.
    """
    return Judge(source, settings).judge(position)
