"""Levels: ranks, the choice among likely moves, and a player that plays at one."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import factory
from engine.board.position import BLACK, WHITE, Position
from engine.board.vertex import parse_vertex
from engine.errors import ConfigError, EngineError
from engine.evaluator_fakes import HashEvaluator
from engine.player import level_settings
from engine.player.level import (
    Candidate,
    LevelChooser,
    choose_probabilities,
    hopeless_lead,
    is_self_atari,
    likely_moves,
)
from engine.player.level_settings import LevelSettings, points_of, strength
from engine.player.net import LoadedNet, ReadyNet
from engine.player.player import Player
from engine.player.settings import PlayerSettings
from engine.player.thinking import Wish
from engine.search.params import SearchParams


def test_ranks_are_a_stone_apart_across_the_dan():
    ranks = ["20k", "15k", "10k", "2k", "1k", "1d"]
    assert [strength(rank) for rank in ranks] == [-19, -14, -9, -1, 0, 1]
    assert points_of("1k") - points_of("1d") == pytest.approx(level_settings.POINTS_A_RANK)
    assert points_of(f"{level_settings.STRONGEST:g}d") == 0
    assert points_of("8.5k") == pytest.approx((points_of("8k") + points_of("9k")) / 2)


@pytest.mark.parametrize("text", ["", "k", "0k", "99k", "9d", "2d", "20", "ten kyu", "1p", "5k5", "-3k"])
def test_what_is_no_rank_is_refused(text):
    with pytest.raises(ConfigError, match=r"level\.rank"):
        points_of(text)


losses = st.lists(st.floats(0.01, 20), min_size=1, max_size=12)


@given(losses, st.floats(0.0, 6.0), st.randoms())
def test_the_chances_lose_what_is_wanted_where_that_is_possible(found, target, random):
    loss = np.array([0.0, *found])
    policy = np.array([random.uniform(0.001, 1.0) for _ in loss])
    chances = choose_probabilities(policy, loss, target)
    assert chances.sum() == pytest.approx(1.0)
    expected = float(chances @ loss)
    assert expected <= target + 0.01
    worst = choose_probabilities(policy, loss, 1e9)
    if float(worst @ loss) > target:
        assert expected == pytest.approx(target, abs=0.02)


def test_equal_losses_leave_the_policy_as_it_is():
    policy = np.array([0.5, 0.3, 0.2])
    assert choose_probabilities(policy, np.zeros(3), 1.0) == pytest.approx(policy)


def candidates(*pairs):
    return [Candidate(i, policy, loss) for i, (policy, loss) in enumerate(pairs)]


def game(count):
    return [(1 + i % 2, i) for i in range(count)]


def test_over_a_game_a_level_loses_what_it_should_though_little_is_at_stake_at_times():
    chooser, lost = LevelChooser(3), []
    quiet = candidates((0.9, 0.0), (0.1, 0.3))
    rich = candidates((0.6, 0.0), (0.2, 1.0), (0.1, 4.0), (0.1, 9.0))
    for i in range(2000):
        lost.append(chooser.choose(BLACK, quiet if i % 3 == 0 else rich, 1.5, game(i)).loss)
    assert np.mean(lost) == pytest.approx(1.5, abs=0.2)


def test_nothing_far_above_the_average_is_chosen_and_nothing_at_all_given_away_at_the_top():
    chooser = LevelChooser(1)
    table = candidates((0.2, 0.0), (0.3, 2.0), (0.5, 40.0))
    assert {chooser.choose(BLACK, table, 1.0, game(i)).action for i in range(300)} == {0, 1}
    assert {chooser.choose(WHITE, table, 0.0, game(i)).action for i in range(50)} == {0}


def test_a_seed_repeats_the_choices_of_a_game():
    chooser = LevelChooser(7)
    table = candidates((0.4, 0.0), (0.3, 1.0), (0.3, 3.0))
    first = [chooser.choose(BLACK, table, 1.0, game(i)).action for i in range(30)]
    assert [chooser.choose(BLACK, table, 1.0, game(i)).action for i in range(30)] == first
    assert len(set(first)) > 1
    assert [LevelChooser(8).choose(BLACK, table, 1.0, game(i)).action for i in range(30)] != first


def test_a_game_sent_anew_before_each_move_keeps_its_debts():
    quiet, rich = candidates((0.9, 0.0), (0.1, 0.3)), candidates((0.5, 0.0), (0.5, 5.0))
    chooser = LevelChooser(1)
    for i in range(5):
        chooser.choose(BLACK, quiet, 1.0, game(i))
    owed = chooser._debt[BLACK]
    assert owed > 2
    chooser.choose(BLACK, rich, 1.0, game(5))
    assert chooser._debt[BLACK] in (pytest.approx(min(owed + 1, 4)), pytest.approx(owed - 4))
    chooser.choose(BLACK, quiet, 1.0, [(BLACK, 77)])
    assert chooser._debt[BLACK] <= 1.0


def test_self_atari_is_seen_and_a_capture_is_none():
    position = Position(5)
    stones = [(WHITE, "A2"), (WHITE, "B1"), (BLACK, "C1"), (BLACK, "B2")]
    position.set_up([(color, parse_vertex(v, 5, 5)) for color, v in stones])
    assert not is_self_atari(position, BLACK, parse_vertex("A1", 5, 5))  # takes B1
    position = Position(5)
    position.set_up([(WHITE, parse_vertex("B1", 5, 5)), (WHITE, parse_vertex("C2", 5, 5))])
    assert is_self_atari(position, BLACK, parse_vertex("A1", 5, 5))
    assert not is_self_atari(position, BLACK, parse_vertex("E5", 5, 5))


def test_likely_moves_leave_out_passes_eyes_and_pass_alive_ground():
    position = Position(5)
    eyes = {0, 2}
    black = [a for a in range(10) if a not in eyes]
    position.set_up([(BLACK, a) for a in black])
    policy = np.full(26, 1 / 26, dtype=np.float32)
    found = likely_moves(position, BLACK, policy, 100)
    assert found and not eyes & set(found) and 25 not in found
    assert len(likely_moves(position, BLACK, policy, 3)) == 3


def test_a_weak_level_gives_up_later_than_a_strong_one():
    position = Position(19)
    assert hopeless_lead(position, 2.4) > hopeless_lead(position, 0.2) > 5
    for action in range(240):
        position.play(action if position.is_legal(action) else 361)
    assert hopeless_lead(position, 2.4) < 11.0


def player(**level):
    settings = factory.make_settings(factory.preset("gtp")).net
    net = ReadyNet(factory.load("fake:hash", settings))
    made = Player(PlayerSettings(seed=4, resign=False), SearchParams(batch_size=1), net, level=LevelSettings(**level))
    made.new_board(7, 7)
    return made


def game_of(made, most=200):
    while not made.game.position.ended and made.game.position.n_moves < most:
        made.genmove(made.to_play, Wish())
    return made.game.position.moves


def test_a_level_plays_a_whole_game_and_the_same_one_for_a_seed():
    first = game_of(player(rank="15k", visits=8, moves=6))
    assert len(first) > 20
    assert game_of(player(rank="15k", visits=8, moves=6)) == first
    assert game_of(player(rank="1k", visits=8, moves=6)) != first


def test_the_level_can_be_changed_in_a_game_and_the_search_is_the_users_again_without_one():
    made = player()
    before = made.sections()["search"]
    made.change("level", LevelSettings(rank="5k"))
    assert made._thinker.params.win_loss_utility == level_settings.WIN_LOSS
    assert made.sections()["search"] == before
    with pytest.raises(ConfigError):
        made.change("level", LevelSettings(rank="5x"))
    assert made.sections()["level"].rank == "5k"
    made.change("level", LevelSettings())
    assert made._thinker.params == before


def test_a_net_without_a_score_is_refused():
    class Scoreless(HashEvaluator):
        def evaluate(self, spatial, globals_, *, ownership=False):
            found = super().evaluate(spatial, globals_, ownership=ownership)
            return dataclasses.replace(found, lead=None, score_mean=None, score_stdev=None)

    made = Player(PlayerSettings(), SearchParams(), ReadyNet(LoadedNet(Scoreless(), "scoreless")),
                  level=LevelSettings(rank="10k", visits=4))  # fmt: skip
    made.new_board(7, 7)
    with pytest.raises(EngineError, match="score"):
        made.genmove(BLACK, Wish())
    assert made.game.position.n_moves == 0


def test_the_command_line_knows_levels():
    assert factory.make_settings({"level": {"rank": "12k"}}).level.points == pytest.approx(points_of("12k"))
    with pytest.raises(ConfigError):
        factory.make_settings({"level": {"rank": "strong"}})
