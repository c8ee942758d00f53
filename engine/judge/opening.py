"""What is still open on the board: groups that might live or die, borders that are not closed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from engine.board.position import BLACK, EMPTY, WHITE
from engine.judge.board import Board
from engine.judge.kos import between_the_living, cancelling, find_kos
from engine.judge.readings import Reading
from engine.judge.settings import JudgeSettings
from engine.judge.settle import Verdict, bonds
from engine.judge.types import OpenItem, Opinion
from engine.judge.unplayed import unplayed_items, unplayed_regions

ROOM_TO_LIVE = 30
"""Points of a region beyond which the opinion is asked whether one side's stones around it make it territory."""


def open_items(
    board: Board,
    found: list[Verdict],
    dead: NDArray[np.bool_],
    land: NDArray[np.uint8],
    seki_points: NDArray[np.bool_],
    opinion: Opinion | None,
    settings: JudgeSettings,
    readings: Mapping[int, Reading],
    facts: NDArray[np.uint8],
) -> tuple[list[OpenItem], float]:
    """Return the open groups and borders, and how many points might still go either way.

    A group is open if its pooled ownership is nearer to 0 than `unsettled`. A border is open where a point that is not
    plain dame has no clear owner, and ground where nothing was played is open whatever the opinion. `facts` [H, W] is
    whose a point is unconditionally.
    """
    items, doubt = _unsettled(board, readings)
    items += unplayed_items(regions := unplayed_regions(board, dead, facts), opinion)
    doubt += 2.0 * sum(map(len, regions))
    if opinion is None:
        return items, float(board.area)
    unplayed = {action for region in regions for action in region}
    open_chains = {
        chain
        for chain, verdict in enumerate(found)
        if not verdict.proven and chain not in readings and abs(1.0 - 2.0 * verdict.p_dead) < settings.unsettled
    }
    for bond in bonds(board):
        together = [chain for chain in bond if chain in open_chains]
        if together:
            stones = tuple(sorted(stone for chain in together for stone in board.chains[chain]))
            doubt += 2.0 * len(stones)
            items.append(_item("group", stones, around_stones(board, together), opinion))
    items += (fought := kos(board, dead, seki_points))
    doubt += 2.0 * len(fought)
    flat = opinion.owner.ravel()
    closed = _closed(board, gone := dead.ravel().tolist(), open_chains, readings, flat, settings)
    owners, seki = land.ravel().tolist(), seki_points.ravel().tolist()

    def unclear(action: int) -> bool:
        if (
            board.color[action] != EMPTY
            or seki[action]
            or closed[action]
            or action in unplayed
            or abs(float(flat[action])) >= settings.unsettled
        ):
            return False
        return owners[action] != EMPTY or not _plain_dame(board, action, gone)

    # the room of a group that is open itself says nothing more
    grouped = {board.chain_of[stone] for item in items if item.kind == "group" for stone in item.points}
    unclear_regions = [
        region for region in board.regions(unclear) if not (around := board.touching(region)) or around - grouped
    ]
    leaks = _leaks(board, gone, owners, seki, unclear_regions)
    doubt += 2.0 * sum(  # dame: nothing to settle there, but whoever takes them scores under area rules
        abs(float(flat[action])) < settings.unsettled and not seki[action] and owners[action] == EMPTY
        for action in range(board.area)
        if board.color[action] == EMPTY and _plain_dame(board, action, gone)
    )
    for region in unclear_regions:
        doubt += 2.0 * len(region)
        beside = {near for action in region for near in board.neighbours[action] if board.color[near] == EMPTY}
        items.append(_item("border", tuple(sorted(region)), sorted({*region, *beside}), opinion))
    for points, candidates in leaks:
        doubt += 2.0 * len(points)
        items.append(_item("border", points, candidates, opinion))
    return items, doubt


def _leaks(
    board: Board, gone: list[bool], owners: list[int], seki: list[bool], unclear: list[list[int]]
) -> list[tuple[tuple[int, ...], list[int]]]:
    """Return the borders that stones do not close although the opinion is clear of their points, with where to play.

    Such a border is a region between living stones of both sides in which not every point is plain dame: whoever moves
    there first gains. Returned of a region are the points that one side may take from the other.
    """
    found = []
    known = {action for region in unclear for action in region}
    for region in board.regions(lambda action: board.color[action] == EMPTY or gone[action]):
        colors = {board.color_of(chain) for chain in board.touching(region)}
        empty = [action for action in region if board.color[action] == EMPTY]
        plain = {action for action in empty if _plain_dame(board, action, gone)}
        if len(colors) < 2 or len(plain) == len(empty) or any(seki[action] or action in known for action in region):
            continue
        near = {n for action in plain for n in board.neighbours[action] if n in region and n not in plain}
        taken = {action for action in empty if owners[action] != EMPTY and _touches(board, gone, action, owners)}
        points = [action for action in empty if action not in plain and (action in near or action in taken)]
        points = points or [action for action in empty if action not in plain]
        places = {*points, *(n for p in points for n in board.neighbours[p] if n in plain)}
        for part in board.regions(places.__contains__):
            found.append((tuple(sorted(set(part) & set(points))), sorted(part)))
    return found


def _touches(board: Board, gone: list[bool], action: int, owners: list[int]) -> bool:
    """Tell whether a point that one side has lies beside what the other has: a living stone or a point."""
    other = 3 - owners[action]
    return any(
        owners[near] == other if board.color[near] == EMPTY or gone[near] else board.color[near] == other
        for near in board.neighbours[action]
    )


def neutral_points(
    board: Board, dead: NDArray[np.bool_], land: NDArray[np.uint8], seki_points: NDArray[np.bool_],
    items: list[OpenItem],
) -> list[OpenItem]:  # fmt: skip
    """Return the dame as one open item, if there are any that no other item names.

    Under area rules each is a point for whoever plays there: of an odd number the side that begins has one more.
    """
    gone, owners, seki = dead.ravel().tolist(), land.ravel().tolist(), seki_points.ravel().tolist()
    named = {action for item in items for action in item.points}
    named |= {move for item in items for move in (item.black_move, item.white_move) if move is not None}
    points = [
        action
        for action in range(board.area)
        if board.color[action] == EMPTY and owners[action] == EMPTY and not seki[action] and action not in named
        and _plain_dame(board, action, gone)
    ]  # fmt: skip
    if not points:
        return []
    return [OpenItem("dame", tuple(points), points[0], points[0], 2.0 * (len(points) % 2))]


def kos(board: Board, dead: NDArray[np.bool_], seki_points: NDArray[np.bool_]) -> list[OpenItem]:
    """Return the kos between living stones, but for those of a seki that is held together by two of them."""
    gone = {chain for chain, stones in enumerate(board.chains) if dead.ravel()[stones[0]]}
    found = between_the_living(find_kos(board), gone)
    seki = seki_points.ravel()
    resting = {ko for ko in cancelling(board, found) if seki[ko.mouth]}
    return [
        OpenItem("ko", (ko.stone, ko.mouth), ko.mouth, ko.mouth, 2.0) for ko in found if ko not in resting
    ]


def _closed(
    board: Board, gone: list[bool], open_chains: set[int], readings: Mapping[int, Reading],
    opinion: NDArray[np.float32], settings: JudgeSettings,
) -> list[bool]:  # fmt: skip
    """Return, by action, whether living stones of one side alone close a point in, and no open group is among them.

    Not so where there is room for the other side to live and the opinion does not give it away as a whole.
    """
    doubted = {*open_chains, *(chain for chain, reading in readings.items() if reading.unsettled)}
    closed = [False] * board.area
    for region in board.regions(lambda action: board.color[action] == EMPTY or gone[action]):
        around = board.touching(region)
        inside = {board.chain_of[action] for action in region if board.chain_of[action] >= 0}
        if len({board.color_of(chain) for chain in around}) != 1:
            continue
        if len(region) > ROOM_TO_LIVE and abs(float(opinion[region].mean())) < settings.unsettled:
            continue
        if doubted.isdisjoint(around | inside):
            for action in region:
                closed[action] = True
    return closed


def _unsettled(board: Board, readings: Mapping[int, Reading]) -> tuple[list[OpenItem], float]:
    """Return the chains of which a reading says that whoever moves first decides."""
    items = []
    for chain, reading in readings.items():
        if reading.unsettled:
            black = board.color_of(chain) == BLACK
            moves = (reading.defence, reading.attack) if black else (reading.attack, reading.defence)
            items.append(OpenItem("group", board.chains[chain], *moves, 2.0 * len(board.chains[chain])))
    return items, sum(item.swing for item in items)


def _plain_dame(board: Board, action: int, gone: list[bool]) -> bool:
    """Tell whether a point touches living stones of both sides."""
    colors = {board.color[near] for near in board.neighbours[action] if board.color[near] != EMPTY and not gone[near]}
    return len(colors) == 2


def around_stones(board: Board, chains: list[int]) -> list[int]:
    """Return the empty points where a group may be settled: its liberties, its weak neighbours', and points beside."""
    near = {liberty for chain in chains for liberty in board.liberties[chain]}
    for chain in chains:
        for other in board.touching(board.chains[chain]):
            if len(board.liberties[other]) <= 3:
                near |= board.liberties[other]
    near |= {p for liberty in list(near) for p in board.neighbours[liberty] if board.color[p] == EMPTY}
    return sorted(near)


def _item(kind: str, points: tuple[int, ...], candidates: list[int], opinion: Opinion) -> OpenItem:
    """Return an open item with the move of each side that settles it best: by searches, else by the net's policy."""
    place = list(points)
    moves: list[int | None] = []
    worth: list[float] = []
    for color, sign in ((BLACK, 1.0), (WHITE, -1.0)):
        tried = [move for move in opinion.tried.get(color, ()) if move.action in candidates]
        if points in opinion.local:
            tried = [opinion.local[points][color]]
        if tried:
            values = [float(move.owner.ravel()[place].sum()) for move in tried]
            best = max(range(len(tried)), key=lambda index: sign * values[index])
            moves.append(tried[best].action)
            worth.append(values[best])
            continue
        policy = opinion.policy.get(color)
        action = None if policy is None else max(candidates, key=lambda action: float(policy[action]), default=None)
        moves.append(action if policy is not None and action is not None and float(policy[action]) > 0.0 else None)
    swing = worth[0] - worth[1] if len(worth) == 2 else 2.0 * len(points)
    return OpenItem(kind, points, moves[0], moves[1], max(0.0, swing))
