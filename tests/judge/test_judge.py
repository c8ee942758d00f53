"""The judge without a net file: rules, passes, opinions, readings, and what must hold for any ownership map."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from count_oracle import count as count_by_hand
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from judge_checks import consistent, position_of
from judged_positions import CASES

from engine.board.position import BLACK, WHITE, Position
from engine.board.rules import NAMED
from engine.board.scoring import score as board_score
from engine.board.vertex import parse_vertex
from engine.evaluator_fakes import HashEvaluator
from engine.judge import Judge, JudgeSettings, Opinion, Status, judge
from engine.judge.asking import GivenOpinion
from engine.judge.blend import Blend
from engine.judge.text import as_dict, in_words, result_text
from engine.judge.types import point_marks

PLAIN = JudgeSettings(nodes=0)
HALVES = ["..XO...", "..XO.X.", "..XO...", "O.XOO..", "..XXO..", "...XO..", "...XO.."]


def halves(rules="chinese", **options):
    position = position_of(HALVES, rules)
    picture = np.where(np.arange(7) <= 2, 1.0, -1.0) * np.ones((7, 1))
    picture[4:, 3] = 1.0
    return judge(position, GivenOpinion(picture), settings=JudgeSettings(**options))


@pytest.mark.parametrize(("rules", "score"), [
    ("chinese", 24 - 25), ("japanese", (15 + 1) - (16 + 1)), ("korean", -1), ("aga", -1), ("stone-scoring", -1),
])
def test_scores_under_rules(rules, score):
    judgment = halves(rules)
    assert judgment.score == score
    assert sorted(judgment.dead) == [12, 21]


@pytest.mark.parametrize(("rules", "bonus"), [
    ("chinese", 3), ("chinese-kgs", 3), ("chinese-ogs", 3), ("aga", 2), ("bga", 2), ("aga-button", 2), ("japanese", 0),
    ("korean", 0), ("tromp-taylor", 0), ("new-zealand", 0), ("stone-scoring", 0),
])
def test_handicap_bonus_and_komi(rules, bonus):
    """KGS and OGS give White a point a stone under Chinese rules, the AGA one less, others nothing."""
    position = Position(9, rules=rules, komi=0.5)
    position.set_up([(BLACK, 20), (BLACK, 24), (BLACK, 60)], WHITE)
    judgment = judge(position)
    assert judgment.white.bonus == 0.5 + bonus and judgment.black.bonus == 0
    assert judgment.score == board_score(position)


def test_aga_passes_make_territory_and_area_agree():
    """Both sides have moved as often, White last: territory with a stone for each pass is what the area says."""
    position = Position(7, rules="aga", komi=0)
    for y in range(7):
        position.play(7 * y + 2, BLACK)
        position.play(7 * y + 3, WHITE)
    for color, action in ((BLACK, 49), (WHITE, 21), (BLACK, 49), (WHITE, 49)):
        position.play(action, color)
    source = GivenOpinion(np.where(np.arange(7) <= 2, 1.0, -1.0) * np.ones((7, 1)))
    by_area = judge(position, source)
    assert by_area.dead == {21}
    position.set_rules("japanese")
    territory = judge(position, source)
    passes = {color: sum(move == (color, 49) for move in position.moves) for color in (BLACK, WHITE)}
    assert by_area.score == territory.score + passes[WHITE] - passes[BLACK] == -7


def test_the_seki_tax_takes_eyes_in_seki():
    case = next(case for case in CASES if case.name == "three chains in one seki")
    free = '{"ko":"SIMPLE","scoring":"TERRITORY","tax":"NONE"}'
    for rules, seki in (("japanese", case.seki), (free, "")):
        judgment = judge(position_of(case.rows, rules), settings=JudgeSettings())
        assert judgment.stones(Status.SEKI) and judgment.score == count_by_hand(case.rows, "", seki)[1]
    assert count_by_hand(case.rows, "", "")[1] != case.territory


def test_prisoners_count_under_territory_rules():
    position = Position(5, rules="japanese", komi=0)
    for color, action in ((WHITE, 0), (BLACK, 1), (WHITE, 25), (BLACK, 5)):
        position.play(action, color)
    assert judge(position).black.prisoners == 1 and judge(position).score == board_score(position)


def test_the_button_is_counted_with_the_passes():
    position = position_of(["..XO.", "..XO.", "..XO.", "..XO.", "..XO."], "aga-button")
    before = judge(position).score
    position.play(25, BLACK)
    assert judge(position).score == before + 0.5


def test_final_passes_and_the_turn_change_nothing():
    judged = Judge(HashEvaluator(), PLAIN)
    position = position_of(HALVES, "japanese")
    position.play(48, BLACK)
    first = judged.judge(position)
    for color in (WHITE, BLACK, WHITE):
        position.play(49, color)
        later = judged.judge(position)
        assert (later.score, later.chains, later.points("dame")) == (first.score, first.chains, first.points("dame"))
    other = position_of(HALVES, "japanese", to_play=WHITE)
    assert judged.judge(other).dead == judged.judge(position_of(HALVES, "japanese")).dead


def test_facts_need_no_net_and_beat_it():
    position = Position(5, 5)
    position.set_up([(BLACK, a) for a in (1, 3, 5, 6, 7, 8, 9)])
    judgment = judge(position, GivenOpinion(-np.ones((5, 5))))
    assert not judgment.dead and all(chain.proven and chain.confidence == 1.0 for chain in judgment.chains)
    assert judge(position).score == judgment.score


def test_an_opinion_of_another_size_is_an_error():
    with pytest.raises(ValueError, match="9x9"):
        judge(Position(9), GivenOpinion(np.zeros((5, 5))))


def test_a_blend_is_the_mean_and_asks_only_who_takes_the_size():
    one = GivenOpinion(Opinion(np.full((5, 5), 0.5, np.float32), winrate=0.7))
    two = GivenOpinion(np.full((5, 5), -0.1))
    other = GivenOpinion(np.zeros((9, 9)))
    said = Blend([two, one, other]).opinion(Position(5))
    assert said is not None and said.winrate == 0.7 and np.allclose(said.owner, 0.2)
    assert Blend([other]).opinion(Position(5)) is None


def test_a_blend_weighs_words_by_what_they_count():
    one, two = GivenOpinion(np.full((5, 5), 0.5)), GivenOpinion(np.full((5, 5), -0.1))
    blend = Blend([one, two, GivenOpinion(np.zeros((9, 9)))], [0.25, 0.75, 0.0], thresholds={"dead": 0.3})
    said = blend.opinion(Position(5))
    assert said is not None and np.allclose(said.owner, 0.05)
    assert Judge(blend).settings.dead == 0.3
    scores = [GivenOpinion(Opinion(np.zeros((5, 5), np.float32), score_mean=mean)) for mean in (4.0, None, -2.0)]
    together = Blend(scores, [0.25, 0.25, 0.5]).opinion(Position(5))
    assert together is not None and together.score_mean == 1.0 and together.score_stdev is None
    nobody = blend.opinion(Position(9))  # whose word counts nothing speaks where nobody else does
    assert nobody is not None and np.allclose(nobody.owner, 0.0)


def test_thresholds_of_a_net_apply_unless_set():
    source = GivenOpinion(np.zeros((5, 5)))
    source.thresholds = {"dead": 0.4, "something": 1.0}
    assert Judge(source).settings.dead == 0.4
    assert Judge(source, JudgeSettings(dead=0.7)).settings.dead == 0.7


def test_a_search_follows_where_something_is_open():
    position = position_of(HALVES, "chinese")
    judged = Judge(HashEvaluator(), JudgeSettings(nodes=0, visits=12))
    judgment = judged.judge(position)
    assert judgment.source.endswith("searched")
    assert any(item.black_move is not None for item in judgment.open)
    consistent(position, judgment)
    assert judged.judge(position.copy()) is judgment


boards = st.integers(2, 7).flatmap(
    lambda width: st.integers(2, 7).flatmap(
        lambda height: st.tuples(
            st.just((width, height)),
            st.lists(st.sampled_from("..XXOO."), min_size=width * height, max_size=width * height),
            st.integers(0, 2**32 - 1),
        )
    )
)


def play_cells(position, cells):
    """Play the stones of a drawn board, those that are legal."""
    for action, cell in enumerate(cells):
        color = {"X": BLACK, "O": WHITE}.get(cell)
        if color and position.is_legal(action, color):
            position.play(action, color)


@settings(max_examples=60, deadline=None)
@given(boards, st.sampled_from(sorted(NAMED)))
def test_any_board_and_any_ownership_give_a_judgment_that_holds_together(drawn, rules):
    (width, height), cells, seed = drawn
    position = Position(width, height, rules=rules, komi=6.5)
    play_cells(position, cells)
    owner = np.random.default_rng(seed).uniform(-1, 1, (height, width))
    judgment = judge(position, GivenOpinion(owner), settings=JudgeSettings(nodes=3000))
    consistent(position, judgment)
    assert len(point_marks(judgment)) == width * height
    assert as_dict(position, judgment)["score"] == judgment.score and in_words(position, judgment)


@settings(max_examples=40, deadline=None)
@given(boards, st.sampled_from(["japanese", "chinese", "stone-scoring"]))
def test_with_every_stone_alive_the_score_is_the_boards(drawn, rules):
    (width, height), cells, _ = drawn
    position = Position(width, height, rules=rules, komi=0)
    play_cells(position, cells)
    board = position.board()
    owner = np.where(board == BLACK, 1.0, np.where(board == WHITE, -1.0, 0.0))
    judgment = judge(position, GivenOpinion(owner), settings=PLAIN)
    # Pass-dead stones stay dead. Under territory rules the board knows no captures that cost a point: next test.
    assume(rules == "chinese" or not judgment.dead)
    dead = np.zeros(board.shape, np.bool_)
    dead.ravel()[list(judgment.dead)] = True
    assert judgment.score == board_score(position, dead=dead)


def test_a_capture_that_the_filled_dame_make_needful_costs_its_point():
    """Once A2 and B2 are filled Black has to take B4 from A4: one point of territory and one prisoner are left."""
    position = Position(2, 4, rules="japanese", komi=0)
    for vertex, color in (("B4", WHITE), ("A3", BLACK), ("B3", BLACK), ("A1", WHITE), ("B1", WHITE)):
        position.play(parse_vertex(vertex, 2, 4), color)
    board = position.board()
    owner = np.where(board == BLACK, 1.0, np.where(board == WHITE, -1.0, 0.0))
    judgment = judge(position, GivenOpinion(owner), settings=PLAIN)
    assert judgment.score == 2.0 and (judgment.black.territory, judgment.black.dead) == (1, 1)


def test_result_texts():
    assert [result_text(score) for score in (3.5, -12.0, 0.0)] == ["B+3.5", "W+12", "0"]


def test_statuses_are_words():
    assert str(Status.SEKI) == "seki" and Status("dead") is Status.DEAD
    assert {field.name for field in dataclasses.fields(JudgeSettings)} >= {"dead", "nodes", "seconds", "net"}


@pytest.mark.parametrize(("rows", "owner"), [
    (["XX..XO", "XO.OO."], [[1, 1, 1, 1, -1, 1], [1, 1, 1, 1, 1, 1]]),  # a proven death beside doubted stones
    (["O.", ".O", "OO", "..", "X.", "O."], [[-1, -1], [-1, -1], [-1, -1], [-1, -1], [-1, -1], [1, -1]]),
    ([".X..OOO", "X.X..OX", ".XXX.O."], [[1] * 7] * 3),
])
def test_two_deaths_side_by_side_are_not_both_believed(rows, owner):
    position = position_of(rows, "chinese")
    consistent(position, judge(position, GivenOpinion(np.array(owner, dtype=float))))


def test_a_reading_stands_where_the_takers_are_not_near():
    """The lone stone in the corner touches dead friends alone; Black takes them all."""
    rows = ["XXXXXXXXX", "X.XXX.XXX", "XXXXXXXXX", "X.XXXXX.X", "XXXXXXXXX", "XXXXXXXXX", "XXXXXXXX.", "XXXXXXXO.",
            "XXXXXXO.O"]  # fmt: skip
    position = position_of(rows, "chinese")
    assert judge(position, GivenOpinion(np.ones((9, 9)))).dead == {70, 78, 80}


def borders(rows, rules, owner=None):
    """The judgment of a board on which every stone lives, and the open items as (kind, points, moves)."""
    position = position_of(rows, rules)
    board = position.board()
    if owner is None:
        owner = np.where(board == BLACK, 1.0, np.where(board == WHITE, -1.0, 0.0))
    judgment = judge(position, GivenOpinion(owner), settings=PLAIN)
    return judgment, [(item.kind, item.points) for item in judgment.open]


def test_dame_are_open_under_area_rules_alone():
    rows = ["..XO...", "..X.O..", "..XO...", "..X.O..", "..XO...", "..XO...", "..XO..."]
    judgment, items = borders(rows, "chinese")
    assert items == [("dame", (10, 24))] and not judgment.finished and judgment.settled
    assert (judgment.score_low, judgment.expected_score, judgment.score_high) == (judgment.score,) * 3  # one for each
    judgment, items = borders(rows, "japanese")
    assert not items and judgment.finished and judgment.points("dame") == [10, 24]
    judgment, items = borders(["..XO...", *rows[:1] * 4, *rows[-1:], "..X.O.."], "chinese")
    assert items == [("dame", (45,))]
    assert (judgment.score_low, judgment.score_high) == (judgment.score - 1, judgment.score + 1)


@pytest.mark.parametrize("rules", ["chinese", "japanese"])
def test_a_point_behind_a_dame_is_open_whatever_the_opinion(rules):
    """As in a game that was resigned: R13 is dame, but who plays there first decides about R12."""
    rows = ["..XO...", "..XO...", ".XX.OO.", ".XX..O.", "..XOO..", "..XO...", "..XO..."]
    for lean in (0.0, -0.9):
        owner = np.zeros((7, 7))
        owner[:, :3], owner[:, 4:], owner[3, 3] = 1.0, -1.0, lean
        owner[[0, 1, 4, 5, 6], 3] = -1.0
        judgment, items = borders(rows, rules, owner)
        assert [points for kind, points in items if kind == "border"] == [(25,)] or lean
        assert not judgment.settled and not judgment.finished
