"""When the tree is kept, what it is worth then, and that its memory comes back."""

import dataclasses

import numpy as np
import pytest
from plain_search import PLAIN

from engine.board.position import BLACK, Position
from engine.search.root import Limits, MoveLimit, RootOptions


def test_the_subtree_of_the_move_played_is_kept(make):
    searcher, position = make(5, batch_size=2, **PLAIN)
    before = searcher.search(Limits(visits=400))
    move = before.moves[0]
    held = searcher.tree_bytes
    position.play(move.action)
    assert searcher.set_position(position)
    assert searcher.visits == move.visits
    assert searcher.tree_bytes <= held
    after = searcher.search(Limits(visits=move.visits))
    assert after.stats.playouts == 0
    assert after.winrate == pytest.approx(1.0 - move.winrate)
    assert after.score_mean == pytest.approx(-move.score_mean)
    assert after.lead == pytest.approx(-move.lead)
    assert [info.action for info in after.moves if info.action == move.pv[1]]
    assert sum(info.visits for info in after.moves) + 1 == move.visits


def test_reuse_changes_no_utility_where_the_centre_stays(make):
    searcher, position = make(5, batch_size=2, dynamic_score_utility=0.0, **PLAIN)
    move = searcher.search(Limits(visits=300)).moves[0]
    position.play(move.action)
    searcher.set_position(position)
    assert searcher.search(Limits(visits=1)).utility == pytest.approx(-move.utility, abs=1e-9)


def test_weighted_means_and_biases_stay_with_the_tree(make):
    settings = {"value_weight_power": 0.25, "noise_prune_scale": 0.15, "bias_share": 0.45}
    searcher, position = make(5, batch_size=2, dynamic_score_utility=0.0, **settings)
    move = searcher.search(Limits(visits=300)).moves[0]
    assert searcher.bias_slack() == pytest.approx((0, 0), abs=1e-4)
    position.play(move.action)
    searcher.set_position(position)
    least, most = searcher.bias_slack()
    assert least > -1e-4 and most > 0.1
    kept = searcher.search(Limits(visits=1))
    # What the positions that went have said fades, so the biases, and with them utilities, move a little.
    assert kept.utility == pytest.approx(-move.utility, abs=0.1) and kept.utility != -move.utility
    again = searcher.search(Limits(visits=300))
    assert again.visits == 300 and sum(info.visits for info in again.moves) + 1 == 300
    assert searcher.bias_slack() == pytest.approx((least, most), abs=1e-4)
    searcher.drop_tree()
    assert searcher.search(Limits(visits=300)).visits == 300


def test_two_moves_ahead(make):
    searcher, position = make(5, batch_size=2)
    line = searcher.search(Limits(visits=400)).moves[0]
    position.play(line.pv[0])
    position.play(line.pv[1])
    assert searcher.set_position(position)
    assert searcher.visits == line.pv_visits[1]


def test_the_same_position_keeps_the_whole_tree(make):
    searcher, position = make(5)
    searcher.search(Limits(visits=50))
    assert searcher.set_position(position) and searcher.visits == 50
    assert searcher.set_position(position.copy()) and searcher.visits == 50


def change_komi(position):
    position.set_komi(position.komi + 1)


def change_rules(position):
    position.set_rules("japanese")


def change_to_set_up(position):
    position.set_up([(BLACK, 3)])


def play_out_of_turn(position):
    position.play(4, 3 - position.to_play)


CHANGES = [change_komi, change_rules, change_to_set_up, play_out_of_turn, Position.undo, Position.clear]


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_no_continuation_drops_the_tree(make, change):
    searcher, position = make(5, moves=[12])
    searcher.search(Limits(visits=200))
    change(position)
    assert not searcher.set_position(position)
    assert searcher.visits == 0
    assert searcher.search(Limits(visits=20)).visits == 20


def test_the_other_color_drops_the_tree(make):
    searcher, position = make(5)
    searcher.search(Limits(visits=50))
    assert not searcher.set_position(position, 3 - position.to_play)


def test_a_move_never_searched_drops_the_tree(make):
    searcher, position = make(9)
    result = searcher.search(Limits(visits=10))
    unseen = next(a for a in range(81) if result.move(a) is None)
    position.play(unseen)
    assert not searcher.set_position(position)


def test_other_move_limits_drop_the_tree(make):
    searcher, position = make(5)
    limited = RootOptions(avoid=(MoveLimit(BLACK, (12,), 3),))
    move = searcher.search(Limits(visits=100), root=limited).moves[0]
    assert searcher.search(Limits(visits=1), root=limited).visits == 100
    position.play(move.action)
    assert searcher.set_position(position)
    moved = RootOptions(avoid=(MoveLimit(BLACK, (12,), 2),))
    assert searcher.search(Limits(visits=1), root=moved).visits == move.visits
    assert searcher.search(Limits(visits=1)).visits == 1


def test_reuse_can_be_switched_off(make):
    searcher, position = make(5, tree_reuse=False)
    move = searcher.search(Limits(visits=100)).moves[0]
    position.play(move.action)
    assert not searcher.set_position(position)


def test_noise_at_one_root_does_not_outlive_it(make):
    """A root's edges stay a prefix of its priors, so it can be searched without noise, or become a kept child."""
    searcher, position = make(5, batch_size=1)
    result = searcher.search(Limits(visits=200), root=RootOptions(noise=True, wide_root_noise=0.5))
    plain = searcher.search(Limits(visits=400))
    assert plain.visits == 400 == sum(info.visits for info in plain.moves) + 1
    position.play(result.moves[0].action)
    assert searcher.set_position(position)
    assert searcher.search(Limits(playouts=50)).stats.playouts == 50


@pytest.mark.parametrize("ownership", [False, True])
def test_a_whole_game_in_little_memory(make, ownership):
    searcher, position = make(5, rules="tromp-taylor", tree_memory=1, solver=False, batch_size=4)
    rng = np.random.default_rng(1)
    kept = 0
    for _ in range(30):
        if position.ended:
            break
        result = searcher.search(Limits(playouts=250), root=RootOptions(ownership=ownership))
        assert sum(info.edge_visits for info in result.moves) + 1 == result.visits
        assert searcher.in_flight == 0
        assert searcher.tree_bytes <= 1 << 20
        position.play(int(rng.choice([info.action for info in result.moves[:2]])))
        kept += searcher.set_position(position)
    assert kept > 5


def test_settings_of_reports_keep_the_tree_and_others_drop_it(make):
    searcher, _ = make(5)
    searcher.search(Limits(visits=50))
    searcher.params = dataclasses.replace(searcher.params, pv_length=3, wide_root_noise=0.2, use_lcb=False)
    assert searcher.visits == 50
    result = searcher.search(Limits(visits=80))
    assert result.visits == 80 and max(len(info.pv) for info in result.moves) <= 3
    searcher.params = dataclasses.replace(searcher.params, cpuct=2.0)
    assert searcher.visits == 0
    assert searcher.search(Limits(visits=20)).visits == 20
