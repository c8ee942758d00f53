"""When to pass, when to resign, and which moves to leave out: the decisions around a search.

The search says what it likes best. Around it stand three rules. (1) After the opponent's pass, pass too if the game is
settled and won. (2) Do not fill pass-alive territory, one's own or the other's. (3) No move that repeats a position,
and no suicide, even where the rules allow it. What is played at the very end is in ending.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from engine.board.position import BLACK, WHITE, Position
from engine.board.scoring import pass_alive, score
from engine.judge.board import chains
from engine.judge.score import all_alive
from engine.judge.types import Judgment
from engine.player.game import Game
from engine.player.settings import PlayerSettings
from engine.search.result import SearchResult

JudgeFunction = Callable[[Position], Judgment]

STONE_POINTS = 13.0  # what a handicap stone is worth
GAME_LENGTH = 0.7  # moves of a game, as a share of the board's points


def opponent_just_passed(position: Position, color: int) -> bool:
    """Tell whether the last move was a pass of the other side."""
    return bool(position.n_moves) and position.moves[-1] == (3 - color, position.area)


def score_for(position: Position, color: int, judgment: Judgment | None) -> float:
    """Return the points `color` is ahead if the game ended here; every stone alive without a judgment."""
    value = score(position) if judgment is None else judgment.score
    return value if color == BLACK else -value


def should_pass_at_once(position: Position, color: int, judge: JudgeFunction, *, clean_up: bool = False) -> bool:
    """Tell whether to pass without a search: the opponent passed, and what is on the board is settled and won.

    Args:
        clean_up: do not pass while the opponent's dead stones would count as alive.
    """
    if not opponent_just_passed(position, color):
        return False
    if all_alive(position):
        won = score_for(position, color, None) > 0
        return won and not (clean_up and cleanup_moves(position, color, judge(position)))
    judgment = judge(position)
    return judgment.ownership is not None and score_for(position, color, judgment) - judgment.doubt > 0


def pointless_moves(position: Position, color: int) -> set[int]:
    """Return empty points inside pass-alive territory, where a move gains nothing.

    Where every stone counts as alive, those that lead to the capture of dead stones in one's own territory stay out.
    """
    owner = pass_alive(position).ravel()
    board = position.board().ravel()
    points = set(np.flatnonzero((owner != 0) & (board == 0)).tolist())
    if points and all_alive(position):
        for chain in chains(position):
            first = chain[0]
            if position.color_at(first) == 3 - color and owner[first] == color:
                points.difference_update(position.liberties(first))
    return points


def without_pointless(position: Position, color: int, ranked: list[int]) -> list[int]:
    """Return the ranked moves without the pointless ones, should the best be one of them; never an empty list."""
    if ranked[0] == position.area:
        return ranked
    pointless = pointless_moves(position, color)
    if ranked[0] not in pointless:
        return ranked
    return [action for action in ranked if action not in pointless] or [position.area]


def cleanup_moves(position: Position, color: int, judgment: Judgment) -> list[int]:
    """Return the legal moves beside dead stones of the opponent's, the ones with fewest liberties left first."""
    found: dict[int, int] = {}
    for chain in chains(position):
        if chain[0] in judgment.dead and position.color_at(chain[0]) == 3 - color:
            liberties = position.liberties(chain[0])
            for action in liberties:
                if position.is_legal(action, color):
                    found[action] = min(len(liberties), found.get(action, len(liberties)))
    return sorted(found, key=lambda action: (found[action], action))


def first_acceptable(game: Game, color: int, ranked: Iterable[int], settings: PlayerSettings) -> int:
    """Return the first of these legal actions that rule (3) accepts, else pass."""
    for action in ranked:
        if not settings.avoid_repetition:
            return action
        if not (game.repeats(color, action) or game.is_suicide(color, action)):
            return action
    return game.position.area


class Resignation:
    """Counts hopeless moves in a row, by side."""

    def __init__(self) -> None:
        self._hopeless = {1: 0, 2: 0}

    def reset(self) -> None:
        """Forget everything: another game."""
        self._hopeless = {1: 0, 2: 0}

    def note(self, color: int, result: SearchResult, position: Position, settings: PlayerSettings) -> bool:
        """Take the figures of one move, `color`'s view; return whether it is time to resign."""
        scored = result.lead != 0.0 or result.score_stdev != 0.0  # nets without a score say nothing of the lead
        forgiven = handicap_left(position) if color == WHITE else 0.0
        behind = result.lead < -(settings.resign_lead + forgiven) if scored else True
        hopeless = result.winrate < settings.resign_winrate and behind
        self._hopeless[color] = self._hopeless[color] + 1 if hopeless else 0
        if not settings.resign or self._hopeless[color] < settings.resign_moves:
            return False
        return not in_handicap_opening(position, settings)


def handicap_stones(position: Position) -> int:
    """Return the stones that Black put on the board before White's first, however they came there; 0 for one stone.

    Some servers send them as plays of Black, with or without White's passes between them.
    """
    stones = [color for color, _ in position.setup_stones]
    if stones.count(WHITE):
        return 0
    count = len(stones)
    for color, action in position.moves:
        if action == position.area:
            continue
        if color == WHITE:
            break
        count += 1
    return count if count > 1 else 0


def handicap_left(position: Position) -> float:
    """Return how many points White may be behind at this move of a handicap game and still be on its way.

    The stones say how much weaker Black is: what they are worth is made up for evenly, move by move, in a fair game.
    """
    left = max(0.0, 1.0 - position.n_moves / (GAME_LENGTH * position.area))
    return STONE_POINTS * handicap_stones(position) * left


def in_handicap_opening(position: Position, settings: PlayerSettings) -> bool:
    """Tell whether this is the opening of a handicap game, where being behind means nothing."""
    return handicap_stones(position) > 0 and position.n_moves < settings.resign_handicap * position.area
