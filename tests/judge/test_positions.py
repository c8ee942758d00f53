"""The judge on positions with known answers, under area and territory rules, in every orientation and color.

The net is the one that ships; small regions are read to the end, so most answers do not hang on it.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from functools import cache

import pytest
from count_oracle import count as count_by_hand
from judge_checks import consistent, position_of
from judged_case import Case
from judged_positions import CASES

from engine import factory
from engine.board.position import BLACK, WHITE, Position
from engine.board.vertex import format_vertex, parse_vertex
from engine.judge import Judge, Status

RULES = ("chinese", "japanese")
SETTINGS = {"net": {"threads": 1}, "judge": {"nodes": 2_000_000, "chain_nodes": 600_000}}
COUNTED = [case for case in CASES if case.area is not None]


@pytest.fixture(scope="module")
def judge() -> Judge:
    settings = factory.make_settings(SETTINGS)
    return Judge(factory.load(None, settings.net).evaluator, settings.judge)


@pytest.fixture(scope="module")
def judged(judge):
    """The judgment of a case under rules, made once."""
    return cache(lambda case, rules: judge.judge(position_of(case.rows, rules)))


def chains_at(position: Position, vertices: str) -> set[int]:
    """The stones of the chains at these vertices."""
    found: set[int] = set()
    for vertex in vertices.split():
        found.update(position.chain(parse_vertex(vertex, position.width, position.height)))
    return found


def cases(wanted=CASES):
    return [pytest.param(case, id=case.name) for case in wanted]


def names(actions, position):
    return sorted(format_vertex(action, position.width, position.height) for action in actions)


def test_there_are_positions_of_all_kinds():
    assert len(CASES) >= 55 and len({case.name for case in CASES}) == len(CASES)
    assert sum(case.j89 for case in CASES) >= 10 and all(case.reason for case in CASES)
    assert sum(bool(case.open) for case in CASES) >= 10 and len({len(case.rows) for case in CASES}) > 1


@pytest.mark.parametrize("case", cases(COUNTED))
def test_expected_scores_are_counted_by_hand(case: Case):
    """No expectation comes from the judge: the marks are a person's, the count is the oracle's."""
    assert count_by_hand(case.rows, case.dead, case.seki, case.filled) == (case.area, case.territory)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("case", cases())
def test_statuses(judged, case: Case, rules):
    position = position_of(case.rows, rules)
    judgment = judged(case, rules)
    assert judgment.settled == (not case.open), judgment.open
    if case.open:
        point = parse_vertex(case.open, position.width, position.height)
        concerned = [item for item in judgment.open if point in item.points]
        assert concerned, judgment.open
        for move, settles in ((case.black_move, concerned[0].black_move), (case.white_move, concerned[0].white_move)):
            assert not move or parse_vertex(move, position.width, position.height) == settles
    if case.area is None:
        return
    assert names(judgment.dead, position) == names(chains_at(position, case.dead), position)
    assert names(judgment.stones(Status.SEKI), position) == names(chains_at(position, case.seki), position)
    dame = sorted(parse_vertex(vertex, position.width, position.height) for vertex in case.dame.split())
    if not case.open:
        assert [list(item.points) for item in judgment.open] == ([dame] if dame and rules == "chinese" else [])
    assert all(judgment.dame.ravel()[dame])


@pytest.mark.parametrize("case", cases(COUNTED))
def test_scores(judged, case: Case):
    for rules, score in (("chinese", case.area), ("japanese", case.territory)):
        assert judged(case, rules).score == score, rules


def turned(rows, symmetry):
    """Turn and mirror a board."""
    if symmetry & 1:
        rows = rows[::-1]
    if symmetry & 2:
        rows = tuple(row[::-1] for row in rows)
    if symmetry & 4:
        rows = tuple("".join(column) for column in zip(*rows, strict=True))
    return tuple(rows)


@pytest.mark.parametrize("case", cases(COUNTED))
def test_the_answer_does_not_hang_on_orientation_color_or_turn(judge, case: Case):
    chance = random.Random(case.name)
    symmetry, swap, to_play = chance.randrange(1, 8), chance.random() < 0.7, chance.choice((BLACK, WHITE))
    for rules, score in (("chinese", case.area), ("japanese", case.territory)):
        judgment = judge.judge(position_of(turned(case.rows, symmetry), rules, swap=swap, to_play=to_play))
        assert judgment.score == (-score if swap else score)


@pytest.mark.parametrize("case", cases())
def test_marks_hold_together(judged, case: Case):
    for rules in (*RULES, "aga", "stone-scoring"):
        consistent(position_of(case.rows, rules), judged(case, rules))


GNU_GO = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


@pytest.mark.peer
@pytest.mark.skipif(GNU_GO is None, reason="no gnugo")
@pytest.mark.parametrize("case", cases([case for case in CASES if case.gnugo]))
def test_gnu_go_agrees(case: Case):
    position = position_of(case.rows, "japanese")
    lines = [f"boardsize {position.width}", "komi 0"]
    for action, color in enumerate(position.board().ravel().tolist()):
        if color:
            lines.append(f"play {'bw'[color - 1]} {format_vertex(action, position.width, position.height)}")
    lines += ["final_status_list dead", "quit"]
    out = subprocess.run([GNU_GO, "--mode", "gtp", "--level", "10"], input="\n".join(lines) + "\n", text=True,
                         capture_output=True, timeout=120, check=True).stdout  # fmt: skip
    answer = [text for text in out.split("\n\n") if text.strip()][-2]
    assert sorted(answer[1:].split()) == names(chains_at(position, case.dead), position)
