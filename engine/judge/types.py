"""What a judgment says, as plain data, and what a judge asks nets for.

Everything is Black's: +1 is Black's point, a positive score says that Black is ahead. Actions are row-major from the
top left; point arrays are [H, W]. Nothing here computes: settle.py makes these objects, text.py writes them down.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.board.position import Position

FloatMap = NDArray[np.float32]
SignMap = NDArray[np.int8]
BoolMap = NDArray[np.bool_]


class Status(StrEnum):
    """What becomes of a chain. A living chain without two eyes that its opponent cannot attack either is in seki."""

    ALIVE = "alive"
    DEAD = "dead"
    SEKI = "seki"


@dataclass(frozen=True, slots=True)
class TriedMove:
    """A move that a search looked at, and whose the points are after it."""

    action: int
    visits: int
    owner: FloatMap  # [H, W] in [-1, 1], Black positive


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a source thinks of each point of one position, before any rule is applied. Black positive.

    Only `owner` must be there. A source that knows territory values alone fills owner from them (stones it does not
    call dead belong to their color).
    """

    owner: FloatMap  # [H, W] in [-1, 1]: who will own the point when everything is counted as area
    territory: FloatMap | None = None  # [H, W] in [-1, 1]: 0 on living stones, dame and in seki (g of the patent)
    seki: FloatMap | None = None  # [H, W] in [0, 1]: probability that the point, stone or empty, is in seki
    winrate: float | None = None  # Black's, [0, 1], whoever's turn it is in the position
    score_mean: float | None = None  # expected Black − White − komi
    score_stdev: float | None = None  # of the final score, points
    policy: dict[int, FloatMap] = field(default_factory=dict)  # color -> [A], probabilities of its moves if it moves
    tried: dict[int, tuple[TriedMove, ...]] = field(default_factory=dict)  # color -> what a search tried for it
    local: dict[tuple[int, ...], dict[int, TriedMove]] = field(default_factory=dict)
    # stones of an open group -> color -> the best move around it if that color moves first, and what comes of it
    name: str = ""


class OpinionSource(Protocol):
    """Anything that has an opinion of positions: ownership of a policy/value net, a judgment net, a blend, a search."""

    name: str

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether boards of this size can be asked about."""
        ...

    def opinion(self, position: Position) -> Opinion | None:
        """Return the opinion of a position whose final passes are taken back; None if it has none."""
        ...


@dataclass(frozen=True, slots=True)
class ChainStatus:
    """One chain and what becomes of it."""

    color: int
    stones: tuple[int, ...]  # actions, sorted
    status: Status
    confidence: float  # probability that the status is right, [0, 1]
    proven: bool  # a fact (unconditional life or death, or a reading that finished), no estimate
    group: int  # index into Judgment.groups


@dataclass(frozen=True, slots=True)
class Group:
    """Chains of one color that live or die together."""

    color: int
    chains: tuple[int, ...]  # indices into Judgment.chains
    status: Status
    confidence: float  # of its weakest chain
    eyes: tuple[int, ...]  # territory points of its own that count for its life (also eyes in seki)


@dataclass(frozen=True, slots=True)
class SideScore:
    """What one side counts. Under area scoring prisoners and dead stones stay 0, under territory scoring stones do."""

    stones: int = 0  # living stones on the board
    territory: int = 0  # points, those under dead stones included
    dead: int = 0  # opponent's stones on the board that are taken off as prisoners
    prisoners: int = 0  # opponent's stones captured before
    tax: int = 0  # group tax, taken off
    bonus: float = 0.0  # komi, handicap bonus, button, together
    komi: float = 0.0  # of the bonus
    handicap_bonus: float = 0.0  # of the bonus

    @property
    def button(self) -> float:
        """What the button is worth to the side."""
        return self.bonus - self.komi - self.handicap_bonus

    @property
    def total(self) -> float:
        """The side's points."""
        return self.stones + self.territory + self.dead + self.prisoners - self.tax + self.bonus


@dataclass(frozen=True, slots=True)
class OpenItem:
    """Something that is not settled yet: a group, points on a border, a ko (its stone and its mouth), or dame.

    Dame are open under area rules alone, where whoever plays there has the point.
    """

    kind: str  # "group", "border", "ko" or "dame"
    points: tuple[int, ...]  # stones of the group, or the points
    black_move: int | None  # the move that settles it for Black, if known
    white_move: int | None
    swing: float  # points between Black moving first and White moving first, as far as is known


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a position is worth.

    Invariant: owner, territory, dame and seki_points follow from the statuses and from `assigned`; the score is
    counted from them (see engine.judge.score.recount).
    """

    width: int
    height: int
    chains: tuple[ChainStatus, ...]
    groups: tuple[Group, ...]
    owner: SignMap  # [H, W]: +1 Black's point as area (living stones, territory, under dead stones), -1 White's, 0 else
    territory: SignMap  # [H, W]: the points among these that count as territory under the rules; 0 elsewhere
    dame: BoolMap  # [H, W]: empty points between living stones, nobody's, outside sekis; what is open is not dame
    seki_points: BoolMap  # [H, W]: shared liberties and eyes of groups in seki
    confidence: FloatMap  # [H, W] in [0, 1]: how sure the point's mark is
    ownership: FloatMap | None  # [H, W] in [-1, 1], as the source says
    score: float  # Black − White − komi under the rules in force, counted from the marks
    black: SideScore
    white: SideScore
    finished: bool | None  # nothing is open: no move gains anything under the rules in force; None: not known
    open: tuple[OpenItem, ...]
    expected_score: float  # the score where finished, else the expected final score
    score_low: float  # bounds that hold the final score with 80 %; infinite where the judge knows none
    score_high: float
    winrate: float | None  # Black's
    doubt: float  # points that might still go either way
    source: str  # whose opinion it rests on
    passed: bool = False  # the game had ended with passes

    @property
    def settled(self) -> bool:
        """True if nothing is open but dame, as far as the judge can tell."""
        return self.finished is not None and all(item.kind == "dame" for item in self.open)

    @property
    def dead(self) -> frozenset[int]:
        """Actions of dead stones."""
        return self.stones(Status.DEAD)

    def stones(self, status: Status) -> frozenset[int]:
        """Return the actions of all stones of that status."""
        return frozenset(action for chain in self.chains if chain.status == status for action in chain.stones)

    def points(self, name: str) -> list[int]:
        """Return the actions of the points called black_territory, white_territory, dame or seki_points.

        Raises KeyError on another name.
        """
        marks = {
            "black_territory": self.territory > 0,
            "white_territory": self.territory < 0,
            "dame": self.dame,
            "seki_points": self.seki_points,
        }[name]
        return [int(action) for action in np.flatnonzero(marks.ravel())]


def point_marks(judgment: Judgment) -> list[str]:
    """Return one word for each point, by action: alive, dead, seki, black_territory, white_territory or dame.

    An eye in seki is the territory of its owner where the rules count it, else dame, as are the liberties of a seki.
    """
    land = judgment.territory.ravel().tolist()
    words = [{1: "black_territory", -1: "white_territory"}.get(sign, "dame") for sign in land]
    for chain in judgment.chains:
        for action in chain.stones:
            words[action] = str(chain.status)
    return words
