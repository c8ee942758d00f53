"""What a search found, as plain data, and the choice of a move from it.

Everything is in the view of `color`, the side that searched: winrate 1 means that it wins, a positive lead that it is
ahead, ownership +1 that the point will be its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class MoveInfo:
    """One move of the root."""

    action: int
    visits: int  # of the position after it
    edge_visits: int  # through this move, by which it is chosen; fewer where orders of moves share positions (`graph`)
    winrate: float  # [0, 1]
    utility: float
    score_mean: float  # expected final score, points
    score_stdev: float  # of the final score, points
    lead: float  # points ahead, komi included
    prior: float  # as searched: temperature and noise included
    lcb: float  # lower confidence bound of the winrate
    utility_lcb: float
    weight: float
    order: int  # 0 = best
    proven: str | None  # "win", "loss" or "draw" for color
    pv: list[int]  # actions, this one first
    pv_visits: list[int]
    pv_edge_visits: list[int]
    ownership: FloatArray | None = None  # [H, W]


@dataclass(frozen=True, slots=True)
class RawNet:
    """The net's own word on the root, before any search."""

    winrate: float
    value: float  # win - loss
    lead: float
    score_mean: float
    score_stdev: float
    policy: FloatArray  # [A], 0 where a move is illegal


@dataclass(frozen=True, slots=True)
class SearchStats:
    """What the search did and where its time went, in seconds."""

    elapsed: float = 0.0
    playouts: int = 0
    evaluations: int = 0
    batches: int = 0
    travel: float = 0.0  # that a batch takes from its sending to its answer
    cache_hits: int = 0
    collisions: int = 0
    terminal_visits: int = 0
    select_seconds: float = 0.0
    encode_seconds: float = 0.0
    net_seconds: float = 0.0
    backup_seconds: float = 0.0
    tree_bytes: int = 0
    stopped_by: str = ""  # visits, playouts, seconds, stop, proven, memory


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The outcome of a search, or its state so far when reported during one."""

    color: int
    width: int
    height: int
    visits: int
    winrate: float
    utility: float
    lead: float
    score_mean: float  # KataGo's "scoreSelfplay"
    score_stdev: float
    proven: str | None
    raw: RawNet
    moves: list[MoveInfo]  # visited moves, best first
    best_action: int  # by the rule of the settings (LCB), decided moves first
    most_visited: int
    chosen: int  # best_action, or drawn with the temperature that was asked for
    policy_target: FloatArray  # [A], share of the visits of each move, sum 1
    stats: SearchStats = field(default_factory=SearchStats)
    ownership: FloatArray | None = None  # [H, W]
    ownership_stdev: FloatArray | None = None  # [H, W]
    judged: bool = True  # False: the net judges nothing, and all figures but priors and visits are empty

    def move(self, action: int) -> MoveInfo | None:
        """Return what was found about one move, or None if it was never visited."""
        return next((info for info in self.moves if info.action == action), None)


def choose(result: SearchResult, temperature: float, rng: np.random.Generator) -> int:
    """Choose a move.

    Args:
        result: of a search.
        temperature: 0 takes best_action; T draws in proportion to visits ** (1 / T).
        rng: used only with a temperature.

    Returns the action. A decided win is always taken, a decided loss only if there is nothing else.
    """
    if temperature <= 1e-3 or not result.moves or result.moves[0].proven == "win":
        return result.best_action
    candidates = [info for info in result.moves if info.proven != "loss"] or result.moves
    visits = np.array([info.edge_visits for info in candidates], dtype=np.float64)
    logs = np.log(np.maximum(visits, 1e-9)) / temperature
    weights = np.exp(logs - logs.max())
    return candidates[int(rng.choice(len(candidates), p=weights / weights.sum()))].action
