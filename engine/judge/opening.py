"""What is still open on the board: groups that might live or die, borders that are not closed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.board.position import BLACK, EMPTY
from engine.judge.board import Board
from engine.judge.settings import JudgeSettings
from engine.judge.settle import Verdict
from engine.judge.types import OpenItem, Opinion


def open_items(
    board: Board,
    found: list[Verdict],
    dead: NDArray[np.bool_],
    land: NDArray[np.uint8],
    seki_points: NDArray[np.bool_],
    opinion: Opinion | None,
    settings: JudgeSettings,
) -> tuple[list[OpenItem], float]:
    """Return the open groups and borders, and how many points might still go either way.

    A group is open if its pooled ownership is nearer to 0 than `unsettled`. A border is open where a point that is not
    plain dame has no clear owner.
    """
    if opinion is None:
        return [], float(board.area)
    items: list[OpenItem] = []
    doubt = 0.0
    open_chains = [
        chain
        for chain, verdict in enumerate(found)
        if not verdict.proven and abs(1.0 - 2.0 * verdict.p_dead) < settings.unsettled
    ]
    for chain in open_chains:
        doubt += 2.0 * len(board.chains[chain])
        items.append(OpenItem("group", board.chains[chain], None, None, 2.0 * len(board.chains[chain])))
    flat = opinion.owner.ravel()
    owners, seki = land.ravel().tolist(), seki_points.ravel().tolist()
    gone = dead.ravel().tolist()

    def unclear(action: int) -> bool:
        if board.color[action] != EMPTY or seki[action] or abs(float(flat[action])) >= settings.unsettled:
            return False
        return owners[action] != EMPTY or not _plain_dame(board, action, gone)

    doubt += 2.0 * sum(  # dame: nothing to settle there, but whoever takes them scores under area rules
        abs(float(flat[action])) < settings.unsettled and not seki[action] and owners[action] == EMPTY
        for action in range(board.area)
        if board.color[action] == EMPTY and _plain_dame(board, action, gone)
    )
    for region in board.regions(unclear):
        doubt += 2.0 * len(region)
        black, white = (_best_move(opinion, color, region) for color in (BLACK, 3 - BLACK))
        items.append(OpenItem("border", tuple(sorted(region)), black, white, 2.0 * len(region)))
    return items, doubt


def _plain_dame(board: Board, action: int, gone: list[bool]) -> bool:
    """Tell whether a point touches living stones of both sides."""
    colors = {board.color[near] for near in board.neighbours[action] if board.color[near] != EMPTY and not gone[near]}
    return len(colors) == 2


def _best_move(opinion: Opinion, color: int, region: list[int]) -> int | None:
    policy = opinion.policy.get(color)
    if policy is None:
        return None
    best = max(region, key=lambda action: float(policy[action]))
    return best if float(np.nan_to_num(policy[best])) > 0.0 else None
