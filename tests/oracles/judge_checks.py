"""What the tests of the judge share: boards from rows, and what must hold in any judgment."""

from __future__ import annotations

from engine.board.position import BLACK, WHITE, Position
from engine.judge import Judgment
from engine.judge.score import count


def position_of(rows, rules, *, swap=False, to_play=BLACK) -> Position:
    width = len(rows[0])
    position = Position(width, len(rows), rules=rules, komi=0)
    colors = {"X": WHITE if swap else BLACK, "O": BLACK if swap else WHITE}
    stones = [(colors[c], y * width + x) for y, row in enumerate(rows) for x, c in enumerate(row) if c != "."]
    position.set_up(stones, to_play)
    return position


def consistent(position: Position, judgment: Judgment) -> None:
    """Check everything that must hold in any judgment."""
    board = position.board()
    seen = set()
    for chain in judgment.chains:
        assert list(chain.stones) == position.chain(chain.stones[0])
        assert judgment.groups[chain.group].status == chain.status
        assert 0.0 <= chain.confidence <= 1.0
        seen.update(chain.stones)
    assert len(seen) == int((board > 0).sum())
    dead = judgment.dead
    width = position.width
    for action in range(position.area):
        y, x = divmod(action, width)
        color = int(board[y, x])
        sign = {BLACK: 1, WHITE: -1}.get(color, 0)
        if action in dead:
            assert judgment.owner[y, x] == -sign and judgment.territory[y, x] == -sign
        elif color:
            assert judgment.owner[y, x] == sign and judgment.territory[y, x] == 0
        marks = (judgment.territory[y, x] != 0, judgment.dame[y, x], color != 0 and action not in dead)
        assert sum(map(bool, marks)) <= 1
        if judgment.territory[y, x] and position.rules.scoring == "TERRITORY":
            assert not judgment.seki_points[y, x]
        for ny, nx in ((y, x + 1), (y + 1, x)):  # territory regions are closed
            if ny < position.height and nx < width:
                pair = {int(judgment.territory[y, x]), int(judgment.territory[ny, nx])}
                assert pair != {1, -1}
                for a, b in (((y, x), (ny, nx)), ((ny, nx), (y, x))):
                    if judgment.territory[a] and board[b] and b[0] * width + b[1] not in dead:
                        assert {BLACK: 1, WHITE: -1}[int(board[b])] == judgment.territory[a]
    land = judgment.territory.copy()
    land[land < 0] = WHITE
    mask = board < 0
    for action in dead:
        mask[divmod(action, width)] = True
    black, white = count(position, mask, land.astype(board.dtype))
    assert (black, white) == (judgment.black, judgment.white)
    assert round(black.total - white.total, 4) == judgment.score
