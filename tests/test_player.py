"""The player's decisions: pass, resign, repetition, and what it says of finished games."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_net import FINISHED, OWNERS, Drawn, genmove, make_player, place

from engine.board.position import BLACK, WHITE, Position
from engine.board.vertex import parse_vertex
from engine.errors import EngineError
from engine.evaluator_fakes import HashEvaluator, UniformEvaluator
from engine.judge import judge
from engine.judge.asking import GivenOpinion
from engine.player import decide
from engine.player.choosing import RESIGN
from engine.player.net import BackgroundNet, LoadedNet
from engine.player.settings import PlayerSettings
from engine.player.stop import Abandoned, StopToken
from engine.player.thinking import Wish
from engine.search.params import SearchParams

# ---------------------------------------------------------------------------------------------------- passing


def test_passes_after_the_opponent_when_settled_and_won():
    player = make_player(Drawn(OWNERS, FINISHED, favourites=(0,)))
    place(player, FINISHED)
    player.set_komi(0)
    player.play(BLACK, 49)
    decision = genmove(player, WHITE)
    assert player.move_text(decision) == "pass" and player.game.position.ended


def test_does_not_pass_when_that_would_lose():
    player = make_player(Drawn(OWNERS, FINISHED, favourites=(4,)))
    place(player, FINISHED)
    player.set_komi(-8)  # Black wins by one
    player.play(BLACK, 49)
    assert player.move_text(genmove(player, WHITE)) != "pass"


def test_does_not_pass_on_an_unsettled_board():
    player = make_player(Drawn(["." * 9] * 9))
    player.new_board(9, 9)
    player.play(BLACK, 81)
    assert player.move_text(genmove(player, WHITE)) != "pass"


def test_passes_without_waiting_only_if_the_setting_says_so():
    player = make_player(Drawn(OWNERS, FINISHED, favourites=(4,)), friendly_pass=False)
    place(player, FINISHED)
    player.set_komi(0)
    player.play(BLACK, 49)
    assert player.move_text(genmove(player, WHITE)) != "pass"


def test_captures_dead_stones_before_passing_where_all_stones_count():
    rows = ["...XO..", ".O.XO..", "...XO..", "...XO..", "...XO..", "...XO..", "...XO.."]
    owners = ["XXXXOOO"] * 7
    beside_the_dead_stone = {1, 7, 9, 15}
    for komi, clean_up, captures in ((0.5, False, True), (-20.5, True, True), (-20.5, False, False)):
        # Black wins by capturing, or wins anyhow
        player = make_player(Drawn(owners, rows, favourites=(49,)), visits=1, clean_up=clean_up)
        place(player, rows)
        player.set_rules(player.game.rules.__class__(suicide=True))
        player.set_komi(komi)
        action = genmove(player, BLACK, play=False).action
        assert action in beside_the_dead_stone if captures else action == 49
        player.set_rules(player.game.rules.__class__(friendly_pass_ok=True))
        assert genmove(player, BLACK, play=False).action == 49


def test_cleanup_goes_for_the_shortest_dead_chain():
    rows = ["..X..", "O.X..", "XXX..", "..X..", ".OX.."]
    player = make_player()
    place(player, rows)
    dead = frozenset({5, 21})
    judgment = judge(player.game.position, GivenOpinion(np.ones((5, 5), np.float32)))
    assert judgment.dead == dead
    moves = decide.cleanup_moves(player.game.position, BLACK, judgment)
    assert set(moves) == {0, 6, 16, 20} and len(moves) == 4


def test_does_not_fill_pass_alive_territory():
    rows = [".X.X.", "XXXXX", "OOOOO", "O.O.O", "OOOOO"]
    player = make_player(Drawn(["XXXXX"] * 2 + ["OOOOO"] * 3, rows, favourites=(0, 2, 4)))
    place(player, rows)
    assert decide.pointless_moves(player.game.position, BLACK) == {0, 2, 4, 16, 18}
    assert player.move_text(genmove(player, BLACK)) == "pass"


def test_stones_inside_own_territory_may_be_captured_where_all_stones_count():
    rows = [".X.X.O.", "XXXXX.X", ".....X.", ".......", ".......", ".......", "......."]
    player = make_player()
    place(player, rows)
    assert not decide.pointless_moves(player.game.position, WHITE) - {0, 2}


# ---------------------------------------------------------------------------------------------------- resigning


def test_resigns_after_several_hopeless_moves():
    player = make_player(Drawn(value=-0.99, lead=-30.0), resign_moves=3)
    player.new_board(9, 9)
    decisions = []
    for answer in (80, 79, 78):
        decisions.append(genmove(player, BLACK).action)
        player.play(WHITE, answer)
    assert RESIGN not in decisions[:2] and decisions[2] == RESIGN
    assert player.game.position.n_moves == 5  # a resignation is no move


@pytest.mark.parametrize(
    ("evaluator", "settings"),
    [
        (Drawn(value=-0.99, lead=-2.0), {}),
        (Drawn(value=-0.8, lead=-30.0), {}),
        (Drawn(value=0.99, lead=30.0), {}),
        (Drawn(value=-0.99, lead=-30.0), {"resign": False}),
    ],
)
def test_does_not_resign(evaluator, settings):
    player = make_player(evaluator, resign_moves=1, **settings)
    player.new_board(9, 9)
    assert genmove(player, BLACK).action != RESIGN


def test_does_not_resign_in_the_opening_of_a_handicap_game():
    hopeless = Drawn(value=0.99, lead=60.0)
    player = make_player(hopeless, resign_moves=1)
    player.new_board(9, 9)
    player.choose_handicap(4, fixed=True)
    assert genmove(player, WHITE).action != RESIGN
    plain = make_player(hopeless, resign_moves=1)  # handicap as consecutive plays
    plain.new_board(9, 9)
    for vertex in ("c3", "g7", "c7"):
        plain.play(BLACK, parse_vertex(vertex, 9, 9))
    assert genmove(plain, WHITE).action != RESIGN
    even = make_player(hopeless, resign_moves=1)
    even.new_board(9, 9)
    assert genmove(even, WHITE).action == RESIGN


def test_white_resigns_a_handicap_game_only_further_behind_than_the_stones_explain():
    """Four stones are worth 52 points; after 20 of 57 moves White has 34 of them to make up."""
    for lead, resigns in ((30.0, False), (45.0, True)):
        player = make_player(Drawn(value=0.99, lead=lead), resign_moves=1, resign_handicap=0.0)
        player.new_board(9, 9)
        player.choose_handicap(4, fixed=True)
        for move in range(20):
            player.play(WHITE if move % 2 == 0 else BLACK, 18 * (move // 4) + 2 * (move % 4) + 1)
        assert 33 < decide.handicap_left(player.game.position) < 34
        assert (genmove(player, WHITE).action == RESIGN) is resigns
    black = make_player(Drawn(value=-0.99, lead=-30.0), resign_moves=1, resign_handicap=0.0)
    black.new_board(9, 9)
    black.choose_handicap(4, fixed=True)
    black.play(WHITE, 0)
    assert genmove(black, BLACK).action == RESIGN


def test_reg_genmove_neither_plays_nor_resigns():
    player = make_player(Drawn(value=-0.99, lead=-30.0), resign_moves=1)
    player.new_board(9, 9)
    assert genmove(player, BLACK, play=False).action != RESIGN and player.game.is_empty


# ---------------------------------------------------------------------------------------------------- repetition


def test_chooses_no_repetition_and_no_suicide_even_where_allowed():
    player = make_player(Drawn(favourites=(17, 22)), visits=1)
    player.new_board(5, 5)
    player.set_rules(player.game.rules.__class__(ko="SIMPLE", suicide=True, friendly_pass_ok=True))
    for move in ("b b1", "w c1", "b a2", "w d2", "b b3", "w c3", "b c2", "w b2", "b pass", "w pass"):
        color, vertex = move.split()
        player.play(BLACK if color == "b" else WHITE, parse_vertex(vertex, 5, 5))
    action = parse_vertex("c2", 5, 5)
    assert action == 17 and player.game.position.is_legal(action, BLACK) and player.game.repeats(BLACK, action)
    assert genmove(player, BLACK, play=False).action != action
    free = make_player(Drawn(favourites=(17,)), visits=1, avoid_repetition=False, friendly_pass=False)
    free.game.take_over(player.game.position.copy())
    assert genmove(free, BLACK, play=False).action == action


def test_suicide_is_seen():
    player = make_player()
    player.set_rules(player.game.rules.__class__(suicide=True))
    place(player, ["O.X", "XX.", "..."], WHITE)
    assert player.game.is_suicide(WHITE, 1) and not player.game.is_suicide(BLACK, 1)
    assert not player.game.is_suicide(WHITE, 9)


# ---------------------------------------------------------------------------------------------------- judging


def test_dead_stones_and_score():
    player = make_player(Drawn(OWNERS, FINISHED))
    place(player, FINISHED)
    player.set_komi(0.5)
    assert player.final_score(token=StopToken()) == 21 - 28 - 0.5
    dead = [chain for status, chain in player.final_status(token=StopToken()) if status == "dead"]
    assert dead == [[12], [22]]


def test_the_judgment_does_not_change_with_the_final_passes():
    player = make_player(HashEvaluator())
    place(player, FINISHED)
    player.play(BLACK, parse_vertex("a1", 7, 7))
    before = player.final_status(token=StopToken()), player.final_score(token=StopToken())
    player.play(WHITE, 49)
    between = player.final_status(token=StopToken()), player.final_score(token=StopToken())
    player.play(BLACK, 49)
    player.clear_cache()
    after = player.final_status(token=StopToken()), player.final_score(token=StopToken())
    assert before == between == after


def test_all_stones_count_under_tromp_taylor():
    player = make_player(Drawn(OWNERS, FINISHED))
    place(player, FINISHED)
    player.set_rules(player.game.rules.__class__(suicide=True))
    player.set_komi(0)
    assert {status for status, _ in player.final_status(token=StopToken())} == {"alive"}
    assert player.final_score(token=StopToken()) == 8 - 8  # stones alone: every empty region reaches both


def test_territory_scoring_counts_dead_stones_and_prisoners():
    player = make_player(Drawn(OWNERS, FINISHED))
    place(player, FINISHED)
    player.set_rules(player.game.rules.__class__(ko="SIMPLE", scoring="TERRITORY", tax="SEKI"))
    player.set_komi(0)
    assert player.final_score(token=StopToken()) == (14 + 1) - (21 + 1)


def test_open_borders_follow_the_net():
    picture = ["XXX.OOO"] * 7
    rows = ["......."] * 3 + ["..X.O.."] + ["......."] * 3
    player = make_player(Drawn(picture, rows))
    place(player, rows)
    player.set_komi(0)
    assert player.final_score(token=StopToken()) == 0
    judgment = player.judgment(token=StopToken())
    assert not judgment.dead and judgment.doubt == 14


def test_chains_alive_by_themselves_need_no_net():
    position = Position(5, 5)
    position.set_up([(BLACK, a) for a in (1, 3, 5, 6, 7, 8, 9)])
    assert not judge(position, GivenOpinion(-np.ones((5, 5), np.float32))).dead


# ---------------------------------------------------------------------------------------------------- threads


def test_abandoned_genmove_plays_nothing():
    player = make_player(visits=None, time=30.0)
    player.new_board(9, 9)
    token = StopToken()
    token.abandon()
    with pytest.raises(Abandoned):
        player.genmove(BLACK, Wish(token))
    assert player.game.is_empty


def test_a_net_that_loads_late_and_one_that_fails():
    failures = []
    late = BackgroundNet(lambda: LoadedNet(UniformEvaluator(), "late"))
    stopped = StopToken()
    stopped.stop()
    assert late.wait(stopped) is None and late.supports_size(9, 9)
    late.start(failures.append)
    assert late.wait(StopToken()).name == "late" and not failures

    class Small(UniformEvaluator):
        def supports_size(self, width, height):
            return width == height == 19

    asked = BackgroundNet(lambda: LoadedNet(Small(), "small"), ask_sizes=True)
    asked.start(failures.append, delay=60.0)
    assert not asked.supports_size(9, 9) and asked.supports_size(19, 19)

    def fail():
        raise EngineError("broken.bin.gz: no net")

    failing = BackgroundNet(fail)
    failing.start(failures.append)
    with pytest.raises(EngineError, match=r"broken\.bin\.gz"):
        failing.wait(StopToken())
    assert [str(error) for error in failures] == ["broken.bin.gz: no net"]


def test_another_game_takes_other_chances_and_the_same_game_sent_anew_goes_on():
    player = make_player(HashEvaluator(), seed=None, visits=30)
    player.new_board(9, 9)
    thinker = player._thinker
    genmove(player, BLACK)
    genmove(player, WHITE)
    calls = []
    searcher = thinker._searcher

    class Watched:
        def __getattr__(self, name):
            calls.append(name)
            return getattr(searcher, name)

    thinker._searcher = Watched()
    moves = player.game.position.moves
    player.new_board(9, 9)  # as some controllers do before each move
    for color, action in [*moves, (BLACK, 81)]:
        player.play(color, action)
    genmove(player, WHITE)
    assert "reseed" not in calls and "clear" not in calls
    player.clear_board()
    genmove(player, BLACK)
    assert "reseed" in calls and "clear" in calls


def test_a_seed_repeats_games_within_a_session_too():
    player = make_player(HashEvaluator(), seed=3, visits=20)
    player.change("search", SearchParams(symmetry="random"))
    games = []
    for _ in range(3):
        player.new_board(7, 7)
        games.append([genmove(player, color).action for color in (BLACK, WHITE) * 4])
    assert games[0] == games[1] == games[2]
    player.change("player", PlayerSettings(visits=20, seed=None))
    others = []
    for _ in range(4):
        player.clear_board()
        others.append(tuple(genmove(player, color).action for color in (BLACK, WHITE) * 4))
    assert len(set(others)) > 1


def test_changed_settings_take_effect():
    player = make_player()
    player.change("player", PlayerSettings(rules="japanese", strict_play=True, visits=3))
    assert player.game.rules.scoring == "TERRITORY" and player.game.strict_play
    assert player.limits(BLACK).visits == 3


def test_pondering_keeps_the_game_and_stops():
    player = make_player(ponder=True, ponder_visits=50)
    player.new_board(9, 9)
    assert not player.wants_to_ponder
    genmove(player, BLACK)
    assert player.wants_to_ponder
    moves = player.game.position.moves
    player.ponder(StopToken())
    assert player.game.position.moves == moves and not player.wants_to_ponder
    genmove(player, WHITE)
    token = StopToken()
    token.stop()
    player.ponder(token)
    assert player.wants_to_ponder
    player.play(BLACK, 81)
    assert not player.wants_to_ponder
