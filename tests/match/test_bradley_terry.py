"""The ladder against published estimates and a slow fit."""

import numpy as np
import pytest

from engine.match.bradley_terry import SCALE, rate
from engine.match.elo import Z95

# Games won of 13 between the teams of the American League East, 1987, and the estimates with their standard errors on
# the logit scale, Baltimore 0. Source: A. Agresti, Categorical Data Analysis, as in the R package BradleyTerry2.
TEAMS = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
WON = [
    [0, 7, 9, 7, 7, 9, 11],
    [6, 0, 7, 5, 11, 9, 9],
    [4, 6, 0, 7, 7, 8, 12],
    [6, 8, 6, 0, 6, 7, 10],
    [6, 2, 6, 7, 0, 7, 12],
    [4, 4, 5, 6, 6, 0, 6],
    [2, 4, 1, 3, 1, 7, 0],
]
PUBLISHED = {
    "Milwaukee": (1.5814, 0.3433),
    "Detroit": (1.4364, 0.3396),
    "Toronto": (1.2945, 0.3367),
    "New York": (1.2476, 0.3359),
    "Boston": (1.1077, 0.3339),
    "Cleveland": (0.6839, 0.3319),
    "Baltimore": (0.0, 0.0),
}


def baseball():
    return {(a, b): WON[i][j] for i, a in enumerate(TEAMS) for j, b in enumerate(TEAMS) if i != j}


def test_published_estimates_and_errors():
    for rating in rate(baseball(), anchor=("Baltimore", 0.0), prior=0.0):
        estimate, error = PUBLISHED[rating.name]
        assert rating.elo / SCALE == pytest.approx(estimate, abs=1e-4)
        assert rating.error / SCALE / Z95 == pytest.approx(error, abs=1e-4)
        assert rating.games == 78


def minorise_maximise(wins, rounds=20_000):
    """Strengths by Hunter's MM algorithm: p_i = W_i / Σ_j n_ij / (p_i + p_j)."""
    wins = np.asarray(wins, dtype=float)
    games = wins + wins.T
    strength = np.ones(len(wins))
    for _ in range(rounds):
        strength = wins.sum(axis=1) / (games / (strength[:, None] + strength[None, :])).sum(axis=1)
        strength /= np.exp(np.log(strength).mean())
    return np.log(strength)


@pytest.mark.parametrize("seed", range(5))
def test_against_a_slow_fit(seed):
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, 20, size=(6, 6)).astype(float)
    np.fill_diagonal(wins, 0)
    names = [f"e{i}" for i in range(6)]
    results = {(a, b): wins[i, j] for i, a in enumerate(names) for j, b in enumerate(names) if i != j}
    wanted = dict(zip(names, minorise_maximise(wins + 0.25 * (1 - np.eye(6))) * SCALE, strict=True))
    for rating in rate(results, prior=0.5):
        assert rating.elo == pytest.approx(wanted[rating.name], abs=0.01)


def test_two_engines_give_the_elo_of_their_share():
    better, worse = rate({("a", "b"): 75, ("b", "a"): 25}, anchor=("b", 1000.0), prior=0.0)
    assert better.name == "a" and better.elo - worse.elo == pytest.approx(190.85, abs=0.01) and worse.elo == 1000
    # The error of log(p / (1 - p)) is 1 / sqrt(n p q).
    assert better.error == pytest.approx(Z95 * SCALE / np.sqrt(100 * 0.75 * 0.25), rel=1e-6)


def test_errors_cover_the_truth():
    """The 95 % interval of 300 simulated round robins holds the true difference about as often as it says."""
    rng = np.random.default_rng(11)
    truth = np.array([0.0, 100.0, 250.0, 300.0])
    covered = 0
    for _ in range(300):
        results = {}
        for i in range(4):
            for j in range(i):
                won = rng.binomial(60, 1 / (1 + 10 ** ((truth[j] - truth[i]) / 400)))
                results[f"e{i}", f"e{j}"], results[f"e{j}", f"e{i}"] = won, 60 - won
        for rating in rate(results, anchor=("e0", 0.0)):
            if rating.name != "e0":
                covered += abs(rating.elo - truth[int(rating.name[1])]) <= rating.error
    assert 0.92 <= covered / 900 <= 0.98


def test_who_never_lost_has_a_rating_and_strangers_have_none():
    first, last = rate({("a", "b"): 20, ("b", "a"): 0})
    assert first.name == "a" and 400 < first.elo - last.elo < 1000 and first.points == 20
    with pytest.raises(ValueError, match="there are no games"):
        rate({})
    with pytest.raises(ValueError, match="no games link a with c"):
        rate({("a", "b"): 1, ("b", "a"): 1, ("c", "d"): 2, ("d", "c"): 1})
    with pytest.raises(ValueError, match="z did not play"):
        rate({("a", "b"): 1, ("b", "a"): 1}, anchor=("z", 0.0))
