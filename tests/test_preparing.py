"""Nets are made ready for a board size beside the game, so that no move has to wait for that."""

from __future__ import annotations

import math
import threading

from engine.board.position import BLACK, WHITE, Position
from engine.evaluator_fakes import HashEvaluator
from engine.judge.asking import NetOpinion
from engine.player.net import BackgroundNet, LoadedNet, ReadyNet
from engine.player.player import Player
from engine.player.preparing import Preparing
from engine.player.settings import PlayerSettings
from engine.player.stop import StopToken
from engine.player.thinking import Wish
from engine.search.params import SearchParams


class Compiled(HashEvaluator):
    """An evaluator that takes until `go` to be made ready."""

    def __init__(self):
        super().__init__()
        self.go, self.prepared, self.changing = threading.Event(), [], False

    def prepare(self, width, height):
        self.prepared.append((width, height))
        return self.go.wait(30.0)

    def between_games(self):
        changed, self.changing = self.changing, False
        return changed


def make_player(evaluator, **settings):
    net = ReadyNet(LoadedNet(evaluator, "test", opinions=NetOpinion(evaluator)))
    player = Player(PlayerSettings(**settings), SearchParams(symmetry="fixed"), net)
    player.new_board(7, 7)
    return player


def ready(player):
    """Wait until everything that was wanted is done."""
    preparing = player._thinker._preparing
    with preparing._change:
        assert preparing._change.wait_for(lambda: not preparing._running, 30.0)


def test_nothing_is_prepared_without_a_clock():
    player = make_player(evaluator := Compiled(), default_visits=4)
    player.genmove(BLACK, Wish())
    assert evaluator.prepared == []


def test_a_clock_has_the_board_made_ready_once():
    player = make_player(evaluator := Compiled(), visits=4)
    player.set_time(60, 0, 0)
    player.set_time_left(BLACK, 60, 0)
    evaluator.go.set()
    ready(player)
    for color in (BLACK, WHITE):
        player.genmove(color, Wish())
    player.clear_board()
    ready(player)
    assert evaluator.prepared == [(7, 7)]
    player.new_board(9, 7)
    ready(player)
    assert evaluator.prepared == [(7, 7), (9, 7)]


def test_an_analysis_has_the_board_made_ready_beside_it():
    player, token = make_player(evaluator := Compiled(), analysis_visits=4), StopToken()
    reports = []

    def report(result):
        reports.append(result.visits)
        token.stop()

    player.analyze(BLACK, Wish(token, report=report))
    assert reports == [4]  # while the nets were still being made ready
    evaluator.go.set()
    ready(player)
    assert evaluator.prepared == [(7, 7)]


def test_a_seeded_analysis_waits_until_it_is_stopped_at_most():
    player, token = make_player(evaluator := Compiled(), seed=1), StopToken()
    reports = []
    asked = threading.Thread(target=player.analyze, args=(BLACK, Wish(token, report=reports.append)))
    asked.start()
    while not evaluator.prepared:
        pass
    token.stop()
    asked.join(30.0)
    assert not asked.is_alive() and not reports
    evaluator.go.set()
    ready(player)


def test_moves_come_while_the_nets_are_made_ready_and_the_judge_is_not_asked():
    player = make_player(evaluator := Compiled(), visits=4)
    asked = []
    player._thinker.judge = lambda *args: asked.append(args)
    player.set_time(3600, 0, 0)
    stones = Position(7, 7).area * 2 // 3  # enough for the game to be nearly over
    for action in range(stones):
        player.play(BLACK, action)
    player.genmove(WHITE, Wish())
    assert not asked and math.isinf(player._thinker.judge_seconds(player.game.position))
    evaluator.go.set()
    ready(player)
    assert player._thinker.judge_seconds(player.game.position) < 5.0


def test_another_evaluator_is_prepared_again():
    player = make_player(evaluator := Compiled(), visits=4)
    evaluator.go.set()
    player.set_time(60, 0, 0)
    for changing in (False, True, False):
        evaluator.changing = changing
        for color in (BLACK, WHITE):
            player.genmove(color, Wish())
            ready(player)
        player.clear_board()
    assert evaluator.prepared == [(7, 7), (7, 7)]


def test_a_change_while_a_board_is_made_ready_makes_it_ready_again():
    evaluator = Compiled()
    preparing = Preparing(ReadyNet(LoadedNet(evaluator, "test")))
    preparing.want(5, 5)
    while not evaluator.prepared:
        pass
    preparing.forget()
    evaluator.go.set()
    preparing.want(5, 5, wait_for=StopToken())
    assert evaluator.prepared == [(5, 5), (5, 5)] and preparing.judging(5, 5) is not None


def test_with_a_seed_a_move_waits_since_numbers_depend_on_what_is_ready():
    player = make_player(evaluator := Compiled(), visits=4, seed=1)
    player.set_time(3600, 0, 0)  # this does not wait
    threading.Timer(0.05, evaluator.go.set).start()
    player.genmove(BLACK, Wish())
    assert evaluator.go.is_set()


def test_what_only_the_thinking_thread_may_touch_is_left_alone():
    player = make_player(HashEvaluator(), visits=4)
    player.set_time(60, 0, 0)
    ready(player)
    preparing = player._thinker._preparing
    assert preparing.judging(7, 7) is None and not preparing.begun(7, 7)


def test_a_net_that_cannot_be_loaded_or_prepared_holds_nobody_up(caplog):
    def fail():
        raise RuntimeError("broken")

    failing = BackgroundNet(fail)
    failing.start(lambda error: None)
    preparing = Preparing(failing)
    preparing.want(9, 9, wait_for=StopToken())
    assert preparing.judging(9, 9) is None and not preparing.begun(9, 9)

    class Refusing(HashEvaluator):
        def prepare(self, width, height):
            raise RuntimeError("no memory")

    preparing = Preparing(ReadyNet(LoadedNet(Refusing(), "test")))
    preparing.want(9, 9, wait_for=StopToken())
    assert preparing.judging(9, 9) is None and not preparing.begun(9, 9)
    assert "could not be made ready for 9x9" in caplog.text
