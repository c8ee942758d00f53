"""Games of the net that ships against itself, played to their end: how they end, and what is said of them then.

Each is checked for what servers need: an end after two passes, no own eye filled, the same dead stones before and after
the passes, a score that a count of our own confirms, and no dead stone left where all stones count as alive. The long
test plays KEISEI_END_GAMES (30) games under each rules: `pytest -m slow tests/test_game_ends.py`.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from scoring_oracle import territory, tromp_taylor

from engine import factory
from engine.board.position import BLACK, WHITE
from engine.board.rules import parse_rules
from engine.judge.board import neighbours_of
from engine.player.net import ReadyNet
from engine.player.stop import StopToken
from engine.player.thinking import Wish

CGOS = '{"ko":"POSITIONAL","scoring":"AREA","suicide":false}'
RULES = {"chinese": "chinese", "japanese": "japanese", "tromp-taylor": "tromp-taylor", "cgos": CGOS}
ALL_COUNT = ("tromp-taylor", "cgos")
LONGEST = 1.7  # moves of a game, by the board's points
GAMES = int(os.environ.get("KEISEI_END_GAMES", "30"))


@dataclass
class Finished:
    """What a game came to."""

    moves: int = 0
    filled: list[str] = field(default_factory=list)  # own eyes
    before: tuple[object, float] | None = None  # dead stones and score when the first of the last passes was chosen
    after: tuple[object, float] | None = None


@pytest.fixture(scope="module")
def net():
    settings = factory.make_settings({"net": {"device": "cpu", "threads": 1}})
    return factory.load_judging(None, settings)


def make_player(net, rules, size, visits, seed):
    """Return a player with two random first moves on the board."""
    options = {"visits": visits, "rules": RULES[rules], "resign": False, "seed": seed}
    player = factory.make_player(factory.make_settings({"player": options}), ReadyNet(net))
    player.new_board(size, size)
    player.set_komi(7.0 if size >= 9 else 9.0)
    inner = [y * size + x for y in range(2, size - 2) for x in range(2, size - 2)]
    for color, action in zip((BLACK, WHITE), random.Random(seed).sample(inner, 2), strict=True):
        player.play(color, action)
    return player


def fills_own_eye(position, color, action):
    """Tell whether a move fills a point all of whose neighbours are own stones of chains with another liberty.

    One of its diagonals at most is the opponent's, none at an edge. Written apart from the engine's is_eye.
    """
    if action == position.area:
        return False
    board, (y, x) = position.board(), divmod(action, position.width)
    near = neighbours_of(position.width, position.height)[action]
    if any(board.flat[point] != color or position.liberties(point) == [action] for point in near):
        return False
    ring = np.pad(board, 1, constant_values=9)[y : y + 3, x : x + 3]
    corners = [int(ring[v, u]) for v in (0, 2) for u in (0, 2)]
    return corners.count(3 - color) <= (0 if 9 in corners else 1)


def said(player):
    """Return the dead stones as final_status_list would list them, and the score."""
    chains = player.final_status(token=StopToken())
    dead = sorted(stone for status, chain in chains if status == "dead" for stone in chain)
    return dead, player.final_score(token=StopToken())


def play_out(player):
    """Play to the end, looking at every move."""
    found = Finished()
    while not player.game.position.ended and player.game.position.n_moves < 3 * player.game.position.area:
        color, position = player.to_play, player.game.position.copy()
        now = said(player) if position.n_moves > position.area // 3 else None
        action = player.genmove(color, Wish()).action
        if action != position.area:
            found.before = None
            if fills_own_eye(position, color, action):
                found.filled.append(player.vertex(action))
        elif found.before is None:
            found.before = now
    found.moves, found.after = player.game.position.n_moves, said(player)
    return found


def own_count(position, dead):
    """Return Black's score of a finished board without its dead stones, by the slow reference code."""
    board = position.board().astype(np.int64)
    taken = {color: sum(int(board.flat[stone]) == color for stone in dead) for color in (BLACK, WHITE)}
    live = board.copy()
    live.flat[dead] = 0
    if position.rules.scoring == "AREA":
        return tromp_taylor(live)[1] - position.komi
    land = territory(live, seki_tax=True)
    points = int((land == BLACK).sum()) - int((land == WHITE).sum())
    prisoners = {color: taken[color] + position.prisoners(color) for color in (BLACK, WHITE)}
    return points + prisoners[WHITE] - prisoners[BLACK] - position.komi


def check(player, rules):
    found, position = play_out(player), player.game.position
    assert position.ended and found.moves <= LONGEST * position.area, found.moves
    assert not found.filled
    assert found.before == found.after
    dead, score = found.after
    assert score == own_count(position, dead)
    if rules in ALL_COUNT:
        judgment = player.judgment(token=StopToken())
        assert not judgment.dead and judgment.score == score


@pytest.mark.parametrize("rules", RULES)
def test_small_games_end_well(net, rules):
    check(make_player(net, rules, 7, 8, 5), rules)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(GAMES))
@pytest.mark.parametrize("rules", RULES)
def test_games_end_well(net, rules, seed):
    check(make_player(net, rules, 9, 24, seed), rules)


OPEN_CORNER = [
    "...OOXX.X", "OOO.OOXO.", "O.OOXXXXX", "....OXXX.", ".O.OOOOXO", "O.OXXOOOO", "OOOX.XXXO", "XOX.X.XOO", ".X.X..XXO",
]  # fmt: skip


@pytest.mark.parametrize("rules", ["japanese", "chinese"])
@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_nobody_passes_over_the_last_points(net, rules, color):
    """A1 saves or captures a stone; White leads by fifty points, so neither side's search cares."""
    player = make_player(net, rules, 9, 24, 1)
    player.new_board(9, 9)
    player.set_up([
        (BLACK if stone == "X" else WHITE, 9 * y + x)
        for y, row in enumerate(OPEN_CORNER) for x, stone in enumerate(row) if stone != "."
    ])
    assert player.vertex(player.genmove(color, Wish()).action) == "A1"


def test_the_rules_of_cgos_are_known():
    rules = parse_rules(CGOS)
    assert (rules.ko, rules.scoring, rules.suicide, rules.friendly_pass_ok) == ("POSITIONAL", "AREA", False, False)
