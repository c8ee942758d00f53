"""Captures inside a seki that gain more than they cost, so that it is not the end: three points without capturing.

A seki holds because whoever begins loses more. Where a chain of it is in atari and the stones that are lost for taking
it are fewer, its opponent should take it before the game ends; left alone it stays a seki (Japanese rules of 1989).
"""

from __future__ import annotations

from collections.abc import Set

from engine.board.position import Position
from engine.judge.board import Board, without_final_passes
from engine.judge.groups import Body
from engine.judge.readings import CAPTURED, SAFE, read_chain, region_around, safe_chains
from engine.judge.settings import JudgeSettings
from engine.judge.settle import Verdict
from engine.judge.types import OpenItem

LEAST = 2
"""Stones taken. One alone is a ko, or does not pay."""


def gainful_captures(
    position: Position, board: Board, found: list[Verdict], groups: list[Body], seki: Set[int],
    settings: JudgeSettings,
) -> list[OpenItem]:  # fmt: skip
    """Return the chains in seki whose capture pays, each with the move that takes it, which also saves it.

    Args:
        position: as it stands; it is left as it is.
        seki: indices of the groups in seki.
    """
    in_seki = {chain for index in seki for chain in groups[index].chains}
    items = []
    for chain in sorted(in_seki):
        if len(board.liberties[chain]) > 1 or len(board.chains[chain]) < LEAST:
            continue
        (place,) = board.liberties[chain]
        color = board.color_of(chain)
        safe = {board.chains[other][0] for other in safe_chains(board, found, groups, chain, settings)}
        own = [board.chains[other] for other in in_seki if board.color_of(other) != color]
        cost = _cost(position, place, 3 - color, own, safe, settings)
        if cost is not None and cost < len(board.chains[chain]):
            gain = float(len(board.chains[chain]) - cost)
            black, white = (None, place) if color == 1 else (place, None)
            items.append(OpenItem("group", board.chains[chain], black, white, gain))
    return items


def _cost(
    position: Position, place: int, color: int, own: list[tuple[int, ...]], safe: set[int], settings: JudgeSettings
) -> int | None:
    """Return how many stones `color` may lose of its own in the seki if it plays there, None if that is not known."""
    after = without_final_passes(position)
    if not after.is_legal(place, color):
        return None
    after.play(place, color)
    board = Board(after)
    walls = {board.chain_of[stone] for stone in safe if board.color[stone]}
    weak = {board.chain_of[stones[0]] for stones in own} | {board.chain_of[place]}
    cost = 0
    for chain in weak - walls:
        region = region_around(board, chain, walls, settings.region)
        if region is None:
            return None
        reading = read_chain(after, board, chain, region, settings.chain_nodes)
        if reading.attacked == CAPTURED:
            cost += len(board.chains[chain])
        elif reading.attacked != SAFE:
            return None
    return cost
