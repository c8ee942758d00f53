"""The judge on positions with known answers, under area and territory rules, in every orientation and color.

The net is the one that ships; small regions are read to the end, so most answers do not hang on it.
"""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest
from judge_checks import consistent, position_of
from judged_positions import CASES, Case

from engine import factory
from engine.board.position import BLACK, WHITE, Position
from engine.board.vertex import format_vertex, parse_vertex
from engine.judge import Judge, Status

RULES = ("chinese", "japanese")
FINISHED = [case for case in CASES if not case.open]


@pytest.fixture(scope="module")
def judge() -> Judge:
    settings = factory.make_settings({"net": {"threads": 1}, "judge": {"nodes": 2_000_000, "chain_nodes": 600_000}})
    return Judge(factory.load(None, settings.net).evaluator, settings.judge)


def chains_at(position: Position, vertices: str) -> set[int]:
    """The stones of the chains at these vertices."""
    found: set[int] = set()
    for vertex in vertices.split():
        found.update(position.chain(parse_vertex(vertex, position.width, position.height)))
    return found


def cases(wanted=CASES):
    return [
        pytest.param(case, id=case.name,
                     marks=[pytest.mark.xfail(strict=True, reason=case.unfair)] if case.unfair else [])
        for case in wanted
    ]  # fmt: skip


def names(actions, position):
    return sorted(format_vertex(action, position.width, position.height) for action in actions)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("case", cases())
def test_statuses(judge, case: Case, rules):
    position = position_of(case.rows, rules)
    judgment = judge.judge(position)
    assert judgment.settled == (not case.open), judgment.open
    if case.open:
        point = parse_vertex(case.open, position.width, position.height)
        concerned = [item for item in judgment.open if point in item.points]
        assert concerned, judgment.open
        for move, settles in ((case.black_move, concerned[0].black_move), (case.white_move, concerned[0].white_move)):
            assert not move or parse_vertex(move, position.width, position.height) == settles
        return
    assert names(judgment.dead, position) == names(chains_at(position, case.dead), position)
    assert names(judgment.stones(Status.SEKI), position) == names(chains_at(position, case.seki), position)
    dame = sorted(parse_vertex(vertex, position.width, position.height) for vertex in case.dame.split())
    assert [list(item.points) for item in judgment.open] == ([dame] if dame and rules == "chinese" else [])
    assert all(judgment.dame.ravel()[dame])


@pytest.mark.parametrize("case", cases(FINISHED))
def test_scores(judge, case: Case):
    for rules, score in (("chinese", case.area), ("japanese", case.territory)):
        assert judge.judge(position_of(case.rows, rules)).score == score, rules


def turned(rows, symmetry):
    """Turn and mirror a board."""
    if symmetry & 1:
        rows = rows[::-1]
    if symmetry & 2:
        rows = tuple(row[::-1] for row in rows)
    if symmetry & 4:
        rows = tuple("".join(column) for column in zip(*rows, strict=True))
    return tuple(rows)


@pytest.mark.parametrize("case", [case for case in FINISHED if not case.unfair], ids=lambda case: case.name)
def test_the_answer_does_not_hang_on_orientation_color_or_turn(judge, case: Case):
    chance = random.Random(case.name)
    symmetry, swap, to_play = chance.randrange(1, 8), chance.random() < 0.7, chance.choice((BLACK, WHITE))
    for rules, score in (("chinese", case.area), ("japanese", case.territory)):
        judgment = judge.judge(position_of(turned(case.rows, symmetry), rules, swap=swap, to_play=to_play))
        assert judgment.score == (-score if swap else score)


@pytest.mark.parametrize("case", [case for case in CASES if not case.unfair], ids=lambda case: case.name)
def test_marks_hold_together(judge, case: Case):
    for rules in (*RULES, "aga", "stone-scoring"):
        position = position_of(case.rows, rules)
        consistent(position, judge.judge(position))


GNU_GO = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


@pytest.mark.peer
@pytest.mark.skipif(GNU_GO is None, reason="no gnugo")
@pytest.mark.parametrize("case", [case for case in FINISHED if case.gnugo], ids=lambda case: case.name)
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
