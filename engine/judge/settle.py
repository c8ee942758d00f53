"""From an opinion to a judgment: which chains are dead, whose the points are, what is open.

Facts come first (Benson: unconditional life and death), then proven readings, then the opinion, pooled over the chains
that share one fate. Territory is what living stones enclose; where borders are open, the opinion's clear word counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from engine.board.position import BLACK, EMPTY, WHITE, Position
from engine.board.scoring import pass_alive
from engine.judge.board import Board, Union
from engine.judge.types import FloatMap, Opinion


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of one chain before groups are made."""

    p_dead: float
    proven: bool

    def confidence(self, dead: bool, temperature: float) -> float:
        """Return the probability that the chain is dead, or that it is not, as calibrated on judged games."""
        p = self.p_dead if dead else 1.0 - self.p_dead
        if self.proven or temperature == 1.0 or not 0.0 < p < 1.0:
            return p
        odds: float = (p / (1.0 - p)) ** (1.0 / temperature)
        return odds / (1.0 + odds)


@lru_cache(maxsize=2)  # a judgment asks for those of one board several times; boards are compared by identity
def bonds(board: Board) -> tuple[tuple[int, ...], ...]:
    """Return the sets of chains with one fate: those that share two liberties, or a region that is theirs alone."""
    union = Union(len(board.chains))
    for region in board.regions(lambda action: board.color[action] == EMPTY):
        around = sorted(board.touching(region))
        if len({board.color_of(chain) for chain in around}) == 1:
            for chain in around[1:]:
                union.join(around[0], chain)
    shared: dict[tuple[int, int], int] = {}
    for action in range(board.area):
        if board.color[action] != EMPTY:
            continue
        near = sorted({board.chain_of[n] for n in board.neighbours[action] if board.chain_of[n] >= 0})
        for i, one in enumerate(near):
            for other in near[i + 1 :]:
                if board.color_of(one) == board.color_of(other):
                    shared[one, other] = shared.get((one, other), 0) + 1
    for (one, other), count in shared.items():
        if count >= 2:
            union.join(one, other)
    return tuple(tuple(chains) for chains in union.sets())


def verdicts(
    position: Position, board: Board, opinion: Opinion | None, read: Mapping[int, Verdict] | None = None
) -> list[Verdict]:
    """Return what is known or thought of each chain.

    Args:
        opinion: None leaves every chain alive that is not proven dead.
        read: what readings say of chains.
    """
    facts = pass_alive(position).ravel()
    owner = None if opinion is None else opinion.owner.ravel()
    found: dict[int, Verdict] = {}
    for chain, stones in enumerate(board.chains):
        fact = int(facts[stones[0]])
        if fact != EMPTY:
            found[chain] = Verdict(float(fact != board.color_of(chain)), True)
        elif read is not None and chain in read:
            found[chain] = read[chain]
    for bond in bonds(board):
        rest = [chain for chain in bond if chain not in found]
        if not rest:
            continue
        p = 0.0
        if owner is not None:
            stones_of_bond = [stone for chain in rest for stone in board.chains[chain]]
            sign = 1.0 if board.color_of(rest[0]) == BLACK else -1.0
            p = (1.0 - sign * float(owner[stones_of_bond].mean())) / 2.0
        for chain in rest:
            found[chain] = Verdict(p, False)
    return [found[chain] for chain in range(len(board.chains))]


def dead_chains(board: Board, found: list[Verdict], threshold: float) -> set[int]:
    """Return the chains that are dead, so that each lies where its opponent lives.

    Dead stones inside what their own side alone closes in live, as do, where nobody lives around, those of the side
    that the verdicts give up less, and of two dead chains side by side the less dead one. Proven deaths stay where
    an opponent lives.
    """
    dead = {chain for chain, verdict in enumerate(found) if verdict.p_dead > threshold}
    while True:
        living = [chain >= 0 and chain not in dead for chain in board.chain_of]
        revived: set[int] = set()
        for region in board.regions(lambda action: not living[action]):  # noqa: B023 - used at once
            inside = {board.chain_of[action] for action in region if board.color[action] != EMPTY}
            if inside:
                around = {board.color_of(chain) for chain in board.touching(region)}
                revived |= {
                    chain
                    for chain in _survivors(board, found, inside, around)
                    if not found[chain].proven or around == {board.color_of(chain)}
                }
        if not revived:
            return dead
        dead -= revived


def _survivors(board: Board, found: list[Verdict], inside: set[int], around: set[int]) -> set[int]:
    """Return which of the dead chains of one region must live."""
    by_color = {color: {chain for chain in inside if board.color_of(chain) == color} for color in (BLACK, WHITE)}
    proven = {board.color_of(chain) for chain in inside if found[chain].proven}
    if len(proven) == 1:  # their opponent beside them lives
        return by_color[3 - next(iter(proven))]
    if len(around) == 1:
        return by_color[next(iter(around))]
    if around:  # both live around, as in an open position: only dead stones side by side contradict each other
        pairs = {(one, other) for one in by_color[BLACK] for other in board.touching(board.chains[one]) & inside}
        return {min(pair, key=lambda chain: found[chain].p_dead) for pair in pairs}
    lost = {
        color: sum(len(board.chains[chain]) * found[chain].p_dead for chain in chains)
        / max(1, sum(len(board.chains[chain]) for chain in chains))
        for color, chains in by_color.items()
    }  # fmt: skip
    held = [color for color in (BLACK, WHITE) if by_color[color]]
    return by_color[min(held, key=lambda color: lost[color])]


SMALL = 6
"""Points of a region between both sides' living stones that are dame whatever the opinion; see JudgeSettings.small."""


def contested_points(
    board: Board, dead: set[int], opinion: FloatMap, threshold: float, small: int = SMALL
) -> dict[int, int]:
    """Return point -> owner for the points between living stones of both sides that the opinion clearly gives away.

    A point that touches a living stone of the other side never counts: it is dame or open. Nor does a region of up to
    `small` points: players who leave it so count no territory there (Japanese rules of 1989, article 8).
    """
    living = [chain >= 0 and chain not in dead for chain in board.chain_of]
    flat = opinion.ravel()
    found: dict[int, int] = {}
    for region in board.regions(lambda action: not living[action]):
        colors = {board.color_of(chain) for chain in board.touching(region)}
        if len(colors) < 2 or len(region) <= small:
            continue
        for action in region:
            value = float(flat[action])
            if abs(value) < threshold:
                continue
            color = BLACK if value > 0 else WHITE
            if any(living[near] and board.color[near] != color for near in board.neighbours[action]):
                continue
            found[action] = color
    return {action: color for action, color in found.items() if not _disputed(board, dead, found, action, color)}


def _disputed(board: Board, dead: set[int], found: Mapping[int, int], action: int, color: int) -> bool:
    """Tell whether a neighbour of a point is the other side's, by the opinion or as the place of a dead stone."""
    for near in board.neighbours[action]:
        if found.get(near, color) != color:
            return True
        if board.chain_of[near] in dead and board.color[near] == color:
            return True
    return False


def dead_mask(board: Board, dead: set[int]) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Return the stones of these chains as bool [H, W]."""
    mask = np.zeros(board.area, dtype=np.bool_)
    for chain in dead:
        mask[list(board.chains[chain])] = True
    return mask.reshape(board.height, board.width)
