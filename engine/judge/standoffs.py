"""Sekis of many groups in a row, where one move and its answer say what a reading cannot finish.

Where groups of both sides share their last liberties one with the next, every capture opens room in which play goes on,
and a reading of the whole runs out of nodes. But in such a row each move puts the mover's own group into atari: it is
taken at once, through its place its neighbours reach safe stones, and a reading of these few groups finishes. Where
that is so of every point for both sides, nobody moves, and all of the row stands.
"""

from __future__ import annotations

from collections.abc import Callable, Set

from engine.board.position import BLACK, EMPTY, WHITE, Position
from engine.errors import IllegalMove
from engine.judge.board import Board
from engine.judge.groups import Body
from engine.judge.readings import (
    MOST_POINTS,
    SAFE,
    Reading,
    believable,
    read_chain,
    region_around,
    safe_chains,
    wanted,
)
from engine.judge.settings import JudgeSettings
from engine.judge.settle import Verdict

LEAST_CHAINS = 3
MOST_LIBERTIES = 16  # of the row
SafeAfter = Callable[[Position, Board, int, set[int]], bool]  # position, its board, chain, what is safe


def in_standoffs(
    position: Position, board: Board, found: list[Verdict], groups: list[Body], readings: dict[int, Reading],
    settings: JudgeSettings,
) -> dict[int, Reading]:  # fmt: skip
    """Return readings of chains that stand in a row in which nobody moves.

    Where the row is closed in by proven life, this overrules a reading that took a chain of the row itself for a wall.

    Args:
        found: of each chain, what facts and the opinion say.
        groups: of the living chains.
        readings: what was read so far.
    """

    def is_safe(after: Position, then: Board, chain: int, walls: set[int]) -> bool:
        region = region_around(then, chain, walls, MOST_POINTS)
        return region is not None and read_chain(after, then, chain, region, settings.chain_nodes).attacked == SAFE

    proven = {other for other, verdict in enumerate(found) if verdict.proven and verdict.p_dead == 0.0}
    known: dict[int, Reading] = {}
    for chain in wanted(board, found, groups, settings):
        if chain in known or (chain in readings and readings[chain].sound):
            continue
        walls = [proven] if chain in readings else [proven, safe_chains(board, found, groups, chain, settings)]
        for safe in walls:
            row = row_of(board, chain, safe)
            if row is None or not nobody_moves(position, board, row, safe, is_safe):
                continue
            for member in row:
                reading = Reading(member, SAFE, SAFE, None, None, 0, safe == proven)
                if member in readings and (readings[member].sound or not reading.sound):
                    continue
                if reading.sound or believable(reading, found[member].p_dead, settings):
                    known[member] = reading
            break
    return known


def row_of(board: Board, chain: int, safe: Set[int]) -> set[int] | None:
    """Return the chains that hang together with one by shared liberties; None where that is no tight row.

    Tight are at least three chains of both colors that touch no safe chain at any liberty.
    """
    row, edge, liberties = {chain}, [chain], set(board.liberties[chain])
    while edge:
        for liberty in board.liberties[edge.pop()]:
            liberties.add(liberty)
            beside = {board.chain_of[near] for near in board.neighbours[liberty] if board.color[near] != EMPTY}
            if beside & safe or len(liberties) > MOST_LIBERTIES:
                return None
            edge += beside - row
            row |= beside
    colors = {board.color_of(member) for member in row}
    return row if len(row) >= LEAST_CHAINS and len(colors) == 2 else None


def nobody_moves(position: Position, board: Board, row: Set[int], safe: Set[int], is_safe: SafeAfter) -> bool:
    """Tell whether every move at a liberty of the row, by either side, loses a chain of the row at once.

    Args:
        row: of `row_of`.
        safe: chains that cannot be captured.
        is_safe: tells whether a chain stands for sure in a position that comes up, its opponent to move.
    """
    liberties = sorted({liberty for chain in row for liberty in board.liberties[chain]})
    return position.ko_action not in liberties and all(
        _is_punished(position, board, row, safe, is_safe, point, color)
        for point in liberties
        for color in (BLACK, WHITE)
    )


def _is_punished(
    position: Position, board: Board, row: Set[int], safe: Set[int], is_safe: SafeAfter, point: int, color: int
) -> bool:
    """Tell whether `color` may not or should not play at a point."""
    after = position.copy()
    try:
        if after.play(point, color, allow_superko=True):
            return False
    except IllegalMove:
        return True
    other = 3 - color
    for chain in sorted(row):
        stones = board.chains[chain]
        liberties = after.liberties(stones[0])
        if board.color_of(chain) != color or len(liberties) != 1:
            continue
        if not any(neighbour in safe and board.color_of(neighbour) == other for neighbour in board.touching(stones)):
            continue  # a nakade, perhaps: those who take it stay shut in
        taken = after.copy()
        try:
            taken.play(liberties[0], other, allow_superko=True)
        except IllegalMove:
            continue
        then = Board(taken)
        walls = {then.chain_of[board.chains[wall][0]] for wall in safe}
        beside = {
            then.chain_of[board.chains[near][0]]
            for near in row
            if board.color_of(near) == other and not board.liberties[near].isdisjoint(board.liberties[chain])
        }
        if all(is_safe(taken, then, near, walls) for near in beside):
            return True
    return False
