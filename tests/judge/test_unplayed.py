"""Ground where nothing was played is open, however sure a net is, and what final_score says of it."""

from __future__ import annotations

import numpy as np
import pytest
from judge_checks import position_of

from engine.board.handicap import fixed_handicap
from engine.board.position import BLACK, WHITE, Position
from engine.judge import Opinion, judge
from engine.judge.asking import GivenOpinion
from engine.judge.score import final_score


class Sure:
    """Gives Black every point, and expects so many points."""

    name = "sure"

    def __init__(self, expected):
        self.expected = expected

    def supports_size(self, width, height):
        return True

    def opinion(self, position):
        owner = np.ones((position.height, position.width), np.float32)
        return Opinion(owner=owner, winrate=0.97, score_mean=self.expected, score_stdev=5.0)


@pytest.mark.parametrize(("size", "stones"), [(9, 2), (9, 3), (9, 4), (9, 5), (7, 2), (7, 4), (13, 2), (19, 9)])
def test_handicap_stones_alone_finish_nothing(size, stones):
    position = Position(size, komi=0.5, rules="chinese")
    position.set_up([(BLACK, action) for action in fixed_handicap(stones, size, size)], WHITE)
    judgment = judge(position, Sure(20.0))
    assert not judgment.finished and not judgment.settled and judgment.winrate == 0.97
    assert judgment.expected_score == 20.0 and judgment.score_low < 20.0 < judgment.score_high
    assert len(judgment.open[0].points) == size * size - stones
    assert judgment.score == size * size - 0.5 - stones  # as it stands
    assert not judge(position).finished  # nor without a net


@pytest.mark.parametrize(("rules", "expected", "score"), [
    ("chinese", 17.6, 17.5),  # B 49.5 of 81: an odd difference on an odd board
    ("chinese", 18.6, 19.5), ("japanese", 18.6, 18.5), ("chinese", 99.0, 79.5), ("chinese", -99.0, -82.5),
])  # fmt: skip
def test_the_final_score_of_an_opening_is_a_possible_one(rules, expected, score):
    position = Position(9, komi=1.5, rules=rules)
    position.play(40, BLACK)
    judgment = judge(position, Sure(expected))
    assert final_score(position, judgment) == score and not judgment.finished


def test_one_dead_stone_does_not_finish_the_game():
    position = Position(9, komi=0.5, rules="chinese")
    position.set_up([(BLACK, 20), (BLACK, 60), (WHITE, 0)], WHITE)
    assert not judge(position, Sure(30.0)).finished


def test_a_wall_without_an_opponent_closes_nothing_in():
    position = position_of(["...X...", "...X...", "...X...", "...X...", "...X...", "...X...", "...X..."], "chinese")
    judgment = judge(position, Sure(10.0))
    assert [len(item.points) for item in judgment.open] == [21, 21] and judgment.expected_score == 10.0


@pytest.mark.parametrize("rows", [
    [".X.X.", "XXXXX", ".....", ".....", "....."],
    ["..XO...", "..XO...", "..XO...", "..XO...", "..XO...", "..XO...", "..XO..."],
])
def test_what_is_settled_stays_so(rows):
    """Beside unconditional life there may be room; a closed border is finished."""
    position = position_of(rows, "chinese")
    board = position.board()
    owner = np.ones(board.shape)
    if (board == WHITE).any():
        owner[:, 3:] = -1.0
    judgment = judge(position, GivenOpinion(owner))
    assert judgment.finished == bool((board == WHITE).any())
    alive = position_of(["XXXXX", "X.XXX", "XXXXX", "XXX.X", "XXXXX"], "chinese")
    assert judge(alive, GivenOpinion(np.ones((5, 5)))).finished
