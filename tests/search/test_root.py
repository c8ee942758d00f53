"""What is asked of one search: moves to avoid and allow, noise, temperatures, and the choice of a move."""

import numpy as np
import pytest

from engine.board.position import BLACK, WHITE
from engine.errors import EngineError
from engine.search.result import choose
from engine.search.root import Limits, MoveLimit, RootOptions, shape_priors, shifted


def moves_of(result):
    return {info.action for info in result.moves}


def test_avoided_moves_are_not_searched(make):
    searcher, _ = make(5)
    first = searcher.search(Limits(visits=100))
    avoid = tuple(info.action for info in first.moves[:3])
    result = searcher.search(Limits(visits=100), root=RootOptions(avoid=avoid))
    assert result.visits == 100
    assert not moves_of(result) & set(avoid)
    assert result.best_action not in avoid
    again = searcher.search(Limits(visits=100))  # without the limits the tree is made anew
    assert moves_of(again) == moves_of(first)


def test_only_allowed_moves_are_searched(make):
    searcher, _ = make(5)
    result = searcher.search(Limits(visits=80), root=RootOptions(allow=(3, 12)))
    assert moves_of(result) == {3, 12}
    one = searcher.search(Limits(visits=1), root=RootOptions(allow=(7,)))
    assert one.best_action == 7


def test_limits_speak_of_one_color(make):
    searcher, position = make(5)
    whites = RootOptions(allow=(MoveLimit(WHITE, (3,), 1),))
    assert len(moves_of(searcher.search(Limits(visits=60), root=whites))) > 1
    searcher.set_position(position, WHITE)
    assert moves_of(searcher.search(Limits(visits=60), root=whites)) == {3}


def test_limits_reach_as_deep_as_they_say(make):
    searcher, _ = make(5)
    deep = RootOptions(allow=(MoveLimit(BLACK, (0, 1, 2), 3), MoveLimit(WHITE, (10, 11), 2)))
    result = searcher.search(Limits(visits=400), root=deep)
    assert moves_of(result) <= {0, 1, 2}
    lines = [info.pv for info in result.moves]
    assert all(line[1] in (10, 11) for line in lines if len(line) > 1)
    assert all(line[2] in (0, 1, 2) for line in lines if len(line) > 2)
    assert any(line[3] not in (10, 11) for line in lines if len(line) > 3)


def test_deep_limits_move_with_the_root():
    limits = ((True, MoveLimit(BLACK, (1,), 1)), (False, MoveLimit(WHITE, (2,), 3)), (False, MoveLimit(WHITE, (3,))))
    assert shifted(limits, 1) == ((False, MoveLimit(WHITE, (2,), 2)), limits[2])
    assert shifted(limits, 3) == (limits[2],)


def test_nothing_allowed_is_an_error(make):
    searcher, _ = make(5)
    with pytest.raises(EngineError, match="no legal move"):
        searcher.search(Limits(visits=5), root=RootOptions(avoid=tuple(range(26))))
    with pytest.raises(EngineError, match="no such action: 26"):
        searcher.search(Limits(visits=5), root=RootOptions(avoid=(26,)))
    with pytest.raises(EngineError, match="more than"):
        many = tuple(MoveLimit(BLACK, (1,), n) for n in range(1, 20))
        searcher.search(Limits(visits=5), root=RootOptions(avoid=many))


def test_noise_changes_the_priors_and_repeats_with_the_seed(make):
    noisy = [make(5, seed=seed)[0].search(Limits(visits=200), root=RootOptions(noise=True)) for seed in (3, 3, 4)]
    plain = make(5, seed=3)[0].search(Limits(visits=200))
    priors = [{info.action: info.prior for info in result.moves} for result in (*noisy, plain)]
    assert priors[0] == priors[1]
    assert priors[0] != priors[2] and priors[0] != priors[3]
    assert noisy[0].raw.policy == pytest.approx(plain.raw.policy)


def test_shaped_priors():
    rng = np.random.default_rng(5)
    priors = np.array([0.7, 0.2, 0.1], dtype=np.float32)
    assert shape_priors(priors) == pytest.approx(priors)
    assert shape_priors(priors, temperature=2.0) == pytest.approx(np.sqrt(priors) / np.sqrt(priors).sum())
    assert shape_priors(priors, temperature=1e-6).tolist() == [1.0, 0.0, 0.0]
    assert shape_priors(priors, wide=0.25) == pytest.approx(np.sqrt(priors) / np.sqrt(priors).sum())
    many = np.full(361, 1 / 361, dtype=np.float32)
    noisy = shape_priors(many, noise_fraction=0.25, noise_alpha=10.83, rng=rng)
    assert noisy.sum() == pytest.approx(1.0, abs=1e-5)
    assert noisy.min() >= 0.75 / 361 - 1e-7 and noisy.max() > 0.02


def test_wide_noise_spreads_the_visits(make):
    narrow = make(7)[0].search(Limits(visits=400))
    wide = make(7)[0].search(Limits(visits=400), root=RootOptions(wide_root_noise=1.0))
    assert len(wide.moves) > len(narrow.moves)


def test_temperature_draws_in_proportion_to_visits(make):
    searcher, _ = make(5)
    result = searcher.search(Limits(visits=200))
    rng = np.random.default_rng(1)
    drawn = np.bincount([choose(result, 1.0, rng) for _ in range(4000)], minlength=26) / 4000
    assert drawn == pytest.approx(result.policy_target, abs=0.04)
    assert {choose(result, 0.0, rng) for _ in range(5)} == {result.best_action}
    cold = np.asarray(result.policy_target) ** 5
    drawn = np.bincount([choose(result, 0.2, rng) for _ in range(4000)], minlength=26) / 4000
    assert drawn == pytest.approx(cold / cold.sum(), abs=0.04)


def test_chosen_is_drawn_when_a_temperature_is_given(make):
    chosen = {make(5, seed=seed)[0].search(Limits(visits=60), root=RootOptions(temperature=2.0)).chosen
              for seed in range(12)}
    assert len(chosen) > 2
    assert make(5)[0].search(Limits(visits=60)).chosen == make(5)[0].search(Limits(visits=60)).best_action


def test_the_best_move_has_the_best_bound_among_those_trusted(make):
    searcher, _ = make(5, lcb_min_visits=0.2)
    result = searcher.search(Limits(visits=300))
    most = max(info.visits for info in result.moves)
    trusted = [info for info in result.moves if info.visits >= 0.2 * most]
    assert result.best_action == max(trusted, key=lambda info: info.utility_lcb).action
    assert [info.order for info in result.moves] == list(range(len(result.moves)))
    assert all(info.utility_lcb < info.utility for info in result.moves)
    by_visits = make(5, use_lcb=False)[0].search(Limits(visits=300))
    assert by_visits.best_action == by_visits.most_visited


def test_variations_can_be_played(make):
    searcher, position = make(5)
    result = searcher.search(Limits(visits=300))
    for info in result.moves:
        assert info.pv[0] == info.action and info.pv_visits[0] == info.visits
        assert len(info.pv) == len(info.pv_visits) == len(info.pv_edge_visits)
        line = position.copy()
        for action in info.pv:
            line.play(action)
        assert info.pv_visits == sorted(info.pv_visits, reverse=True)
