"""The player's clock: its own count, late answers, games that begin anew, and how long searches really run."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from engine.board.position import BLACK, WHITE
from engine.evaluator_fakes import HashEvaluator
from engine.player.clock import Clock
from engine.player.net import LoadedNet, ReadyNet
from engine.player.pace import Pace, Turn
from engine.player.player import Player
from engine.player.settings import PlayerSettings
from engine.player.thinking import Wish
from engine.search.params import SearchParams
from engine.search.result import SearchStats
from engine.search.root import Limits
from engine.search.timing import Budget, TimeControl, TimeLeft, gtp_control


def make_player(evaluator=None, **settings):
    net = ReadyNet(LoadedNet(evaluator or HashEvaluator(), "test"))
    player = Player(PlayerSettings(seed=1, **settings), SearchParams(symmetry="fixed"), net)
    player.new_board(9, 9)
    return player


class Slow(HashEvaluator):
    """An evaluator that takes its time."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds

    def evaluate(self, spatial, globals_, *, ownership=False):
        time.sleep(self.seconds)
        return super().evaluate(spatial, globals_, ownership=ownership)


def budget(clock, color=BLACK, **options):
    return clock.budget(color, **{"moves_made": 0, "area": 81, "lag": 0.0, **options})


def test_no_clock_and_no_limit():
    clock = Clock()
    assert budget(clock) is None
    clock.set(gtp_control(0, 1, 0))
    assert budget(clock) is None
    clock.set_left(BLACK, 0, 0)
    assert budget(clock) is None


def test_the_clock_runs_by_itself():
    clock = Clock()
    clock.set(gtp_control(60, 0, 0))
    clock.spend(WHITE, 45)
    assert clock.left(WHITE) == TimeLeft(15) and clock.left(BLACK) == TimeLeft(60)
    clock.set(gtp_control(60, 10, 1))
    clock.spend(BLACK, 61)
    assert clock.left(BLACK) == TimeLeft(10, 1)


def test_newest_words_win_in_both_directions():
    clock = Clock()
    for seconds in (10, 600, 1):
        clock.set(gtp_control(seconds, 0, 0))
        assert clock.left(BLACK) == TimeLeft(seconds)
    clock.set_left(BLACK, 1000, 0)
    assert clock.left(BLACK) == TimeLeft(1000)


def test_what_answers_usually_come_late_by_is_kept_back():
    clock = Clock()
    clock.set(TimeControl("byoyomi", 0, 10, 1))
    usual = budget(clock).hard
    assert usual == 9.75
    clock.answered(2.0)  # once: this move is careful, the others need not be
    assert budget(clock).hard == 8.0
    for _ in range(7):
        clock.answered(0.0)
    assert budget(clock).hard == usual
    for _ in range(7):
        clock.answered(0.5)
    assert budget(clock).hard < usual - 0.9  # twice the usual lateness in the last period


def result_after(elapsed, travel):
    return SimpleNamespace(
        stats=SearchStats(elapsed=elapsed, playouts=9, travel=travel), winrate=0.5, moves=[], judged=True)


@pytest.mark.parametrize(("travel", "stops"), [(0.0, 1.0), (0.1, 0.9), (5.0, 0.75)])
def test_a_move_keeps_time_for_the_return_of_its_last_batch(travel, stops):
    pace = Pace(Budget(1.0, 1.0, saves=False))
    assert not pace.enough(result_after(stops - 0.01, travel))
    assert pace.enough(result_after(stops + 0.01, travel))


def test_time_gone_before_a_search_begins_is_taken_from_its_pace():
    pace = Pace(Budget(1.0, 2.0, saves=False))
    pace.begin_later(0.4)
    assert pace.budget == Budget(pytest.approx(0.6), pytest.approx(1.6), saves=False)
    pace.begin_later(5.0)
    assert pace.budget == Budget(0.0, 0.0, saves=False)


def test_searches_that_end_late_are_learned_from():
    player = make_player(lag=0.0)
    player.set_time_control(TimeControl("byoyomi", 0, 10, 9))
    first = player.budget(BLACK).soft
    turn = Turn(player.budget(BLACK), player.settings)
    turn.searched(result_after(10.5, 0.0), Limits(seconds=10.0), None)
    for _ in range(4):
        player.clock.answered(turn.late())
    assert turn.late() == pytest.approx(0.5) and player.budget(BLACK).soft == pytest.approx(first - 0.5)


def test_a_move_s_time_begins_when_it_was_asked_for():
    """On a busy machine half a second may go by before the thread that thinks hears of a command."""
    player = make_player(default_visits=4, lag=0.0, visits=4)
    player.set_time(1000, 0, 0)
    wish = Wish()
    wish.token.asked = time.monotonic() - 100.0
    player.genmove(BLACK, wish)
    assert 890.0 < player.clock.left(BLACK).seconds <= 900.0


def test_limits_combine():
    player = make_player(default_visits=77)
    assert (player.limits(BLACK).visits, player.limits(BLACK).seconds) == (77, None)
    player.set_time(0, 0, 0)
    assert player.limits(BLACK).visits == 1
    player.set_time(0, 10, 1)
    assert player.limits(BLACK).visits is None and player.limits(BLACK).seconds == pytest.approx(9.45, abs=0.01)
    at_once = make_player(time=0.0)
    assert at_once.limits(BLACK).visits == 1
    timed = make_player(visits=12, time=2.0)
    timed.set_time(0, 10, 1)
    assert (timed.limits(BLACK).visits, timed.limits(BLACK).seconds) == (12, pytest.approx(2.0, abs=0.01))
    timed.set_time(0, 1, 0)
    assert (timed.limits(BLACK).visits, timed.limits(BLACK).seconds) == (12, pytest.approx(2.0, abs=0.01))


def test_time_gone_before_the_search_is_taken_off():
    player = make_player(lag=0.0)
    player.set_time(0, 10, 1)
    assert player.limits(BLACK, spent=4.0).seconds == pytest.approx(5.75, abs=0.01)
    assert player.limits(BLACK, spent=40.0).visits == 1


def test_moves_take_their_time_and_no_more():
    player = make_player(Slow(0.004), lag=0.05)
    player.set_time(0, 0.4, 1)
    for color in (BLACK, WHITE, BLACK):
        begin = time.monotonic()
        player.genmove(color, Wish())
        assert time.monotonic() - begin < 0.8  # a busy machine may be late, but not twice the time
    assert player.clock.left(BLACK) == TimeLeft(0.4, 1)


def test_an_even_pace_takes_the_even_share():
    player = make_player(Slow(0.002), lag=0.0, attentive=False)
    player.set_time(6, 0, 0)
    share = player.budget(BLACK).soft
    begin = time.monotonic()
    player.genmove(BLACK, Wish())
    assert time.monotonic() - begin >= 0.75 * share  # the rest may be kept for the last batch
    assert player.clock.left(BLACK).seconds <= 6 - 0.75 * share


def test_a_decided_move_saves_time():
    """Everything but one move is left out, so nothing can change any more."""
    from engine.search.root import RootOptions

    player = make_player(Slow(0.002))
    player.set_time(3000, 0, 0)
    begin = time.monotonic()
    player.genmove(BLACK, Wish(root=RootOptions(allow=(40,))))
    assert time.monotonic() - begin < 20 < player.budget(BLACK).soft


def test_a_report_comes_as_often_as_it_was_asked_for_under_a_clock():
    reports = []
    player = make_player(Slow(0.002), lag=0.0)
    player.set_time(0, 0.5, 1)
    player.genmove(BLACK, Wish(report=reports.append, interval=0.2))
    assert 1 <= len(reports) <= 3
    reports.clear()
    player.genmove(WHITE, Wish(report=reports.append))  # without an interval, at the end alone, and not from here
    assert reports == []


def test_another_game_has_full_clocks_unless_the_controller_says_otherwise():
    player = make_player(visits=2)
    player.set_time(60, 0, 0)
    player.clock.spend(BLACK, 50)
    player.new_board(9, 9)
    player.genmove(BLACK, Wish())
    assert player.clock.left(BLACK).seconds > 50
    player.new_board(9, 9)
    player.set_time_left(BLACK, 20, 0)
    player.genmove(BLACK, Wish())
    assert 15 < player.clock.left(BLACK).seconds < 20


def test_the_same_settings_sent_before_every_move_do_not_wind_the_clock():
    player = make_player(visits=2)
    player.set_time(60, 0, 0)
    player.genmove(BLACK, Wish())
    player.clock.spend(BLACK, 50)
    player.set_time(60, 0, 0)
    assert player.clock.left(BLACK).seconds < 10
    player.set_time(90, 0, 0)
    assert player.clock.left(BLACK).seconds == 90
    player.new_board(9, 9)
    player.set_time(90, 0, 0)
    assert player.clock.left(BLACK).seconds == 90


def test_pondering_takes_no_time_of_ours_and_ends_with_the_opponents_move():
    import threading

    from engine.player.stop import StopToken

    player = make_player(Slow(0.002), ponder=True, ponder_visits=1000, lag=0.02)
    player.set_time(60, 0, 0)
    player.set_time_left(BLACK, 0.5, 0)
    player.genmove(BLACK, Wish())
    left = player.clock.left(BLACK)
    assert player.wants_to_ponder
    token = StopToken()
    threading.Timer(0.3, token.stop).start()
    begin = time.monotonic()
    player.ponder(token)
    assert 0.2 < time.monotonic() - begin < 1.5 and player.clock.left(BLACK) == left


def test_the_same_game_set_up_anew_goes_on_with_its_clock():
    """Some controllers send the board anew before every move, and no time_left (lizzieyzy 1)."""
    player = make_player(visits=2)
    player.set_time(60, 0, 0)
    player.clock.spend(BLACK, 50)
    player.genmove(BLACK, Wish())
    moves = player.game.position.moves
    player.clear_board()
    for color, action in moves:
        player.play(color, action)
    player.play(WHITE, 80)
    player.genmove(BLACK, Wish())
    assert player.clock.left(BLACK).seconds < 10
