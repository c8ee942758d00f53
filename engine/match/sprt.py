"""Sequential tests: when a match may stop because the answer is known well enough.

The SPRT is the generalised one over pairs of games that share an opening (docs/adr/0022): a pair gives the first engine
0, ¼, ½, ¾ or 1 of its points, the two hypotheses say what the mean is, and the log-likelihood ratio compares the best
distributions with these means. Pairs count in the order of their openings, not of their finishing, so that short games
have no say. A gate asks whether a share of the points is reached, and stops when that can no longer change.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .elo import expected

PSEUDO = 1e-3  # added to the count of a result that has not occurred, so that every mean can be reached


@dataclass(frozen=True)
class Verdict:
    """What a rule says of the games so far."""

    decision: str | None  # "H1" / "H0" of an SPRT, "passed" / "failed" of a gate; None: play on
    text: str  # for people
    value: float = 0.0  # the log-likelihood ratio, or the share
    used: int = 0  # games that counted


class Rule(Protocol):
    """When to stop."""

    def judge(self, scores: Sequence[float | None]) -> Verdict:
        """Return the verdict on the games in the order of their numbers; None: not finished."""
        ...


@dataclass(frozen=True)
class Sprt:
    """The sequential probability ratio test of elo0 (H0) against elo1 (H1).

    Args:
        alpha: probability of accepting H1 where H0 holds, at most (about).
        beta: probability of accepting H0 where H1 holds, at most (about).
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def bounds(self) -> tuple[float, float]:
        """Ratios at which H0 and H1 are accepted. Source: A. Wald, Sequential Analysis (1947)."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def judge(self, scores: Sequence[float | None]) -> Verdict:
        """Go through the finished pairs up to the first unfinished one, and stop where a bound is first crossed."""
        lower, upper = self.bounds
        counts: Counter[float] = Counter()
        ratio, used, decision = 0.0, 0, None
        for pair in leading_pairs(scores):
            counts[pair] += 1
            used += 2
            ratio = llr(counts, expected(self.elo0), expected(self.elo1))
            if not lower < ratio < upper:
                decision = "H1" if ratio >= upper else "H0"
                break
        says = {"H0": f"H0 accepted: {self.elo0:+g} Elo or less", "H1": f"H1 accepted: {self.elo1:+g} Elo or more"}
        text = f"SPRT {self.elo0:+g}..{self.elo1:+g}: LLR {ratio:+.2f} [{lower:.2f}, {upper:.2f}]"
        if decision is not None:
            text += f", {says[decision]}"
        return Verdict(decision, text, ratio, used)


@dataclass(frozen=True)
class Gate:
    """Whether the first engine reaches a share of the points of so many games; stops when nothing can change it."""

    share: float
    games: int

    def judge(self, scores: Sequence[float | None]) -> Verdict:
        done = [score for score in scores if score is not None]
        points, left = sum(done), self.games - len(done)
        needed = self.share * self.games - 1e-9
        decision = "passed" if points >= needed else "failed" if points + left < needed else None
        state = f", {decision}" if decision else ""
        share = points / len(done) if done else 0.0
        return Verdict(decision, f"gate {self.share:g}: {points:g} of {self.games} points{state}", share, len(done))


def leading_pairs(scores: Sequence[float | None]) -> list[float]:
    """Return the mean points of the finished pairs before the first unfinished one."""
    pairs = []
    for first, second in zip(scores[::2], scores[1::2], strict=False):
        if first is None or second is None:
            break
        pairs.append((first + second) / 2)
    return pairs


def finished_pairs(scores: Sequence[float | None]) -> list[float]:
    """Return the mean points of all finished pairs."""
    pairs = zip(scores[::2], scores[1::2], strict=False)
    return [(first + second) / 2 for first, second in pairs if first is not None and second is not None]


def llr(counts: Counter[float], mean0: float, mean1: float) -> float:
    """Return the generalised log-likelihood ratio of two means.

    Args:
        counts: how often each result (0, 0.25, 0.5, 0.75, 1) occurred; the quarters need not occur in a game
            without draws, but 0, 0.5 and 1 are always possible.
        mean0, mean1: the hypotheses, in (0, 1).

    Source: M. Van den Bergh, "A practical introduction to the GSPRT": the most likely distribution with mean m has
    p_i = q_i / (1 + t (a_i − m)), q_i the observed frequencies, t such that the mean is m.
    """
    kept = {result: float(counts[result]) or PSEUDO for result in (0.0, 0.5, 1.0)}
    kept.update({result: float(counts[result]) for result in (0.25, 0.75) if counts[result]})
    total = sum(kept.values())
    frequencies = [(result, count / total) for result, count in sorted(kept.items())]
    return total * (log_likelihood(frequencies, mean1) - log_likelihood(frequencies, mean0))


def log_likelihood(frequencies: Sequence[tuple[float, float]], mean: float) -> float:
    """Return Σ q_i log p_i for the most likely p with that mean; frequencies are (result a_i, q_i > 0), q sums to 1."""
    deviations = [(result - mean, q) for result, q in frequencies]
    # Σ q d / (1 + t d) falls in t between its poles at -1/max d and -1/min d, and is 0 once in there.
    low, high = -1 / max(d for d, _ in deviations), -1 / min(d for d, _ in deviations)
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if sum(q * d / (1 + middle * d) for d, q in deviations) > 0:
            low = middle
        else:
            high = middle
    t = (low + high) / 2
    return sum(q * (math.log(q) - math.log1p(t * d)) for d, q in deviations)
