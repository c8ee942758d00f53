"""The score counted from marks: which stones are dead, which points are territory, and what the rules make of that.

One way of counting for every rule set, written apart from engine.board.scoring, so that tests can hold the two
together. Where borders are open the marks say more than the stones; here the marks alone count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.board.position import BLACK, EMPTY, WHITE, Position
from engine.judge.board import neighbours_of
from engine.judge.types import Judgment, SideScore

Owners = NDArray[np.uint8]


def count(position: Position, dead: NDArray[np.bool_], territory: Owners) -> tuple[SideScore, SideScore]:
    """Count what Black and White have.

    Area scoring counts living stones and territory; territory scoring counts territory, dead stones and prisoners.

    Args:
        dead: [H, W], dead stones.
        territory: [H, W], BLACK or WHITE where an empty point or a dead stone's point is territory, else EMPTY.
    """
    board = position.board()
    living = (board != EMPTY) & ~dead
    points = np.where(living, EMPTY, territory)
    taxes = group_tax(np.where(living, board, points), points) if position.rules.tax == "ALL" else {}
    sides, gets = [], bonus_parts(position)
    for color in (BLACK, WHITE):
        area = position.rules.scoring == "AREA"
        sides.append(
            SideScore(
                stones=int(np.count_nonzero(living & (board == color))) if area else 0,
                territory=int(np.count_nonzero(points == color)),
                dead=0 if area else int(np.count_nonzero(dead & (board == 3 - color))),
                prisoners=0 if area else position.prisoners(3 - color),
                tax=taxes.get(color, 0),
                bonus=sum(gets) if color == WHITE else 0.0,
                komi=gets[0] if color == WHITE else 0.0,
                handicap_bonus=gets[1] if color == WHITE else 0.0,
            )
        )
    return sides[0], sides[1]


def all_alive(position: Position) -> bool:
    """Tell whether the rules count every stone on the board as alive at the end (Tromp-Taylor, as on CGOS)."""
    rules = position.rules
    return rules.scoring == "AREA" and not rules.friendly_pass_ok


def final_score(position: Position, judgment: Judgment) -> float:
    """Return the one score that a position is given: the count, or where most of the board is open what is expected.

    The expectation is rounded to a score that the game can end with: White's points beside the board are as they are,
    and where all points are somebody's the difference on the board is as odd as the number of points.
    """
    open_points = {action for item in judgment.open if item.kind != "dame" for action in item.points}
    if judgment.finished or 2 * len(open_points) <= position.area:
        return judgment.score
    beside = judgment.white.bonus - judgment.black.bonus
    margin = judgment.expected_score + beside
    whole = position.rules.scoring == "AREA" and position.rules.tax == "NONE"
    step, odd = (2, position.area % 2) if whole else (1, 0)
    rounded = step * round((margin - odd) / step) + odd
    return float(max(-position.area, min(position.area, rounded)) - beside)


def bonus(position: Position) -> float:
    """Return what White gets beside the board: komi, the handicap bonus of the rules, half a point by the button."""
    return sum(bonus_parts(position))


def bonus_parts(position: Position) -> tuple[float, float, float]:
    """Return what White gets beside the board in parts: komi, handicap bonus, what the button is worth."""
    stones = position.handicap
    by_rule = {"0": 0, "N": stones, "N-1": max(0, stones - 1)}[position.rules.white_handicap_bonus]
    return float(position.komi), float(by_rule), _button(position)


def _button(position: Position) -> float:
    if position.rules.has_button:
        for color, action in position.moves:
            if action == position.area:  # the first pass takes it
                return 0.5 if color == WHITE else -0.5
    return 0.0


def group_tax(owners: Owners, territory: Owners) -> dict[int, int]:
    """Return color -> points taken off: two for each connected set of stones and territory, or all it has, if less."""
    height, width = owners.shape
    near = neighbours_of(width, height)
    flat, points = owners.ravel().tolist(), territory.ravel().tolist()
    seen = [color == EMPTY for color in flat]
    taxes = {BLACK: 0, WHITE: 0}
    for start in range(len(flat)):
        if seen[start]:
            continue
        seen[start] = True
        group = [start]
        for action in group:  # grows while it is walked
            for other in near[action]:
                if not seen[other] and flat[other] == flat[start]:
                    seen[other] = True
                    group.append(other)
        taxes[flat[start]] += min(2, sum(points[action] != EMPTY for action in group))
    return taxes
