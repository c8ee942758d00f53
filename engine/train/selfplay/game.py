"""One game of a net against itself, as a generator for `lockstep.py`: with the net's policy alone, or with search."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.board.planes import encode_into
from engine.board.position import BLACK, WHITE, Position
from engine.board.rules import parse_rules
from engine.board.scoring import score
from engine.evaluator import Evaluator
from engine.judge import Judge
from engine.judge.score import all_alive

from .lockstep import Answer, Rows
from .plan import GamePlan, SelfplayPlan

FloatArray = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Turn:
    """What was known when a move was chosen, in the mover's view."""

    color: int
    action: int
    policy: FloatArray | None  # [A] share of the visits, sum 1; None without search
    value: float  # [-1, 1], of the root and its best move, whichever is higher


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A finished game."""

    plan: GamePlan
    turns: list[Turn] = field(repr=False)
    winner: int  # BLACK, WHITE, or 0 for a draw
    margin: float | None  # Black − White − komi; None after a resignation

    @property
    def result(self) -> str:
        """The result as SGF writes it."""
        if self.winner == 0:
            return "0"
        side = "B" if self.winner == BLACK else "W"
        return f"{side}+R" if self.margin is None else f"{side}+{abs(self.margin):g}"

    def outcome(self, color: int) -> int:
        """Return z for a color: 1 it won, -1 it lost, 0 a draw."""
        return 0 if self.winner == 0 else 1 if self.winner == color else -1


def policy_game(
    evaluator: Evaluator, plan: SelfplayPlan, game: GamePlan, rows: Rows
) -> Generator[int, Answer, PlayedGame]:
    """Play a game with moves drawn from the net's policy; one row a move."""
    position, rng = begin(game), np.random.default_rng(game.seed)
    suicide = bool(getattr(evaluator, "pass_alive_under_suicide", False))
    turns: list[Turn] = []
    while not over(position, game):
        encode_into(position, evaluator.encoding, rows.spatial[0], rows.globals_[0], pass_alive_under_suicide=suicide)
        answer, row = yield 1
        logits = np.where(position.legal_mask() > 0, answer.policy_logits[row].astype(np.float64), -np.inf)
        policy = np.exp(logits - logits.max())
        action = pick(policy / policy.sum(), temperature(plan, game, len(turns)), rng)
        turns.append(Turn(position.to_play, action, None, float(answer.value[row])))
        position.play(action)
    return counted(evaluator, game, position, turns)


def begin(game: GamePlan) -> Position:
    """Return the empty board of a game."""
    return Position(game.size, rules=parse_rules(game.rules), komi=game.komi)


def over(position: Position, game: GamePlan) -> bool:
    """Tell whether a game has ended by the rules, or has lasted so long that it is counted as it stands."""
    return position.ended or position.n_moves >= game.most_moves


def counted(evaluator: Evaluator, game: GamePlan, position: Position, turns: list[Turn]) -> PlayedGame:
    """Return the game with its score: all stones alive where the rules say so, else as the net judges them."""
    margin = score(position) if all_alive(position) else Judge(evaluator).judge(position).score
    winner = BLACK if margin > 0 else WHITE if margin < 0 else 0
    return PlayedGame(game, turns, winner, margin)


def temperature(plan: SelfplayPlan, game: GamePlan, played: int) -> float:
    """Return the temperature of the next move."""
    return plan.temperature if played < game.hot_moves else plan.late_temperature


def pick(policy: NDArray[np.floating], temperature: float, rng: np.random.Generator) -> int:
    """Draw an action with probability ~ policy ** (1 / temperature); the most likely one for temperature 0."""
    if temperature < 1e-3:
        return int(policy.argmax())
    with np.errstate(divide="ignore"):
        logs = np.log(policy.astype(np.float64)) / temperature
    weights = np.exp(logs - logs.max())
    return int(rng.choice(len(policy), p=weights / math.fsum(weights)))


Begin = Callable[[Rows], Generator[int, Answer, PlayedGame]]
