"""Asks a GTP program to judge: any engine that answers final_status_list and final_score.

`{rules}` in the command line becomes chinese or japanese (the kind of scoring), so that programs whose rules are an
option get theirs: `gnugo --mode gtp --level 10 --{rules}-rules`. Programs that know kata-set-rules are told by that.
One process a command line is kept and given one game after the other; a crash is one wrong answer, not the end.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

import numpy as np

from engine.board.position import BLACK, WHITE, Position
from engine.board.vertex import format_vertex, parse_vertex
from engine.errors import EngineError
from engine.match.gtp_client import EngineFailed, GtpError, GtpProcess

from .answers import Answer

if TYPE_CHECKING:
    from numpy.typing import NDArray

KATAGO_RULES = {"chinese": "chinese", "japanese": "japanese", "korean": "korean", "aga": "aga",
                "new-zealand": "new-zealand"}  # fmt: skip


class GtpJudge:
    """A program as a judge.

    Args:
        command: its command line.
        timeout: seconds for one reply.
        owners: also ask whose the points are (three more commands).
    """

    def __init__(self, command: str, *, timeout: float = 300.0, owners: bool = True) -> None:
        self.name = f"gtp:{command}"
        self._command, self._timeout, self._owners = command, timeout, owners
        self._running: dict[str, tuple[GtpProcess, frozenset[str]]] = {}

    def judge(self, position: Position, rules: str) -> Answer:
        """Return the program's answer; its errors are in it."""
        kind = "japanese" if position.rules.scoring == "TERRITORY" else "chinese"
        command = self._command.replace("{rules}", kind)
        start = time.monotonic()
        try:
            engine, known = self._start(command)
            self._set_up(engine, known, position, rules)
            start = time.monotonic()
            dead = frozenset(self._stones(engine, "dead", position))
            score = parse_score(engine.send("final_score", self._timeout))
            seconds = time.monotonic() - start
            return Answer(seconds, dead, score, self._owner(engine, position, dead) if self._owners else None)
        except EngineFailed as error:
            engine_and_commands = self._running.pop(command, None)
            if engine_and_commands:
                engine_and_commands[0].kill()
            return Answer(time.monotonic() - start, error=str(error))
        except (EngineError, ValueError) as error:
            return Answer(time.monotonic() - start, error=str(error) or "an error without text")

    def close(self) -> None:
        """End the program."""
        for engine, _ in self._running.values():
            engine.close()
        self._running.clear()

    def _start(self, command: str) -> tuple[GtpProcess, frozenset[str]]:
        if command not in self._running:
            engine = GtpProcess(command)
            try:
                known = frozenset(engine.send("list_commands", self._timeout).split())
            except EngineError:
                engine.kill()
                raise
            self._running[command] = engine, known
        return self._running[command]

    def _set_up(self, engine: GtpProcess, known: frozenset[str], position: Position, rules: str) -> None:
        if position.width != position.height:
            raise GtpError("only square boards can be set up over GTP")
        engine.send(f"boardsize {position.width}", self._timeout)
        engine.send("clear_board", self._timeout)
        if "kata-set-rules" in known:
            engine.send(f"kata-set-rules {KATAGO_RULES[rules]}", self._timeout)
        engine.send(f"komi {position.komi:g}", self._timeout)
        size = position.width
        stones = [format_vertex(action, size, size) for color, action in position.setup_stones if color == BLACK]
        others = [(color, action) for color, action in position.setup_stones if color == WHITE]
        if len(stones) > 1 and "set_free_handicap" in known and not others:
            engine.send("set_free_handicap " + " ".join(stones), self._timeout)
        else:
            others += [(color, action) for color, action in position.setup_stones if color == BLACK]
        for color, action in [*others, *position.moves]:
            engine.send(f"play {'bw'[color - 1]} {format_vertex(action, size, size)}", self._timeout)

    def _stones(self, engine: GtpProcess, status: str, position: Position) -> list[int]:
        reply = engine.send(f"final_status_list {status}", self._timeout)
        return [parse_vertex(word, position.width, position.height) for word in reply.split()]

    def _owner(self, engine: GtpProcess, position: Position, dead: frozenset[int]) -> NDArray[np.uint8] | None:
        board = position.board().ravel()
        owner = board.copy()
        for action in dead:
            owner[action] = BLACK + WHITE - board[action]
        with contextlib.suppress(GtpError, ValueError):
            for color, status in ((BLACK, "black_territory"), (WHITE, "white_territory")):
                owner[self._stones(engine, status, position)] = color
            return owner
        return None


def parse_score(text: str) -> float:
    """Read a final_score reply: "B+3.5", "W+0.5", "0".

    Raises:
        ValueError: it is neither.
    """
    word = text.split()[0].upper() if text.split() else ""
    if word in ("0", "DRAW", "JIGO"):
        return 0.0
    if word[:2] in ("B+", "W+"):
        return float(word[2:]) * (1 if word[0] == "B" else -1)
    raise ValueError(f"{text!r} is no score")
