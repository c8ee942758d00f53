"""Rows of groups that share their last liberties: when nobody moves there, and when somebody may."""

from __future__ import annotations

import pytest
from judge_checks import position_of
from judged_positions import CASES

from engine.board.scoring import pass_alive
from engine.board.vertex import parse_vertex
from engine.judge import Judge, Status
from engine.judge.asking import GivenOpinion
from engine.judge.board import Board
from engine.judge.standoffs import nobody_moves, row_of

FIVE = next(case for case in CASES if case.name.startswith("five chains")).rows


def taken_apart(rows):
    position = position_of(rows, "chinese")
    board, owner = Board(position), pass_alive(position).ravel()
    safe = {chain for chain, stones in enumerate(board.chains) if owner[stones[0]] == board.color_of(chain)}
    return position, board, safe


def changed(rows, **marks):
    """Return rows with other marks at some vertices."""
    cells = [list(row) for row in rows]
    for vertex, mark in marks.items():
        y, x = divmod(parse_vertex(vertex, len(rows[0]), len(rows)), len(rows[0]))
        cells[y][x] = mark
    return tuple("".join(row) for row in cells)


def test_a_row_is_what_shares_its_liberties():
    position, board, safe = taken_apart(FIVE)
    middle = board.chain_of[parse_vertex("J17", 17, 17)]
    row = row_of(board, middle, safe)
    assert row is not None and sorted(board.color_of(chain) for chain in row) == [1, 1, 1, 2, 2]
    assert all(row_of(board, chain, safe) == row for chain in row)
    assert nobody_moves(position, board, row, safe, lambda *_: True)
    assert not nobody_moves(position, board, row, safe, lambda *_: False)  # who takes must stand


@pytest.mark.parametrize("marks", [{"B17": "."}, {"Q17": "."}, {"D16": "."}])
def test_who_can_be_filled_from_outside_is_in_no_row(marks):
    _, board, safe = taken_apart(changed(FIVE, **marks))
    assert row_of(board, board.chain_of[parse_vertex("J17", 17, 17)], safe) is None


@pytest.mark.parametrize("rules", ["chinese", "japanese"])
def test_the_row_stands_though_the_opinion_gives_it_up(rules):
    """Behind walls that live unconditionally it is a proof."""
    position = position_of(FIVE, rules)
    lives = position.board().astype("float32")
    lives[lives == 2] = -1.0
    given_up = [action for vertex in ("G17", "L17") for action in position.chain(parse_vertex(vertex, 17, 17))]
    lives.ravel()[given_up] = 0.99
    judgment = Judge(GivenOpinion(lives)).judge(position)
    assert not judgment.dead and len(judgment.stones(Status.SEKI)) == 20 and not judgment.open
