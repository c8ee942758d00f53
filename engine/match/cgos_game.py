"""One game on CGOS: the engine, our own board, the clock with its lag, and the record.

The server's clock runs while lines are on their way, so the engine is told less than the server says: a reserve and
the lag seen so far are kept back. An engine that says nothing for too long, or that fails, is replaced for that move
by a legal move, and started anew; a game is lost on the board, not by the clock.
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from engine import sgf
from engine.board.position import BLACK, WHITE, Position
from engine.board.rules import parse_rules
from engine.board.vertex import format_vertex, parse_vertex
from engine.errors import EngineError, IllegalMove

from .cgos_text import CgosError, Setup, analysis_json
from .engines import Slot
from .gtp_client import EngineFailed, GtpError
from .store import write_text

log = logging.getLogger(__name__)

RULES = '{"ko":"POSITIONAL","scoring":"AREA","tax":"NONE","suicide":false,"friendlyPassOk":false}'
COLORS = {"b": BLACK, "w": WHITE, "black": BLACK, "white": WHITE}
LEAST = 0.2  # seconds below which the engine is not asked any more
MOST_SHARE = 0.4  # of the time left, for one move: an engine that takes longer is not well
UNWELL_SHARE = 0.1  # once it has done so
TOLD = 5.0  # seconds in which an engine has to take a move of the opponent's
SELDOM = 100_000_000  # centiseconds between reports: only the one at the end comes


@dataclass
class Lag:
    """What the way to the server and back takes, from the server's clock and ours."""

    worst: float = 0.0  # seconds, of recent moves

    def saw(self, server: float, ours: float) -> None:
        """Take one move: the seconds that the server counted and those that passed here."""
        self.worst = max(0.9 * self.worst, min(max(server - ours, 0.0), 30.0))


class CgosGame:
    """A game in progress.

    Args:
        setup: as the server told it.
        name: our name there.
        slot: the engine.
        folder: where the record goes; None for none.
        reserve: seconds kept back at each move.
    """

    def __init__(
        self, setup: Setup, name: str, slot: Slot, *, folder: Path | None, reserve: float, lag: Lag, analysis: bool
    ) -> None:
        if name not in (setup.white, setup.black):
            raise CgosError(f"game {setup.game} is between {setup.white} and {setup.black}, not {name}")
        self.setup = setup
        self.color = WHITE if name == setup.white else BLACK
        self.position = Position(setup.size, rules=parse_rules(RULES), komi=setup.komi)
        self.result = ""
        self._slot, self._lag, self._reserve, self._analysis = slot, lag, reserve, analysis
        self._comments: dict[int, str] = {}
        self._behind = True  # the engine does not know the position
        self._unwell = False  # the engine has taken too long before
        self._turn = 0  # counts what the engine was asked, so that a late failure is known as one
        self._told: float | None = None  # seconds left as the server said before our last move
        self._took = 0.0
        self._path = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            names = re.sub(r"[^\w.-]", "_", f"{setup.game}-{setup.black}-{setup.white}")
            self._path = folder / f"{names}.sgf"
        for vertex, milliseconds in setup.moves:
            self._put(self.position.to_play, vertex, milliseconds)
        self.save()

    def played(self, color: str, vertex: str, milliseconds: str) -> None:
        """Take a move of the opponent's."""
        self._put(_color(color), vertex, _whole(milliseconds))
        if not self._behind:
            self._slot.timeout = TOLD  # the server's clock may be ours by now, and an engine has nothing to think about
            try:
                self._slot.send(f"play {color} {vertex}")
            except (EngineFailed, GtpError) as error:
                self._give_up_on_engine(error)
        self.save()

    def genmove(self, color: str, milliseconds: str) -> str:
        """Return the answer to `genmove`: a move, and figures behind it if the server takes them."""
        started = time.monotonic()
        left = _whole(milliseconds) / 1000
        if self._told is not None:
            self._lag.saw(self._told - left, self._took)
        answer: list[tuple[str, str]] = []
        self._turn += 1
        turn = self._turn

        def think() -> None:
            try:
                answer.append(self._ask(_color(color), left))
            except EngineError as error:
                if turn == self._turn:  # else the engine has been given up on, and another may be running
                    self._give_up_on_engine(error)

        usable = max(0.0, left - 2 * self._lag.worst - self._reserve)
        if usable > LEAST:
            thread = threading.Thread(target=think, daemon=True)
            thread.start()
            thread.join((UNWELL_SHARE if self._unwell else MOST_SHARE) * usable)
            if not answer and thread.is_alive():
                self._turn += 1
                self._unwell = True
                self._give_up_on_engine(EngineFailed("timeout", "no move in the time that one may take"))
        if not answer:
            move, figures = self._emergency(_color(color)), ""
        else:
            move, figures = answer[0]
        if move.lower() != "resign":
            try:
                self._put(_color(color), move, _whole(milliseconds), figures)
            except CgosError as error:
                self._give_up_on_engine(error)
                move, figures = self._emergency(_color(color)), ""
                self._put(_color(color), move, _whole(milliseconds))
        self._told, self._took = left, time.monotonic() - started
        return f"{move} {figures}" if figures and self._analysis else move

    def over(self, text: str) -> None:
        """Take `gameover DATE RESULT …`."""
        words = text.split()
        self.result = words[1] if len(words) > 1 else "?"
        self.save(date=words[0] if words else "")
        if "cgos-gameover" in self._slot.commands:
            self._slot.timeout = TOLD
            with contextlib.suppress(EngineFailed, GtpError):
                self._slot.send(f"cgos-gameover {self.result}")

    def save(self, date: str = "") -> None:
        """Write the record as it stands."""
        if self._path is None:
            return
        setup = self.setup
        names = {"black": f"{setup.black} {setup.black_rating}".strip(),
                 "white": f"{setup.white} {setup.white_rating}".strip()}  # fmt: skip
        result = re.sub(r"(?i)\+resign", "+R", re.sub(r"(?i)\+time", "+T", re.sub(r"(?i)\+illegal", "+F", self.result)))
        comments = {0: f"CGOS game {setup.game}, {setup.milliseconds / 1000:g} s a side", **self._comments}
        record = sgf.from_position(self.position, **names, result=result, date=date, comments=comments)
        try:
            write_text(self._path, sgf.write(record))
        except OSError as error:
            log.warning("cannot write %s: %s", self._path, error)

    # ---------------------------------------------------------------------------------------------- inside

    def _put(self, color: int, vertex: str, milliseconds: int, figures: str = "") -> None:
        """Play a move on our board. Raises CgosError if it cannot stand there."""
        try:
            self.position.play(parse_vertex(vertex, self.setup.size, self.setup.size), color)
        except (EngineError, ValueError) as error:
            raise CgosError(f"game {self.setup.game}: {vertex}: {error}") from None
        self._comments[self.position.n_moves] = f"{milliseconds / 1000:g} s left" + (f"\n{figures}" if figures else "")

    def _ask(self, color: int, left: float) -> tuple[str, str]:
        """Return the engine's move and its figures. Raises EngineError."""
        slot, letter = self._slot, "bw"[color - 1]
        usable = max(0.0, left - self._reserve - 2 * self._lag.worst)
        slot.timeout = usable
        slot.start()
        if self._behind:
            self._catch_up()
        if "time_left" in slot.commands:
            slot.send(f"time_left {letter} {int(usable)} 0")
        if "kata-genmove_analyze" not in slot.commands:
            return slot.send(f"genmove {letter}").strip(), ""
        lines = slot.send(f"kata-genmove_analyze {letter} {SELDOM}").splitlines()
        moves = [line[5:].strip() for line in lines if line.startswith("play ")]
        infos = [line for line in lines if line.startswith("info ")]
        if not moves:
            raise EngineFailed("protocol", "no move in the reply to kata-genmove_analyze")
        return moves[-1], analysis_json(infos[-1]) if infos else ""

    def _catch_up(self) -> None:
        """Show the engine the game so far. Raises EngineFailed, GtpError."""
        slot, setup = self._slot, self.setup
        slot.send(f"boardsize {setup.size}")
        slot.send("clear_board")
        if "kata-set-rules" in slot.commands:
            slot.send(f"kata-set-rules {RULES}")
        slot.send(f"komi {setup.komi:g}")
        if "time_settings" in slot.commands:
            slot.send(f"time_settings {setup.milliseconds // 1000} 0 0")
        for color, action in self.position.moves:
            slot.send(f"play {'bw'[color - 1]} {format_vertex(action, setup.size, setup.size)}")
        self._behind = False

    def _give_up_on_engine(self, error: Exception) -> None:
        move = self.position.n_moves + 1
        log.warning("game %s, move %d: %s; the engine is started anew", self.setup.game, move, error)
        self._behind = True
        self._slot.drop()

    def _emergency(self, color: int) -> str:
        """Return a legal move that fills no own eye and stands in no atari, else pass."""
        from engine.player.level import is_self_atari
        from engine.player.policy_only import useful_moves

        position, size = self.position, self.setup.size
        middle = (size - 1) / 2
        order = sorted(range(position.area), key=lambda a: abs(a % size - middle) + abs(a // size - middle))
        legal = [action for action in order if position.is_legal(action, color)]
        for action in useful_moves(position, color, legal):
            with contextlib.suppress(IllegalMove):
                if not is_self_atari(position, color, action):
                    return format_vertex(action, size, size)
        return "pass"


def _color(word: str) -> int:
    try:
        return COLORS[word.lower()]
    except KeyError:
        raise CgosError(f"the server names a color {word!r}") from None


def _whole(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise CgosError(f"the server gives a time {word!r}") from None
