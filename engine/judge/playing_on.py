"""What a judge's nets say of positions a few moves on, both sides playing likely moves of the policy.

A net misjudges most what is about to happen: its policy knows the captures and answers that its value has not seen yet.
A dozen moves later these are on the board, and the mean over several lines also evens out what the net says of one
position by chance. Lines are not played to the end: without reading, groups get lost on the way (docs/judge.md,
docs/adr/0040).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from engine.board.position import BLACK, WHITE, Position
from engine.evaluator import Evaluator
from engine.judge.asking import evaluate_rows, legal_policy
from engine.judge.types import Opinion, OpinionSource

FloatArray = NDArray[np.float32]

DEPTH = 12  # moves of a line
ASKED_AT = (4, 8, 12)  # moves after which the judge's source is asked
FIRST = 3  # move of a line from which on the net is heard
TEMPERATURE = 0.5  # of the policy that moves are drawn from
HEARD = 0.5  # share of what is said along the lines of points and score, the plain word being the rest
LEAST_SHARE = 0.02  # of the policy, for a move to be drawn
LINES = 4  # that are played together, at least, and of which the source is asked
SYMMETRIES = 4  # those that transpose nothing, one after the other


@dataclass(slots=True)
class Heard:
    """What was said along the lines of one side moving first. Black's view."""

    winrate: list[float] = field(default_factory=list)  # the net's, after each move from FIRST on
    lead: list[float] = field(default_factory=list)
    said: list[Opinion] = field(default_factory=list)  # the source's, after some of the moves of some lines

    def score(self) -> float | None:
        """Return the mean of what the net says after each move and what the source says after some."""
        means = [opinion.score_mean for opinion in self.said if opinion.score_mean is not None]
        parts = [float(np.mean(values)) for values in (self.lead, means) if values]
        return float(np.mean(parts)) if parts else None


class PlayingOn:
    """Opinions from lines of likely moves.

    Args:
        evaluator: the net whose policy plays.
        source: whose opinion of the points counts; asked without a search.
        seconds: for one opinion, half for either side moving first; None: visits alone limit it.
        visits: evaluations of moves for each side moving first, rounded to whole rounds of lines; None: seconds alone.
    """

    def __init__(
        self, evaluator: Evaluator, source: OpinionSource, *, seconds: float | None, visits: int | None
    ) -> None:
        self._evaluator = evaluator
        self._source = source
        self._seconds = seconds
        preferred = max(LINES, int(getattr(evaluator, "preferred_batch", LINES)))
        lines = max(1, min(preferred, evaluator.max_batch))
        self._rounds: int | None = None
        if visits is not None:
            lines = min(lines, max(1, visits // DEPTH))
            self._rounds = max(1, round(visits / (DEPTH * lines)))
        self._lines = lines

    def refined(self, position: Position, before: Opinion) -> Opinion:
        """Return an opinion that heeds what is said along the lines.

        Ownership becomes the mean of the plain word and of the lines, both sides moving first; so does the score, with
        the side to move moving first; the winrate is that of these lines. What nothing was said of (no time, no lines)
        stays as it was.
        """
        rng = np.random.default_rng(1)
        heard = {color: self._heard(position, color, rng) for color in (BLACK, WHITE)}
        sides = [heard[color].said for color in (BLACK, WHITE) if heard[color].said]
        owners = [np.mean([opinion.owner for opinion in side], axis=0) for side in sides]
        owner = (1.0 - HEARD) * before.owner + HEARD * np.mean(owners, axis=0) if owners else before.owner
        now = heard[position.to_play]
        score, plain = now.score(), before.score_mean
        if score is not None and plain is not None:
            score = (1.0 - HEARD) * plain + HEARD * score
        spread = [opinion.score_stdev for side in sides for opinion in side if opinion.score_stdev is not None]
        return replace(
            before,
            owner=owner.astype(np.float32),
            territory=None,
            winrate=float(np.mean(now.winrate)) if now.winrate else before.winrate,
            score_mean=plain if score is None else score,
            score_stdev=float(np.mean(spread)) if spread else before.score_stdev,
        )

    def _heard(self, position: Position, color: int, rng: np.random.Generator) -> Heard:
        """Play lines with `color` moving first until the time or the rounds are over."""
        deadline = None if self._seconds is None else time.monotonic() + self._seconds / 2.0
        heard = Heard()
        round_ = 0
        while (self._rounds is None or round_ < self._rounds) and not _over(deadline):
            self._play(position, color, rng, heard, deadline, round_)
            round_ += 1
        return heard

    def _play(
        self, position: Position, color: int, rng: np.random.Generator, heard: Heard, deadline: float | None,
        round_: int,
    ) -> None:  # fmt: skip
        """Play one round of lines and add to what was heard."""
        start = position.copy()
        start.to_play = color
        first = deadline is not None and round_ == 0  # few lines, so that a slow net plays them to their end
        games = [start.copy() for _ in range(min(self._lines, LINES) if first else self._lines)]
        for ply in range(DEPTH + 1):
            games = [game for game in games if not _both_passed(game, position)]
            if not games or (ply and _over(deadline)):
                return
            if ply in ASKED_AT:
                for game in games[:LINES]:
                    opinion = None if _over(deadline) else self._source.opinion(game)
                    heard.said += [] if opinion is None else [opinion]
            rows = [(game, game.to_play, (round_ + ply) % SYMMETRIES) for game in games]
            evaluation = evaluate_rows(self._evaluator, rows, ownership=False)
            for index, game in enumerate(games):
                if ply >= FIRST:
                    sign = 1.0 if game.to_play == BLACK else -1.0
                    heard.winrate.append((sign * float(evaluation.value[index]) + 1.0) / 2.0)
                    if evaluation.lead is not None:
                        heard.lead.append(sign * float(evaluation.lead[index]))
                if ply < DEPTH:
                    game.play(draw(evaluation.policy_logits[index], game.legal_mask(), rng))


def draw(logits: FloatArray, legal: NDArray[np.uint8], rng: np.random.Generator) -> int:
    """Draw a move from the likely ones of a policy, the likeliest more often than the policy has it.

    Args:
        logits: [A].
        legal: [A]; the pass always is.
    """
    policy = np.nan_to_num(legal_policy(logits, legal)).astype(np.float64)
    likely = np.where(policy >= min(LEAST_SHARE, policy.max()), policy, 0.0) ** (1.0 / TEMPERATURE)
    return int(rng.choice(len(likely), p=likely / likely.sum()))


def _over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


def _both_passed(game: Position, start: Position) -> bool:
    """Tell whether the last two moves of a line were passes."""
    moves = game.moves[start.n_moves :]
    return len(moves) >= 2 and moves[-1][1] == moves[-2][1] == game.area
