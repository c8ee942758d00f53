"""Many games in one thread over one evaluator: each fills its rows of a shared batch, then all are evaluated at once.

A game is a generator that writes its positions into its rows, yields how many they are and is sent an evaluation with
the number of the first of its rows that are the game's.
The batch always has the same number of rows, so what a game is told, and with that the game, does not depend on its
neighbours: the same seed plays the same games, whichever other games run beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from engine.errors import ConfigError
from engine.evaluator import Evaluation, Evaluator, FloatArray

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Rows:
    """The part of the shared batch that one game fills."""

    spatial: FloatArray  # [rows, C, H, W]
    globals_: FloatArray  # [rows, G]


Answer = tuple[Evaluation, int]
Game = Generator[int, Answer, R]


class Lockstep:
    """Runs games of one board size, `slots` at a time, `rows` rows of the batch each.

    Args:
        evaluator: evaluates the batch; where slots * rows is more than it takes, in equal pieces.
        size: board size.
        slots: games at once.
        rows: rows a game.
        ownership: ask for ownership too.
    """

    def __init__(self, evaluator: Evaluator, size: int, *, slots: int, rows: int = 1, ownership: bool = False) -> None:
        self.evaluator, self.ownership = evaluator, ownership
        if not 1 <= rows <= evaluator.max_batch:
            raise ConfigError(f"{rows} rows a game; {evaluator.name} takes batches of 1 to {evaluator.max_batch}")
        pieces = -(-slots // (evaluator.max_batch // rows))
        self.piece = -(-slots // pieces) * rows
        self._spatial, self._globals = evaluator.allocate(self.piece * pieces, size, size)
        self.slots = [
            Rows(self._spatial[i * rows : (i + 1) * rows], self._globals[i * rows : (i + 1) * rows])
            for i in range(slots)
        ]
        self.steps = 0  # batches evaluated
        self.asked = 0  # rows that games filled

    def run(self, games: Iterable[Callable[[Rows], Game[R]]]) -> Iterator[R]:
        """Yield the outcomes of games in the order in which they end; a new game begins wherever one has ended.

        Args:
            games: functions that begin a game on the rows they are given; taken when a slot is free.
        """
        waiting = iter(games)
        playing: dict[int, Game[R]] = {}
        while True:
            for slot, rows in enumerate(self.slots):
                if slot in playing:
                    continue
                for begin in waiting:
                    game = begin(rows)
                    outcome, over = self._advance(game, None)
                    if not over:
                        playing[slot] = game
                        break
                    yield outcome  # type: ignore[misc]
            if not playing:
                return
            answers = self._evaluate()
            for slot in list(playing):
                outcome, over = self._advance(playing[slot], answers(slot))
                if over:
                    del playing[slot]
                    yield outcome  # type: ignore[misc]

    def _advance(self, game: Game[R], answer: Answer | None) -> tuple[R | None, bool]:
        try:
            self.asked += next(game) if answer is None else game.send(answer)
        except StopIteration as end:
            return end.value, True
        return None, False

    def _evaluate(self) -> Callable[[int], Answer]:
        """Evaluate the whole batch; return a function from slot to the slot's answer."""
        self.steps += 1
        pieces = [
            self.evaluator.evaluate(
                self._spatial[i : i + self.piece], self._globals[i : i + self.piece], ownership=self.ownership
            )
            for i in range(0, len(self._spatial), self.piece)
        ]
        rows = len(self.slots[0].spatial)

        def part(slot: int) -> Answer:
            piece, first = divmod(slot * rows, self.piece)
            return pieces[piece], first

        return part
