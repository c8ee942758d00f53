"""The client of a CGOS server: logs in, plays what the server sets up, and comes back after a lost connection.

It says `ready` after each game; the pauses before it connects again grow, and a game in progress goes on then.
cgos_text.py has the protocol's words, cgos_line.py the connection, cgos_game.py one game.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from pathlib import Path

from engine import __version__

from .cgos_game import CgosGame, Lag
from .cgos_line import Account, Line, Refused
from .cgos_text import ANALYSIS, CLIENT, CgosError, parse_setup
from .engines import Slot

log = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 2.0, 300.0  # seconds before connecting again
RESUME = 15.0  # seconds after logging in within which the server goes on with an unfinished game
FATAL = re.compile(r"(?i)password|user name|invalid response")  # refusals that another try does not mend


class CgosClient:
    """Plays games on a server.

    Args:
        account: where, and as whom.
        slot: the engine.
        folder: where records go; None for none.
        games: how many to play; None without end.
        reserve: seconds kept back at each move.
        stop: set to end after the game in progress.
    """

    def __init__(
        self,
        account: Account,
        slot: Slot,
        *,
        folder: Path | None = None,
        games: int | None = None,
        reserve: float = 1.0,
        stop: threading.Event | None = None,
        pause: float = FIRST_PAUSE,
    ) -> None:
        self.account, self._slot, self._folder = account, slot, folder
        self._games, self._reserve, self._first_pause = games, reserve, pause
        self.stop = stop or threading.Event()
        self.finished: list[str] = []  # results
        self._game: CgosGame | None = None
        self._lag = Lag()
        self._analysis = False

    def run(self) -> None:
        """Play until the games are played or `stop` is set. Raises Refused, and EngineFailed if there is no engine."""
        self._slot.start()
        pause = self._first_pause
        while not self._done():
            begun = time.monotonic()
            try:
                self._session()
                return
            except Refused:
                raise
            except CgosError as error:
                if self.stop.is_set() and self._game is None:
                    return
                if time.monotonic() - begun > 60:
                    pause = self._first_pause
                log.warning("%s; connecting again in %.0f s", error, pause)
            if self.stop.wait(pause) and self._game is None:
                return
            pause = min(2 * pause, LONGEST_PAUSE)

    @property
    def plays(self) -> bool:
        """True while a game is in progress, a lost connection or not."""
        return self._game is not None

    def _done(self) -> bool:
        enough = self._games is not None and len(self.finished) >= self._games
        return self._game is None and (enough or self.stop.is_set())

    def _session(self) -> None:
        line = Line(self.account)
        logged_in = False
        unfinished, begun = self._game, time.monotonic()

        def done() -> bool:
            if self._game is unfinished is not None and time.monotonic() - begun > RESUME:
                log.warning("game %s has ended without us", unfinished.setup.game)
                self._game = None
            return self._done()

        try:
            while (text := line.read(done)) is not None:
                word, _, rest = text.partition(" ")
                if word.rstrip(":").lower() in ("error", "sorry,", "sorry") and self._game is None:
                    raise (Refused if FATAL.search(text) and not logged_in else CgosError)(f"the server says: {text}")
                answer = self._answer(word, rest)
                logged_in = logged_in or word in ("setup", "info", "play", "genmove")
                if answer is not None:
                    line.write(answer)
                if answer == "quit":
                    return
            line.write("quit")
        finally:
            line.close()

    def _answer(self, word: str, rest: str) -> str | None:
        """Return what to say to a line of the server's; None for nothing."""
        if word == "protocol":
            self._analysis = ANALYSIS in rest.split()
            return f"{CLIENT} {__version__}" + (f" {ANALYSIS}" if self._analysis else "")
        if word == "username":
            return self.account.name
        if word == "password":
            log.info("%s at %s:%d: logging in, then waiting for a game", self.account.name, self.account.host,
                     self.account.port)  # fmt: skip
            return self.account.password
        if word == "info":
            log.info("server: %s", rest)
        elif word == "setup":
            self._begin(rest)
        elif word == "play" and self._game is not None:
            self._game.played(*_words(rest, 3))
        elif word == "genmove" and self._game is not None:
            return self._game.genmove(*_words(rest, 2))
        elif word == "gameover":
            return self._end(rest)
        elif word:
            log.warning("not understood: %s %s", word, rest[:80])
        return None

    def _begin(self, rest: str) -> None:
        setup = parse_setup(rest)
        log.info("game %s: %s (%s) is White, %s (%s) Black, %d moves played", setup.game, setup.white,
                 setup.white_rating, setup.black, setup.black_rating, len(setup.moves))  # fmt: skip
        self._game = CgosGame(setup, self.account.name, self._slot, folder=self._folder, reserve=self._reserve,
                              lag=self._lag, analysis=self._analysis)  # fmt: skip

    def _end(self, rest: str) -> str:
        if self._game is not None:
            self._game.over(rest)
            self.finished.append(self._game.result)
            log.info("game %s: %s", self._game.setup.game, self._game.result)
            self._game = None
        return "quit" if self._done() else "ready"


def _words(text: str, count: int) -> list[str]:
    """Return the first words of a line. Raises CgosError if there are fewer."""
    words = text.split()
    if len(words) < count:
        raise CgosError(f"the server said too little: {text[:80]}")
    return words[:count]
