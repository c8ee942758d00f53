"""Proofs: against an independent alpha-beta on tiny boards, what counts as the end of a game, and what never does."""

import contextlib

import numpy as np
import pytest
from alpha_beta import TooLarge, winner_by_force

from engine.board.position import BLACK, Position
from engine.evaluator_fakes import UniformEvaluator
from engine.search.root import Limits, RootOptions


@pytest.mark.parametrize("rules", ["tromp-taylor", '{"ko":"SITUATIONAL","suicide":false}'])
@pytest.mark.parametrize("komi", [-3.5, 0.0, 0.5, 1.0, 1.5, 3.5])
def test_two_by_two_is_what_alpha_beta_says(make, rules, komi):
    searcher, position = make(2, rules=rules, komi=komi, batch_size=2)
    result = searcher.search(Limits(visits=20000))
    expected = winner_by_force(position)
    if expected == "draw":  # the search settles down on a drawing line and need not refute every other move
        assert result.proven in (None, "draw")
        assert result.winrate == pytest.approx(0.5, abs=0.05)
    else:
        assert result.proven == expected
        assert result.winrate == {"win": 1.0, "loss": 0.0}[result.proven]


def test_three_by_two_is_even(make):
    """The value of 2x3 under area rules is 0 (Tromp, "The game of Go aka Weiqi"), so Black cannot win by one point."""
    searcher, _ = make(3, 2, rules="tromp-taylor", komi=0.5, evaluator=UniformEvaluator(), batch_size=4)
    assert searcher.search(Limits(visits=100000)).proven == "loss"


def test_three_by_three_endings_are_what_alpha_beta_says(make):
    decided = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        position = Position(3, rules="tromp-taylor", komi=(-0.5, 3.5, 2.0)[seed % 3])
        for _ in range(8):
            position.play(int(rng.choice(np.flatnonzero(position.legal_mask()[:-1]))))
        searcher, _ = make(3, batch_size=4)
        searcher.set_position(position)
        result = searcher.search(Limits(visits=2000))
        if result.proven:
            with contextlib.suppress(TooLarge):
                assert result.proven == winner_by_force(position, 1500)
                decided.add((seed, result.proven))
    assert len(decided) >= 4 and {proof for _, proof in decided} >= {"win", "loss"}


TWO_EYES = """
.XXO.
XXXOO
.XXO.
XXXOO
.XXO.
"""


def set_up(text, rules, komi, to_play=BLACK):
    rows = text.split()
    position = Position(len(rows[0]), len(rows), rules=rules, komi=komi)
    stones = [(".XO".index(c), y * len(row) + x) for y, row in enumerate(rows) for x, c in enumerate(row) if c != "."]
    position.set_up(stones, to_play=to_play)
    return position


def after_a_pass(make, position, value=0.25):
    """Let Black pass and search White's answer, a pass alone; return what is known of it, and the whole result."""
    position.play(position.area)
    searcher, _ = make(5, evaluator=UniformEvaluator(value=value))
    searcher.set_position(position)
    result = searcher.search(Limits(visits=5), root=RootOptions(allow=(position.area,)))
    return result.moves[0], result


@pytest.mark.parametrize("rules", ["tromp-taylor", "chinese", "chinese-ogs", "japanese", "aga", "new-zealand"])
def test_a_settled_board_is_proven_under_all_these_rules(make, rules):
    margin = 0 if rules == "japanese" else 5  # Black: 12 stones, 3 eyes; White: 7 stones, 3 eyes
    for komi, proof in ((margin - 0.5, "loss"), (margin + 0.5, "win"), (float(margin), "draw")):
        move, result = after_a_pass(make, set_up(TWO_EYES, rules, komi))
        assert move.proven == proof
        assert result.proven == ("win" if proof == "win" else None)  # White's other moves were never looked at
        assert move.score_mean == pytest.approx(komi - margin)
        assert move.winrate == {"win": 1.0, "loss": 0.0, "draw": 0.5}[proof]


@pytest.mark.parametrize(("rules", "proven"), [
    ("tromp-taylor", True), ("chinese", False), ("chinese-ogs", False), ("japanese", False), ("korean", False),
    ("stone-scoring", False), ("aga", False),
])
def test_an_open_board_is_proven_only_where_every_stone_counts_as_alive(make, rules, proven):
    open_board = set_up("..... .XX.. ...O. .O... .....", rules, 0.5)
    move, _ = after_a_pass(make, open_board)
    assert (move.proven is not None) == proven


def test_taxes_are_left_to_the_evaluator(make):
    position = set_up(TWO_EYES, "stone-scoring", 0.5)
    assert after_a_pass(make, position)[0].proven is None


def test_an_end_that_must_be_judged_takes_the_evaluators_value(make):
    open_board = set_up("..... .XX.. ...O. .O... .....", "chinese", 0.5)
    move, result = after_a_pass(make, open_board, value=0.5)
    assert result.visits == 5 and result.stats.terminal_visits == 3  # the end is evaluated once and visited four times
    assert move.winrate == pytest.approx(0.25)


def test_a_pass_that_loses_is_seen(make):
    """Black is ahead only if the white stone is dead; counted alive, as Tromp-Taylor counts, a pass loses the game."""
    position = set_up("..... XXXXX ...O. XXXXX .....", "tromp-taylor", 22.5)
    searcher, _ = make(5, evaluator=UniformEvaluator(), batch_size=2)
    searcher.set_position(position)
    result = searcher.search(Limits(visits=4000))
    assert result.best_action != position.area
    assert result.move(position.area).proven == "loss"


def position_before_a_repetition(seed):
    """Play at random on 2x3 under simple ko until a move would bring back an earlier position; return both."""
    rng = np.random.default_rng(seed)
    position = Position(2, 3, rules="chinese", komi=0.5)
    seen = set()
    while True:
        seen.add((position.board().tobytes(), position.to_play))
        moves = np.flatnonzero(position.legal_mask()[:-1])
        for action in moves:
            after = position.copy()
            after.play(int(action))
            if (after.board().tobytes(), after.to_play) in seen:
                return position, int(action)
        position.play(int(rng.choice(moves)) if len(moves) else position.area)


@pytest.mark.parametrize("seed", range(4))
def test_a_repetition_under_simple_ko_is_no_result_and_no_proof(make, seed):
    position, action = position_before_a_repetition(seed)
    searcher, _ = make(2, 3, evaluator=UniformEvaluator(value=0.9), batch_size=2)
    searcher.set_position(position)
    result = searcher.search(Limits(visits=10), root=RootOptions(allow=(action,)))
    assert result.visits == 10 and result.stats.terminal_visits == 9
    assert (result.moves[0].winrate, result.moves[0].proven, result.moves[0].pv) == (0.5, None, [action])
    position.set_rules("tromp-taylor")
    assert position.breaks_superko(action)
    searcher.set_position(position)
    assert action not in {info.action for info in searcher.search(Limits(visits=200)).moves}


def test_decided_moves_are_left_alone(make):
    searcher, _ = make(2, rules="tromp-taylor", komi=0.5, batch_size=1, stop_when_proven=False)
    result = searcher.search(Limits(visits=2000))
    assert result.proven == "win" and result.visits == 2000
    assert result.moves[0].proven == "win" and result.best_action == result.moves[0].action
    losing = [info for info in result.moves if info.proven == "loss"]
    assert all(info.order > 0 for info in losing)


def test_the_solver_can_be_switched_off(make):
    searcher, _ = make(2, rules="tromp-taylor", komi=0.5, batch_size=1, solver=False)
    result = searcher.search(Limits(visits=2000))
    assert result.proven is None and result.visits == 2000 and 0.0 < result.winrate < 1.0
