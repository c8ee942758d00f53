"""Moves of a chosen strength: drawn from the net's policy so that they lose a given number of points on average.

The likeliest moves of the policy are each looked at one ply ahead, and a short search says what the best of them is
worth. Among all ways to choose, the one closest to the policy (in relative entropy) that loses the wanted points on
average is policy × exp(−β loss); β is found by bisection. What could not be given away at one move, because nothing
was at stake, is given away later, so a level stays what it is from the opening to the end. Never chosen: a pass that
is not best, moves that fill pass-alive ground or an own eye, stones put into atari for nothing, and losses far above
the wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.board.position import Position
from engine.evaluator import Evaluator
from engine.judge.asking import evaluate_rows
from engine.player.decide import pointless_moves
from engine.player.policy_only import is_eye
from engine.search.result import SearchResult

FloatArray = NDArray[np.float64]

NO_SCORE = "a level needs a net that tells the score: say --net, or play without --level"
LEAST_POLICY = 0.0005  # a move less likely than that is nobody's
SURE_VISITS = 4  # from here on the search's word on a move stands before the net's
WORST_BASE, WORST_FACTOR = 2.5, 4.0  # points: no move of a level loses more than base + factor * its average
LEAST_LOSS = 0.2  # points that a move not searched is taken to lose: the best of many guesses is guessed too high
FORGIVEN = 0.5  # points: a stone put into atari for less is a sacrifice
MOST_DEBT = 4.0  # moves' worth that may be made up for later
DEBT_SHARE = 0.2  # of it, at one move
GENTLEST = -1.5  # β: how far beyond the policy moves may be chosen for their loss
GREEDIEST = 200.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A move that a level may choose."""

    action: int
    policy: float
    loss: float  # points behind the best move, >= 0


def choose_probabilities(policy: FloatArray, loss: FloatArray, target: float) -> FloatArray:
    """Return [n] the distribution closest to the policy that loses `target` points on average, as far as there is one.

    Args:
        policy: [n] > 0.
        loss: [n] points >= 0, one of them 0.
    """

    def tilted(beta: float) -> FloatArray:
        logs = np.log(policy) - beta * loss
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    low, high = GENTLEST, GREEDIEST
    if float(tilted(low) @ loss) <= target:
        return tilted(low)
    for _ in range(40):
        middle = (low + high) / 2.0
        if float(tilted(middle) @ loss) > target:
            low = middle
        else:
            high = middle
    return tilted(high)


class LevelChooser:
    """Chooses moves at a level, and remembers what it owes in a game.

    Args:
        seed: None takes one from the system.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._seed = seed
        self._debt = {1: 0.0, 2: 0.0}  # points not given away so far, by side
        self._game: list[tuple[int, int]] = []  # the moves before the last choice

    def choose(
        self, color: int, candidates: Sequence[Candidate], points: float, moves: Sequence[tuple[int, int]] = ()
    ) -> Candidate:
        """Draw a move that loses `points` on average over the game.

        Args:
            candidates: not empty; the best has no loss.
            moves: of the game so far; where they do not continue those of the last call, another game has begun.
        """
        if list(moves[: len(self._game)]) != self._game:
            self._debt = {1: 0.0, 2: 0.0}
        self._game = list(moves)
        rng = np.random.default_rng(None if self._seed is None else [self._seed, len(moves)])
        if points <= 0.0:
            return candidates[0]
        most = MOST_DEBT * points
        target = max(0.0, points + DEBT_SHARE * min(max(self._debt[color], -most), most))
        worst = WORST_BASE * min(1.0, points) + WORST_FACTOR * points
        open_to = [move for move in candidates if move.loss <= worst]
        policy = np.array([move.policy for move in open_to])
        loss = np.array([move.loss for move in open_to])
        chances = choose_probabilities(policy, loss, target)
        chosen = open_to[int(rng.choice(len(open_to), p=chances))]
        self._debt[color] = min(max(self._debt[color] + points - chosen.loss, -most), most)
        return chosen


def likely_moves(position: Position, color: int, policy: NDArray[np.float32], most: int) -> list[int]:
    """Return the moves of a policy that somebody might play, likeliest first, without passes and pointless ones.

    Args:
        policy: [A], 0 where a move is illegal.
    """
    pointless = pointless_moves(position, color)
    board = position.board().ravel().tolist()
    size = position.width, position.height
    found: list[int] = []
    for action in np.argsort(-policy, kind="stable").tolist():
        if policy[action] < LEAST_POLICY or len(found) == most:
            break
        if action < position.area and action not in pointless and not is_eye(board, size, action, color):
            found.append(action)
    return found


def leads_after(evaluator: Evaluator, position: Position, color: int, actions: Sequence[int]) -> list[float | None]:
    """Return the points that `color` is ahead after each of its moves, in the net's word; None where it has none."""
    rows: list[tuple[Position, int, int]] = []
    for action in actions:
        after = position.copy()
        after.play(action, color, allow_superko=True)
        rows.append((after, 3 - color, 0))
    leads: list[float | None] = []
    step = max(1, min(evaluator.max_batch, getattr(evaluator, "preferred_batch", 8)))
    for first in range(0, len(rows), step):
        evaluation = evaluate_rows(evaluator, rows[first : first + step], ownership=False)
        count = len(rows[first : first + step])
        leads += [None] * count if evaluation.lead is None else [-float(lead) for lead in evaluation.lead[:count]]
    return leads


def is_self_atari(position: Position, color: int, action: int) -> bool:
    """Tell whether a move captures nothing and leaves its own chain with one liberty."""
    after = position.copy()
    taken = after.play(action, color, allow_superko=True)
    return taken == 0 and after.color_at(action) == color and len(after.liberties(action)) == 1


def candidates_of(
    position: Position, color: int, result: SearchResult, leads: Sequence[tuple[int, float | None]]
) -> list[Candidate]:
    """Return what may be chosen, the best move first.

    Args:
        result: of the level's search; losses are counted from the greatest lead it is sure of.
        leads: (action, the net's lead after it) of likely moves.
    """
    best = result.best_action
    sure = [info.lead for info in result.moves if info.visits >= SURE_VISITS]
    top = max(sure, default=result.lead)
    found = [Candidate(best, max(float(result.raw.policy[best]), LEAST_POLICY), 0.0)]
    for action, lead in leads:
        searched = result.move(action)
        if searched is not None and searched.proven == "loss":
            continue
        if searched is not None and searched.visits >= SURE_VISITS:
            loss = max(0.0, top - searched.lead)
        elif lead is not None:
            loss = max(LEAST_LOSS, top - lead)
        else:
            continue
        if action == best:
            continue
        if loss > FORGIVEN and is_self_atari(position, color, action):
            continue
        found.append(Candidate(action, float(result.raw.policy[action]), loss))
    return found


def hopeless_lead(position: Position, points: float) -> float:
    """Return how many points behind a player of a level may give up: what opponents of its kind will not give back."""
    left = max(0.0, 0.65 * position.area - position.n_moves) / 2.0
    return 10.0 + 0.5 * points * left
