"""Lines of likely moves: what is heard along them, that they keep the rules, repeat themselves and end in time."""

from __future__ import annotations

import numpy as np
import pytest
from judge_checks import consistent, position_of

from engine.board.position import BLACK, WHITE, Position
from engine.evaluator_fakes import HashEvaluator, UniformEvaluator
from engine.judge import Judge
from engine.judge import playing_on as module
from engine.judge.playing_on import DEPTH, LINES, PlayingOn, draw
from engine.judge.settings import JudgeSettings
from engine.judge.types import Opinion


class Source:
    """Says of every position that Black has the share of the board that the moves are, and keeps what it was asked."""

    name = "source"

    def __init__(self, start: Position) -> None:
        self.asked: list[Position] = []
        self._start = start.n_moves

    def supports_size(self, width: int, height: int) -> bool:
        return True

    def opinion(self, position: Position) -> Opinion:
        self.asked.append(position.copy())
        ply = position.n_moves - self._start
        owner = np.full((position.height, position.width), ply / 100.0, np.float32)
        return Opinion(owner, winrate=0.9, score_mean=float(ply), score_stdev=4.0)


class Passing(UniformEvaluator):
    """A policy that passes."""

    def evaluate(self, spatial, globals_, *, ownership=False):
        evaluation = super().evaluate(spatial, globals_, ownership=ownership)
        evaluation.policy_logits[:, -1] = 20.0
        return evaluation


BEFORE = Opinion(np.full((9, 9), -1.0, np.float32), winrate=0.2, score_mean=-7.0, score_stdev=1.0, name="before")


def refined(evaluator, visits=2 * DEPTH * LINES, position=None, before=BEFORE):
    position = position or Position(9, rules="chinese", komi=0.5)
    source = Source(position)
    return PlayingOn(evaluator, source, seconds=None, visits=visits).refined(position, before), source.asked


def test_the_word_of_the_source_along_the_lines_counts():
    """The net says 0 everywhere, the source 4, 8 and 12; and Black's half of the lines is as long as White's."""
    opinion, asked = refined(UniformEvaluator(value=0.5))
    assert np.allclose(opinion.owner, (-1.0 + 0.08) / 2.0)
    assert opinion.score_mean == pytest.approx((-7.0 + 4.0) / 2.0) and opinion.score_stdev == 4.0
    assert opinion.winrate == pytest.approx(0.5)  # 0.75 for whoever is to move
    assert [game.n_moves for game in asked].count(12) == 4 * LINES
    assert {game.moves[0][0] for game in asked} == {BLACK, WHITE}
    assert opinion.territory is None and opinion.name == "before"


@pytest.mark.parametrize("visits", [1, 12, 30, 200])
def test_with_a_visit_limit_it_repeats_itself(visits):
    first, second = (refined(HashEvaluator(max_batch=8), visits) for _ in range(2))
    assert np.array_equal(first[0].owner, second[0].owner) and first[0].score_mean == second[0].score_mean
    assert [game.moves for game in first[1]] == [game.moves for game in second[1]]
    lines = sum(game.n_moves == 4 for game in first[1])
    assert lines >= 2 and len({tuple(game.moves) for game in first[1]}) == len(first[1])


def test_lines_that_end_at_once_change_nothing():
    opinion, asked = refined(Passing())
    assert not asked and np.array_equal(opinion.owner, BEFORE.owner)
    assert (opinion.winrate, opinion.score_mean, opinion.score_stdev) == (0.2, -7.0, 1.0)


def test_a_line_begins_where_the_game_is_and_keeps_its_history():
    """On a board this small everything repeats; a move against positional superko would be refused by `play`."""
    position = Position(3, 2, rules="tromp-taylor", komi=0.0)
    for action in (0, 1, 4, 3):
        position.play(action)
    before = Opinion(np.zeros((2, 3), np.float32))
    opinion, asked = refined(HashEvaluator(spread=1), 600, position, before)
    assert asked and all(game.moves[:4] == position.moves for game in asked)
    assert position.n_moves == 4 and opinion.owner.shape == (2, 3) and opinion.score_mean is not None


@pytest.mark.parametrize(("calls", "heard"), [(0, False), (3, False), (40, True)])
def test_lines_stop_when_the_time_is_over(monkeypatch, calls, heard):
    """The clock here counts how often it was looked at; what was heard until then counts."""
    looks = iter(range(10**6))
    monkeypatch.setattr(module, "_over", lambda deadline: next(looks) >= calls)
    position = Position(9)
    source = Source(position)
    opinion = PlayingOn(UniformEvaluator(), source, seconds=1.0, visits=None).refined(position, BEFORE)
    assert next(looks) < calls + 10
    assert (opinion.score_mean != -7.0) == bool(source.asked) == heard


def test_moves_are_legal_and_likely():
    rng = np.random.default_rng(1)
    logits = np.log(np.array([0.5, 0.25, 0.235, 0.015, 1e-9], np.float32))
    drawn = [draw(logits, np.array([0, 1, 1, 1, 1], np.uint8), rng) for _ in range(300)]
    assert set(drawn) <= {1, 2, 3} and drawn.count(1) > drawn.count(2) > 0
    assert {draw(logits, np.array([0, 0, 0, 0, 1], np.uint8), rng) for _ in range(5)} == {4}
    flat = np.zeros(362, np.float32)  # each below the least share
    assert len({draw(flat, np.ones(362, np.uint8), rng) for _ in range(50)}) > 30


def test_a_judge_with_time_judges_what_is_open_by_the_lines():
    position = position_of(("...X.O...",) * 9, "chinese")
    plain = Judge(HashEvaluator(), JudgeSettings(nodes=0)).judge(position)
    judgment = Judge(HashEvaluator(), JudgeSettings(nodes=0, visits=48)).judge(position)
    assert judgment.source.endswith("searched") and judgment.winrate != plain.winrate
    assert judgment.winrate == Judge(HashEvaluator(), JudgeSettings(nodes=0, visits=48)).judge(position).winrate
    consistent(position, judgment)
