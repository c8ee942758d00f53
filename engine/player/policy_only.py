"""Play with a net that chooses moves but judges nothing: its best move that is of use, and a pass when none is left.

Nobody says here who is ahead, so such a player never resigns. The game is over when no border is open: every move of
use would be played inside an area that stones of one color alone touch. Where every stone counts as alive
(Tromp-Taylor) a side that is behind goes on all the same and captures what it can.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.board.position import BLACK, EMPTY, WHITE, Position
from engine.judge.board import neighbours_of
from engine.judge.score import all_alive
from engine.player.decide import pointless_moves, score_for


def useful_moves(position: Position, color: int, ranked: Sequence[int]) -> list[int]:
    """Return the ranked moves without passes, moves into pass-alive area and moves that fill an own eye."""
    pointless = pointless_moves(position, color)
    board = position.board().ravel().tolist()
    size = position.width, position.height
    return [
        action
        for action in ranked
        if action < position.area and action not in pointless and not is_eye(board, size, action, color)
    ]


def is_eye(board: Sequence[int], size: tuple[int, int], action: int, color: int) -> bool:
    """Tell whether an empty point is a one-point eye of a color that cannot be taken as it stands.

    Own stones (or the edge) on all sides, and the opponent on at most one of the diagonals, on none at an edge.

    Args:
        board: colors by action.
        size: width, height.
    """
    width, height = size
    if any(board[near] != color for near in neighbours_of(width, height)[action]):
        return False
    y, x = divmod(action, width)
    diagonals = [(y + dy, x + dx) for dy in (-1, 1) for dx in (-1, 1)]
    inside = [v * width + u for v, u in diagonals if 0 <= v < height and 0 <= u < width]
    hostile = sum(board[near] == 3 - color for near in inside)
    return hostile <= (1 if len(inside) == 4 else 0)


def open_points(position: Position) -> set[int]:
    """Return the empty points of areas that stones of both colors touch; all of them while a color has no stone."""
    board = position.board().ravel().tolist()
    neighbours = neighbours_of(position.width, position.height)
    found: set[int] = set()
    seen: set[int] = set()
    if BLACK not in board or WHITE not in board:
        return {action for action, stone in enumerate(board) if stone == EMPTY}
    for start, stone in enumerate(board):
        if stone != EMPTY or start in seen:
            continue
        seen.add(start)
        area, colors = [start], set()
        for point in area:  # grows while it is walked
            for near in neighbours[point]:
                if board[near] != EMPTY:
                    colors.add(board[near])
                elif near not in seen:
                    seen.add(near)
                    area.append(near)
        if len(colors) == 2:
            found.update(area)
    return found


def moves_to_play(position: Position, color: int, ranked: Sequence[int]) -> list[int]:
    """Return the moves worth playing, best first; an empty list means a pass.

    Args:
        ranked: all legal moves in the net's order, pass anywhere among them.
    """
    useful = useful_moves(position, color, ranked)
    if not open_points(position).intersection(useful):
        behind = all_alive(position) and score_for(position, color, None) <= 0
        return useful if behind else []
    return useful
