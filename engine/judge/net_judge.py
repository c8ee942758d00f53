"""`Judge`: from a position to its judgment, with a source of opinions and a memory of the last ones.

A position has one judgment: passes at the end of the game do not change it, nor does whose turn it is, so that what is
said before, between and after the final passes is the same (only the button, where there is one, is counted with them).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.board.position import Position
from engine.evaluator import Evaluator
from engine.judge.asking import NetOpinion
from engine.judge.assemble import assemble, living_groups
from engine.judge.board import Board, without_final_passes
from engine.judge.playing_on import PlayingOn
from engine.judge.readings import Reading, read_all
from engine.judge.searching import SearchOpinion
from engine.judge.settings import JudgeSettings
from engine.judge.settle import verdicts
from engine.judge.standoffs import in_standoffs
from engine.judge.types import Judgment, Opinion, OpinionSource

_REMEMBERED = 16
KEPT = 0.75  # how much what was said of the points counts before a search, which is the rest
FITTED = ("dead", "territory", "small", "unsettled", "temperature")
"""Settings that are fitted to a judgment net and come with it."""


def as_source(source: OpinionSource | Evaluator | None, settings: JudgeSettings) -> OpinionSource | None:
    """Return a source of opinions for an evaluator; anything else as it is."""
    if isinstance(source, Evaluator):
        return NetOpinion(source, symmetries=settings.symmetries)
    return source


def fitted(settings: JudgeSettings, thresholds: Mapping[str, float]) -> JudgeSettings:
    """Return settings with the thresholds that were fitted for a net, where the settings have their defaults."""
    plain = JudgeSettings()
    known: dict[str, Any] = {
        name: type(getattr(plain, name))(value)
        for name, value in thresholds.items()
        if name in FITTED and getattr(settings, name) == getattr(plain, name)
    }
    return replace(settings, **known)


class Judge:
    """Judges positions and remembers the last judgments.

    Args:
        source: whose opinion to judge by: an evaluator with ownership, any OpinionSource, or None (facts alone; every
            chain lives that is not unconditionally dead).
        settings: section `judge`; with `seconds` or `visits` lines of likely moves and a search follow where something
            is open.
        evaluator: the net to play on and search with; the source itself, if it is one.
    """

    def __init__(
        self,
        source: OpinionSource | Evaluator | None = None,
        settings: JudgeSettings | None = None,
        *,
        evaluator: Evaluator | None = None,
    ) -> None:
        self.settings = fitted(settings or JudgeSettings(), getattr(source, "thresholds", {}))
        self.source = as_source(source, self.settings)
        self._refining: tuple[PlayingOn, SearchOpinion] | None = None
        evaluator = evaluator or (source if isinstance(source, Evaluator) else None)
        limited = self.settings.seconds > 0.0 or self.settings.visits is not None
        if evaluator is not None and self.source is not None and limited:
            half, visits = self.settings.seconds / 2.0 or None, self.settings.visits
            self._refining = (
                PlayingOn(evaluator, self.source, seconds=half, visits=visits),
                SearchOpinion(evaluator, seconds=half, visits=visits, kept=KEPT),
            )
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
        judgment = self._judge_by(position, settled, board, opinion)
        if judgment.settled or opinion is None or self._refining is None:
            return judgment
        played, searched = self._refining
        opinion = searched.refined(settled, played.refined(settled, opinion))
        judgment = self._judge_by(position, settled, board, opinion)
        if not any(item.kind == "group" for item in judgment.open):
            return judgment
        opinion = searched.around_groups(settled, board, opinion, judgment.open)
        return self._judge_by(position, settled, board, opinion)

    def _judge_by(self, position: Position, settled: Position, board: Board, opinion: Opinion | None) -> Judgment:
        found = verdicts(settled, board, opinion)
        readings: dict[int, Reading] = {}
        if self.settings.nodes > 0:
            groups = living_groups(settled, board, found, opinion, self.settings)
            readings = read_all(settled, board, found, groups, self.settings)
            readings |= in_standoffs(settled, board, found, groups, readings, self.settings)
            sure = {chain: reading.verdict for chain, reading in readings.items() if reading.dead is not None}
            found = verdicts(settled, board, opinion, sure)
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
