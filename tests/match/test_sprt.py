"""Sequential tests against brute force, and their errors by simulation."""

import math
import random
from collections import Counter

import numpy as np
import pytest

from engine.match.elo import elo, elo_interval, expected, share_interval, wilson
from engine.match.sprt import Gate, Sprt, finished_pairs, leading_pairs, llr


def best_log_likelihood(counts, mean, steps=200_000):
    """The greatest Σ n_i log p_i over distributions on 0, ½, 1 with that mean, by trying them all: one is free."""
    draw = np.linspace(0, 1, steps + 1)[1:-1]
    win, loss = mean - draw / 2, 1 - mean - draw / 2
    inside = (win > 0) & (loss > 0)
    values = np.log([loss[inside], draw[inside], win[inside]])
    return (np.array([counts[0.0], counts[0.5], counts[1.0]]) @ values).max()


@pytest.mark.parametrize("counts", [(10, 30, 17), (1, 2, 9), (40, 5, 41), (3, 90, 2)])
@pytest.mark.parametrize(("elo0", "elo1"), [(0, 50), (-20, 20), (0, 300)])
def test_the_ratio_equals_a_search_over_all_distributions(counts, elo0, elo1):
    counts = Counter(dict(zip((0.0, 0.5, 1.0), counts, strict=True)))
    means = expected(elo0), expected(elo1)
    wanted = best_log_likelihood(counts, means[1]) - best_log_likelihood(counts, means[0])
    assert llr(counts, *means) == pytest.approx(wanted, abs=1e-4)


def test_two_results_alone_give_walds_ratio():
    """Without draws, pairs aside, the ratio is the binomial one: wins log(p1/p0) + losses log((1-p1)/(1-p0))."""
    p0, p1 = expected(0), expected(100)
    wald = 30 * math.log(p1 / p0) + 12 * math.log((1 - p1) / (1 - p0))
    assert llr(Counter({1.0: 30, 0.0: 12}), p0, p1) == pytest.approx(wald, abs=0.01)


def test_quarters_count():
    few = llr(Counter({0.25: 10, 0.75: 20}), 0.5, 0.6)
    many = llr(Counter({0.0: 10, 1.0: 20}), 0.5, 0.6)
    assert 0 < many < few  # the same mean, known better where results scatter less


def test_pairs():
    assert leading_pairs([1, 0, None, 1, 1, 1]) == [0.5]
    assert leading_pairs([1, 0, 1]) == [0.5]
    assert finished_pairs([1, 0, None, 1, 1, 0.5]) == [0.5, 0.75]


def test_the_bounds_are_walds():
    assert Sprt(0, 10).bounds == pytest.approx((-2.9444, 2.9444), abs=1e-4)
    assert Sprt(0, 10, alpha=0.01, beta=0.1).bounds == pytest.approx((math.log(0.1 / 0.99), math.log(90)))


def test_a_decision_stands_whatever_comes_later():
    wins = [1.0] * 60
    first = Sprt(0, 100).judge(wins)
    assert first.decision == "H1" and first.used < 60 and "H1 accepted" in first.text
    assert Sprt(0, 100).judge([*wins[: first.used], *[0.0] * 100]) == first
    assert Sprt(0, 100).judge([0.0] * 60).decision == "H0"
    assert Sprt(0, 100).judge([None, *wins]).decision is None
    assert Sprt(0, 100).judge([]).decision is None


def decisions(test, share, runs, seed, *, lean=0.0, most=400):
    """Play the test `runs` times against an engine that scores `share`; `lean`: how far openings favour Black."""
    rng = random.Random(seed)
    found = Counter()
    for _ in range(runs):
        lower, upper = test.bounds
        counts, decision = Counter(), None
        means = expected(test.elo0), expected(test.elo1)
        for _ in range(most):
            tilt = rng.choice([-lean, lean])
            counts[((rng.random() < share + tilt) + (rng.random() < share - tilt)) / 2] += 1
            ratio = llr(counts, *means)
            if not lower < ratio < upper:
                decision = "H1" if ratio >= upper else "H0"
                break
        found[decision] += 1
    return found


@pytest.mark.parametrize("lean", [0.0, 0.3])
def test_errors_stay_below_alpha_and_beta(lean):
    test, runs = Sprt(0, 120), 200
    wrong = decisions(test, expected(0), runs, 1, lean=lean)["H1"]
    missed = decisions(test, expected(120), runs, 2, lean=lean)["H0"]
    limit = 0.05 * runs + 2 * math.sqrt(0.05 * 0.95 * runs)  # two standard deviations of the simulation
    assert wrong <= limit and missed <= limit


@pytest.mark.slow
@pytest.mark.parametrize(("lean", "elo1"), [(0.0, 50), (0.3, 50), (0.0, 150)])
def test_errors_in_many_simulated_matches(lean, elo1):
    test, runs = Sprt(0, elo1), 2000
    wrong = decisions(test, expected(0), runs, 3, lean=lean, most=5000)["H1"]
    missed = decisions(test, expected(elo1), runs, 4, lean=lean, most=5000)["H0"]
    assert wrong / runs < 0.055 and missed / runs < 0.055


def test_a_gate_stops_when_nothing_can_change_it():
    gate = Gate(0.55, 10)
    assert gate.judge([1, 1, None, 0.5]).decision is None
    assert gate.judge([1, 1, 1, 1, 1, 0.5]).decision == "passed"
    assert gate.judge([0, 0, 0, 0, None, 0.5]).decision is None
    assert gate.judge([0, 0, 0, 0, 0.5, 0.5]).decision == "failed"


def test_expected_and_elo_are_inverse():
    for difference in (-300.0, 0.0, 12.0, 191.0):
        assert elo(expected(difference)) == pytest.approx(difference)
    assert expected(400) == pytest.approx(10 / 11)


def test_the_interval_covers_the_truth_in_95_of_100():
    """2000 simulated matches of 50 pairs, with and without openings that favour one color."""
    rng = np.random.default_rng(5)
    for share, lean in ((0.5, 0.0), (0.7, 0.0), (0.6, 0.35)):
        tilt = rng.choice([-lean, lean], size=(2000, 50))
        first = rng.random((2000, 50)) < share + tilt
        second = rng.random((2000, 50)) < share - tilt
        covered = 0
        for one, two in zip(first, second, strict=True):
            scores = [float(score) for pair in zip(one, two, strict=True) for score in pair]
            low, high = share_interval(scores, ((one + two.astype(float)) / 2).tolist())
            covered += low <= share <= high
        assert 0.93 <= covered / 2000 <= 0.975


def test_one_sided_results_have_an_open_end():
    low, high = elo_interval([1.0] * 20, [1.0] * 10)
    assert high is None and low == pytest.approx(elo(wilson(20, 20)[0]))
    assert elo_interval([], []) == (None, None)
