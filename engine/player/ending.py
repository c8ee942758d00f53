"""The end of a game: what is played instead of the search's move once the board is settled.

A settled board is one on which the judge finds nothing open. There a side (1) captures dead stones where they would
count as alive, (2) takes the points that are nobody's where they count, and (3) passes if a pass costs it nothing, so
that no game goes on for ever. Before that the search alone decides, except that no eye of one's own is filled, and that
a side which would pass plays a point first that the judge finds open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from engine.board.position import BLACK, EMPTY, Position
from engine.judge.board import neighbours_of
from engine.judge.score import all_alive
from engine.judge.types import Judgment
from engine.player.decide import cleanup_moves, opponent_just_passed, score_for
from engine.player.policy_only import is_eye
from engine.search.result import MoveInfo, SearchResult

JudgeFunction = Callable[[Position], Judgment]

LIKELY_PASS = 0.005  # policy of a pass from which the end may be near
EARLY = 0.25  # stones on the board, as a share of its points, before which no game is over unless the search passes
LATE = 0.55  # stones on the board, as a share of its points, from which it may be near in any case
FREE_WINRATE, FREE_LEAD = 0.02, 0.75  # what a pass may cost and still costs nothing
FREE_WHEN_LOST = 0.1  # the same of the winrate, for the loser
WEIGHED = 6  # visits from which a pass counts as looked at
LOST = 0.25  # winrate below which the search agrees that the game is lost
SAFE_LOSS = 1.0  # points of the judged score that capturing dead stones may cost
LEAST_SWING = 1.0  # points that hang on an open point from which it is played rather than passed


def own_eyes(position: Position, color: int) -> set[int]:
    """Return the one-point eyes of a color, but for those whose filling joins a chain in atari to another."""
    board = position.board().ravel().tolist()
    size = position.width, position.height
    return {
        action
        for action, stone in enumerate(board)
        if stone == EMPTY and is_eye(board, size, action, color) and not _saves(position, board, action, color)
    }


def _saves(position: Position, board: Sequence[int], action: int, color: int) -> bool:
    width, height = position.width, position.height
    y, x = divmod(action, width)
    near = [(y + dy, x + dx) for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0))]
    stones = [v * width + u for v, u in near if 0 <= v < height and 0 <= u < width]
    return any(board[stone] == color and len(position.liberties(stone)) == 1 for stone in stones)


def without_eyes(position: Position, color: int, ranked: list[int]) -> list[int]:
    """Return the ranked moves without those that fill an own eye; never an empty list."""
    eyes = own_eyes(position, color)
    return [action for action in ranked if action not in eyes] or [position.area]


def is_late(position: Position, color: int) -> bool:
    """Tell whether the game may be over, by the stones on the board or the opponent's pass."""
    return opponent_just_passed(position, color) or bool(np.count_nonzero(position.board()) >= LATE * position.area)


def in_haste(position: Position, color: int, ranked: list[int]) -> list[int]:
    """Return the moves when there is no time to ask the judge: no pass that loses where all stones count."""
    if ranked[0] == position.area and all_alive(position) and score_for(position, color, None) <= 0:
        return [*ranked[1:], position.area]
    return ranked


def may_be_over(position: Position, color: int, result: SearchResult) -> bool:
    """Tell whether it is worth asking the judge if the game is over."""
    area, stones = position.area, int(np.count_nonzero(position.board()))
    if result.chosen == area:
        return True
    if stones < EARLY * area:
        return False
    if opponent_just_passed(position, color) or result.move(area) is not None:
        return True
    return float(result.raw.policy[area]) >= LIKELY_PASS or stones >= LATE * area


def instead(
    position: Position,
    color: int,
    ranked: list[int],
    result: SearchResult,
    judge: JudgeFunction,
    *,
    clean_up: bool,
    friendly: bool,
    weigh_pass: Callable[[], MoveInfo | None],
    in_time: Callable[[], bool] = lambda: True,
) -> list[int]:
    """Return the ranked moves of a search, those first that the end of a game asks for.

    Args:
        ranked: all legal moves, best first, the pass among them.
        clean_up: capture all dead stones where they count as alive; else only where the win depends on it.
        friendly: pass and take nobody's points as soon as the board is settled.
        weigh_pass: searches a pass that the search did not look at.
        in_time: tells whether there is time for another judgment.
    """
    area = position.area
    judgment = judge(position)
    needed = all_alive(position) and (clean_up or score_for(position, color, None) <= 0)
    if needed and (ranked[0] == area or judgment.settled):
        moves = safe_cleanup(position, color, ranked, judgment, judge, in_time)
        if moves:
            return _first(moves, ranked)
    if ranked[0] == area and not judgment.settled:
        return _first(settling(position, color, judgment, judge, in_time), ranked)
    if not (friendly and judgment.settled and judgment.ownership is not None):
        return ranked
    free = takeable(position, color, ranked, judgment)
    if free:
        return _first(free, ranked)
    if ranked[0] == area:
        return ranked
    best, passing = result.move(ranked[0]), result.move(area)
    if best is None or (_margin(judgment, color) < 0 and best.winrate > LOST):
        return ranked
    if passing is None or passing.visits < WEIGHED:
        passing = weigh_pass()
    if passing is not None and costs_nothing(passing, best):
        return _first([area], ranked)
    return ranked


def _first(moves: list[int], ranked: list[int]) -> list[int]:
    return [*moves, *(action for action in ranked if action not in moves)]


def settling(
    position: Position, color: int, judgment: Judgment, judge: JudgeFunction, in_time: Callable[[], bool]
) -> list[int]:
    """Return a move that settles a border or a group, and after which the judge counts no less; empty if none does.

    The search passes over the last points where the game is long decided: they change neither side's chances.
    """
    before, eyes = _margin(judgment, color), own_eyes(position, color)
    for item in sorted(judgment.open, key=lambda item: -item.swing):
        action = item.black_move if color == BLACK else item.white_move
        if item.kind not in ("border", "group") or item.swing < LEAST_SWING or action is None or action in eyes:
            continue
        played = None if action == position.area else _played(position, color, action)
        if played is None:
            continue
        if not in_time():
            break
        then = judge(played[1])
        if _margin(then, color) >= before and len(then.open) < len(judgment.open):
            return [action]
    return []


def capturing_moves(position: Position, color: int, judgment: Judgment, *, bold: bool = False) -> list[int]:
    """Return the moves that help to capture dead stones of the opponent's.

    First those that capture, then those that take a liberty, then those that connect a chain which would else be in
    atari when it does. None fills an own eye or, unless bold or for an atari on the dead, puts an own chain into atari.
    """
    eyes = own_eyes(position, color)
    found: dict[int, int] = {}  # move -> rank
    for action in cleanup_moves(position, color, judgment):
        outcome = _tried(position, color, action)
        if outcome is None or action in eyes:
            continue
        captured, liberties = outcome
        if captured or bold or len(liberties) > 1 or _gives_atari(position, color, action, judgment):
            found[action] = 0 if captured else 1
            continue
        for other in liberties:
            helped = _tried(position, color, other)
            if other not in eyes and helped is not None and len(helped[1]) > 1:
                found.setdefault(other, 2)
    return sorted(found, key=lambda action: found[action])


def _gives_atari(position: Position, color: int, action: int, judgment: Judgment) -> bool:
    """Tell whether a move leaves dead stones of the opponent's one liberty, as the first of two in a last eye does."""
    after = position.copy()
    after.play(action, color)
    near = neighbours_of(position.width, position.height)[action]
    dead = [stone for stone in near if stone in judgment.dead and after.color_at(stone) == 3 - color]
    return any(len(after.liberties(stone)) == 1 for stone in dead)


def _tried(position: Position, color: int, action: int) -> tuple[int, list[int]] | None:
    """Return what a move captures and the liberties of its chain; None if it cannot be played or is suicide."""
    played = _played(position, color, action)
    return None if played is None else (played[0], played[1].liberties(action))


def _played(position: Position, color: int, action: int) -> tuple[int, Position] | None:
    """Return what a move captures and the position after it; None if it cannot be played or is suicide."""
    if not position.is_legal(action, color) or position.breaks_superko(action, color):
        return None
    after = position.copy()
    captured = after.play(action, color)
    return (captured, after) if after.color_at(action) == color else None


def safe_cleanup(
    position: Position,
    color: int,
    ranked: Sequence[int],
    judgment: Judgment,
    judge: JudgeFunction,
    in_time: Callable[[], bool] = lambda: True,
) -> list[int]:
    """Return a move that captures dead stones or takes their liberties, and loses nothing; empty if there is none.

    Without time to look at what a move leads to, the first of them is taken.
    """
    order = {action: place for place, action in enumerate(ranked)}
    before = _margin(judgment, color)
    needed = score_for(position, color, None) <= 0
    for bold in (False, True) if needed else (False,):  # a stone is risked only where the game is lost without it
        moves = capturing_moves(position, color, judgment, bold=bold)
        moves.sort(key=lambda move: (not _captures(position, color, move), order.get(move, len(order))))
        for action in moves:
            after = position.copy()
            after.play(action, color)
            if not in_time() or _margin(judge(after), color) >= before - SAFE_LOSS:
                return [action]
    return []


def _captures(position: Position, color: int, action: int) -> bool:
    return position.copy().play(action, color) > 0


def takeable(position: Position, color: int, ranked: Sequence[int], judgment: Judgment) -> list[int]:
    """Return the nobody's points that are worth a point to whoever takes them, best first."""
    if position.rules.scoring != "AREA":
        return []
    dame = set(np.flatnonzero(judgment.dame.ravel()).tolist())
    found = []
    for action in ranked:
        if action in dame and not position.breaks_superko(action, color):
            after = position.copy()
            if after.play(action, color) or len(after.liberties(action)) > 1:
                found.append(action)
    return found


def costs_nothing(passing: MoveInfo, best: MoveInfo) -> bool:
    """Tell whether a pass is as good as the best move."""
    free = FREE_WHEN_LOST if best.winrate < LOST else FREE_WINRATE
    return passing.winrate >= best.winrate - free and passing.lead >= best.lead - FREE_LEAD


def is_won(position: Position, color: int, judge: JudgeFunction) -> bool:
    """Tell whether the judge finds the board settled and won by a color; before the middle of a game never."""
    if position.n_moves < position.area // 2:
        return False
    judgment = judge(position)
    return judgment.settled and judgment.ownership is not None and _margin(judgment, color) > 0


def _margin(judgment: Judgment, color: int) -> float:
    return judgment.score if color == BLACK else -judgment.score
