"""Draws a board in text, for people who look at it in a console."""

from __future__ import annotations

from engine.board.vertex import column_name, format_vertex
from engine.player.game import Game

_STONES = (".", "X", "O")


def draw(game: Game) -> str:
    """Return the board with coordinates, the last move in parentheses, whose turn it is, prisoners and komi."""
    position = game.position
    width, height = position.width, position.height
    board = position.board()
    last = position.moves[-1] if position.n_moves else None
    columns = "   " + "".join(f" {column_name(x)}" for x in range(width))
    lines = [columns]
    for y in range(height):
        gaps = [" "] * (width + 1)
        if last is not None and last[1] // width == y:
            gaps[last[1] % width], gaps[last[1] % width + 1] = "(", ")"
        row = "".join(gaps[x] + _point(int(board[y, x]), x, y, width, height) for x in range(width))
        lines.append(f"{height - y:>2} {row}{gaps[width]}{height - y}")
    lines.append(columns)
    move = "none" if last is None else f"{_side(last[0])} {format_vertex(last[1], width, height)}"
    lines.append(f"{_side(position.to_play)} to play, last move {move}, komi {position.komi:g}")
    lines.append(f"captured: {position.prisoners(1)} black, {position.prisoners(2)} white stones")
    return "\n".join(lines)


def _point(color: int, x: int, y: int, width: int, height: int) -> str:
    star = color == 0 and x in _star_lines(width) and y in _star_lines(height)
    return "+" if star else _STONES[color]


def _side(color: int) -> str:
    return "Black (X)" if color == 1 else "White (O)"


def _star_lines(size: int) -> tuple[int, ...]:
    if size < 7:
        return ()
    edge = 2 if size < 13 else 3
    if size % 2 == 0 or size < 9:
        return edge, size - 1 - edge
    return edge, size // 2, size - 1 - edge
