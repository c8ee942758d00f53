"""Where handicap stones go: GTP's fixed table, and as many stones as wanted on any board.

Points come as actions in row-major order from the top left, which is also the order KataGo answers in. Nothing here
changes a position.
"""

from __future__ import annotations

from engine.errors import EngineError

# Stones of GTP's table on a grid of low, middle and high lines: (column, row), rows counted from the bottom.
_LOW, _MIDDLE, _HIGH = 0, 1, 2
_CORNERS = [(_LOW, _LOW), (_HIGH, _HIGH), (_LOW, _HIGH), (_HIGH, _LOW)]
_SIDES = [(_LOW, _MIDDLE), (_HIGH, _MIDDLE)]
_ENDS = [(_MIDDLE, _LOW), (_MIDDLE, _HIGH)]
_CENTRE = [(_MIDDLE, _MIDDLE)]
_TABLE = {
    2: _CORNERS[:2],
    3: _CORNERS[:3],
    4: _CORNERS,
    5: _CORNERS + _CENTRE,
    6: _CORNERS + _SIDES,
    7: _CORNERS + _SIDES + _CENTRE,
    8: _CORNERS + _SIDES + _ENDS,
    9: _CORNERS + _SIDES + _ENDS + _CENTRE,
}


def max_fixed_handicap(width: int, height: int) -> int:
    """Return how many stones the fixed table has for a board: 0 under 7 lines, 4 on even sides or 7 lines, else 9."""
    if min(width, height) < 7:
        return 0
    return 4 if min(width, height) == 7 or width % 2 == 0 or height % 2 == 0 else 9


def max_free_handicap(width: int, height: int) -> int:
    """Return how many stones free handicap may have: one point stays empty."""
    return width * height - 1


def fixed_handicap(n: int, width: int, height: int) -> list[int]:
    """Return GTP's fixed handicap: 3-3 points below 13 lines, else 4-4 points, with sides and centre.

    Source: GTP 2 specification, section 4.1.1. Raises EngineError if the table has no such handicap.
    """
    if not 2 <= n <= max_fixed_handicap(width, height):
        raise EngineError(f"invalid handicap: {n} fixed stones on a {width}x{height} board")
    columns, rows = _lines(width), _lines(height)
    return sorted((height - 1 - rows[row]) * width + columns[column] for column, row in _TABLE[n])


def _lines(side: int) -> tuple[int, int, int]:
    low = 2 if side < 13 else 3
    return low, side // 2, side - 1 - low


def free_handicap(n: int, width: int, height: int) -> list[int]:
    """Return n different points for Black's free handicap, on any board.

    Up to the fixed table's size these are its points; further stones are spread, each as far as can be from the others,
    first on the third line and above, then below. Raises EngineError unless 1 <= n <= area - 1.
    """
    if not 1 <= n <= max_free_handicap(width, height):
        raise EngineError(f"invalid handicap: {n} stones on a {width}x{height} board")
    chosen: list[int] = []
    start = min(n, max_fixed_handicap(width, height))
    if start >= 2:
        chosen = fixed_handicap(start, width, height)
    while len(chosen) < n:
        chosen.append(_most_open(chosen, width, height))
    return sorted(chosen)


def _most_open(chosen: list[int], width: int, height: int) -> int:
    taken = [divmod(action, width) for action in chosen]

    def openness(action: int) -> tuple[int, int, int]:
        y, x = divmod(action, width)
        line = min(x, width - 1 - x, y, height - 1 - y)
        room = min(((y - row) ** 2 + (x - column) ** 2 for row, column in taken), default=0)
        off_centre = (2 * y - height + 1) ** 2 + (2 * x - width + 1) ** 2
        return min(line, 2), room, -off_centre

    occupied = set(chosen)
    return max((action for action in range(width * height) if action not in occupied), key=openness)
