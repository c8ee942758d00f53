"""Groups among the living chains, and which of them live in seki.

A group is what its chains' common eyes, bonds and connections hold together. One that has no two eyes and yet is not
dead lives in seki, provided that it shares liberties with a group of the other side in the same plight.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.board.position import EMPTY
from engine.judge.board import Board, Union
from engine.judge.settle import bonds

OwnerMap = NDArray[np.uint8]
LARGEST_SEKI = 8
"""Empty points that a region between groups in seki has at most; where there is more room, the game goes on."""


@dataclass(frozen=True, slots=True)
class Body:
    """One group of living chains."""

    color: int
    chains: tuple[int, ...]
    eyes: tuple[tuple[int, ...], ...]  # regions of real territory (points, those under dead stones included)
    false_points: tuple[int, ...]  # one-coloured points that a seki tax takes
    dame: frozenset[int]  # empty points beside it that living stones of the other side touch too
    independent: bool  # two eyes, or one region that makes two
    one_eyed: bool = False  # no two eyes yet, however large the one

    @property
    def weak(self) -> bool:
        """True if it has no two eyes of its own."""
        return not self.independent


def bodies(
    board: Board, dead: set[int], plain: OwnerMap, taxed: OwnerMap, facts: OwnerMap, doubtful: Set[int] = frozenset()
) -> list[Body]:
    """Return the groups of the living chains.

    Args:
        plain, taxed: [H, W] owner of every point once dead stones are off, without and with a seki tax.
        facts: [H, W] unconditionally alive points.
        doubtful: dead chains whose death connects nobody; the region around them is still an eye of each chain there.
    """
    living = [chain for chain in range(len(board.chains)) if chain not in dead]
    stone = [chain >= 0 and chain not in dead for chain in board.chain_of]
    owner, real = plain.ravel().tolist(), taxed.ravel().tolist()
    union = Union(len(board.chains))
    for bond in bonds(board):
        alive = [chain for chain in bond if chain not in dead]
        for chain in alive[1:]:
            union.join(alive[0], chain)
    regions = board.regions(lambda action: not stone[action] and owner[action] != EMPTY)
    touching = []
    for region in regions:
        around = sorted(chain for chain in board.touching(region) if chain not in dead)
        touching.append(around)
        if not doubtful.isdisjoint(board.chain_of[action] for action in region):
            continue
        for chain in around[1:]:
            union.join(around[0], chain)
    eyes: dict[int, list[tuple[int, ...]]] = {}
    false: dict[int, list[int]] = {}
    for region, around in zip(regions, touching, strict=True):
        if not around:
            continue
        inside = {action for action in region if real[action] != EMPTY}
        parts = [tuple(sorted(part)) for part in board.parts(sorted(inside))]
        for root in {union.find(chain) for chain in around}:
            false.setdefault(root, []).extend(action for action in region if action not in inside)
            eyes.setdefault(root, []).extend(parts)
    found = []
    for members in union.sets():
        chains = tuple(chain for chain in members if chain not in dead)
        if not chains or chains[0] not in living:
            continue
        root = union.find(chains[0])
        found.append(_body(board, chains, eyes.get(root, []), false.get(root, []), stone, facts))
    return found


def _body(
    board: Board, chains: tuple[int, ...], eyes: list[tuple[int, ...]], false: list[int], stone: list[bool],
    facts: OwnerMap,
) -> Body:  # fmt: skip
    color = board.color_of(chains[0])
    dame = set()
    for chain in chains:
        for liberty in board.liberties[chain]:
            if any(stone[near] and board.color[near] != color for near in board.neighbours[liberty]):
                dame.add(liberty)
    flat = facts.ravel()
    proven = any(flat[board.chains[chain][0]] == color for chain in chains)
    roomy = any(len(eye) >= 3 for eye in eyes)
    two = proven or len(eyes) >= 2
    return Body(color, chains, tuple(eyes), tuple(sorted(false)), frozenset(dame), two or roomy, not two)


def in_seki(board: Board, groups: list[Body]) -> set[int]:
    """Return the indices of the groups that live in seki."""
    small = _closed_liberties(board, groups)
    weak = {index for index, body in enumerate(groups) if body.weak and index in small}
    while True:
        kept = {
            index
            for index in weak
            if any(
                groups[other].color != groups[index].color and len(groups[index].dame & groups[other].dame) >= 1
                for other in weak
                if other != index
            )
        }
        if kept == weak:
            break
        weak = kept
    return {index for index in weak if not _connects(board, groups, index, weak)}


def _closed_liberties(board: Board, groups: list[Body]) -> set[int]:
    """Return the groups all of whose liberties lie in small regions: around the others the game still goes on."""
    room = {}
    for region in board.regions(lambda action: board.color[action] == EMPTY):
        for action in region:
            room[action] = len(region)
    return {
        index
        for index, body in enumerate(groups)
        if all(room[liberty] <= LARGEST_SEKI for chain in body.chains for liberty in board.liberties[chain])
    }


def _connects(board: Board, groups: list[Body], index: int, weak: set[int]) -> bool:
    """Tell whether a dame point beside the group touches a group of its side that has two eyes."""
    strong = {
        chain
        for other, body in enumerate(groups)
        if other not in weak and body.color == groups[index].color
        for chain in body.chains
    }
    around = {liberty for chain in groups[index].chains for liberty in board.liberties[chain]}
    return any(board.chain_of[near] in strong for liberty in around for near in board.neighbours[liberty])
