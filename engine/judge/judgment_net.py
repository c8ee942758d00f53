"""The opinion of a judgment net, and the position as such a net is shown it, in judging and in training alike.

A judgment does not depend on passes, komi, rules, or on how the game went: the net is shown the stones (and a ko)
under one set of rules, without history, for both sides to move. No torch here; the net is behind `Maps`.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.board.planes import encode_into
from engine.board.position import BLACK, WHITE, Position
from engine.board.symmetry import transform_ownership
from engine.judge.types import Opinion

FloatArray = NDArray[np.float32]

VIEW_RULES = (
    '{"ko":"SIMPLE","scoring":"AREA","tax":"NONE","suicide":false,"whiteHandicapBonus":"0","friendlyPassOk":true}'
)
"""What a judgment net is shown, whatever the rules in force: what lives hardly depends on them, what counts is counted
by the judge."""
HISTORY = 0  # moves of history that it is shown
G, OWN, OPPONENT, NEUTRAL, SEKI = range(5)  # engine.nn.judgment.MAPS


class Maps(Protocol):
    """A judgment net that runs (engine.nn.judgment_evaluator)."""

    encoding: str
    max_batch: int
    name: str

    def supports_size(self, width: int, height: int) -> bool: ...
    def allocate(self, batch: int, width: int, height: int) -> tuple[FloatArray, FloatArray]: ...
    def maps(self, spatial: FloatArray, globals_: FloatArray) -> FloatArray: ...


def view_of(position: Position) -> Position:
    """Return a copy of a position as a judgment net sees it: passes at the end taken back, VIEW_RULES, no komi."""
    copy = position.copy()
    moves = position.moves
    while moves and moves.pop()[1] == copy.area:
        copy.undo()
    copy.set_rules(VIEW_RULES)
    copy.set_komi(0.0)
    return copy


class JudgmentNetOpinion:
    """The mean of a judgment net's word over both sides to move and several symmetries.

    Args:
        net: the net.
        symmetries: 1..4 of the symmetries that transpose nothing, so that rectangles batch too.
    """

    def __init__(self, net: Maps, *, symmetries: int = 1) -> None:
        self.name = net.name
        self.thresholds: dict[str, float] = dict(getattr(net, "thresholds", {}))
        self._net = net
        self._symmetries = (0, 3, 1, 2)[:symmetries]

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether the net takes boards of this size."""
        return self._net.supports_size(width, height)

    def opinion(self, position: Position) -> Opinion | None:
        """Return what the net says of a position."""
        maps = self.maps(position)
        shape = position.height, position.width
        owner = maps[OWN] - maps[OPPONENT]
        mean = float(owner.sum()) - position.komi
        if position.rules.white_handicap_bonus != "0":
            mean -= position.handicap - (position.rules.white_handicap_bonus == "N-1")
        variance = float((maps[OWN] + maps[OPPONENT] - owner**2).sum())
        return Opinion(
            owner=owner.reshape(shape),
            territory=maps[G].reshape(shape),
            seki=maps[SEKI].reshape(shape),
            score_mean=mean,
            score_stdev=2.0 * variance**0.5,  # points of one group go together
            name=self.name,
        )

    def maps(self, position: Position) -> FloatArray:
        """Return the net's maps [5, P] in Black's view: g, Black's, White's, nobody's, in seki."""
        view = view_of(position)
        width, height = view.width, view.height
        rows = [(color, symmetry) for color in (BLACK, WHITE) for symmetry in self._symmetries]
        total = np.zeros((5, view.area), np.float32)
        step = max(1, min(self._net.max_batch, len(rows)))
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            spatial, globals_ = self._net.allocate(len(part), width, height)
            for index, (color, symmetry) in enumerate(part):
                encode_into(view, self._net.encoding, spatial[index], globals_[index],
                            to_play=color, symmetry=symmetry, max_history=HISTORY)  # fmt: skip
            for (color, symmetry), maps in zip(part, self._net.maps(spatial, globals_), strict=True):
                total += _turned_back(maps, color, symmetry, width, height)
        total /= len(rows)
        return total


def _turned_back(maps: FloatArray, color: int, symmetry: int, width: int, height: int) -> FloatArray:
    """Return maps [5, P] in the board's orientation and Black's view."""
    turned = np.stack([transform_ownership(values, width, height, symmetry, inverse=True) for values in maps])
    if color == WHITE:
        turned[G] *= -1.0
        turned[[OWN, OPPONENT]] = turned[[OPPONENT, OWN]]
    return turned


