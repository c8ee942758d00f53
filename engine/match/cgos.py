"""`keisei cgos --server HOST:PORT --name NAME`: plays on a CGOS server until told to stop.

Logs in, plays what the server sets up, says `ready` after each game, and comes back after a lost connection, with
growing pauses; a game in progress goes on then. Ctrl-C ends after the game in progress, a second one at once.
cgos_text.py has the protocol's words, cgos_game.py one game.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine import __version__
from engine.errors import ConfigError
from engine.usage import Parser

from .cgos_game import CgosGame, Lag
from .cgos_text import ANALYSIS, CLIENT, CgosError, parse_setup
from .engines import Slot, make_slot, parse_engines
from .gtp_client import EngineFailed
from .local import NetPool, parse_local

log = logging.getLogger(__name__)

PASSWORD = "KEISEI_CGOS_PASSWORD"  # environment variable
POLL = 0.5  # seconds between looks at the stop event
CONNECT = 20.0  # seconds to wait for a connection
LONGEST_LINE = 1 << 20  # bytes
FIRST_PAUSE, LONGEST_PAUSE = 2.0, 300.0  # seconds before connecting again
RESUME = 15.0  # seconds after logging in within which the server goes on with an unfinished game
FATAL = re.compile(r"(?i)password|user name|invalid response")  # refusals that another try does not mend


class Refused(CgosError):
    """The server will not have us, and another try is of no use."""


class Disconnected(CgosError):
    """The connection is lost."""


@dataclass(frozen=True, slots=True)
class Account:
    """Where to play, and as whom."""

    host: str
    port: int
    name: str
    password: str


class Line:
    """A connection as lines of text. Raises Disconnected when it is lost."""

    def __init__(self, account: Account) -> None:
        try:
            self._socket = socket.create_connection((account.host, account.port), timeout=CONNECT)
        except OSError as error:
            raise Disconnected(f"cannot connect to {account.host}:{account.port}: {error}") from None
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        with contextlib.suppress(OSError):
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(POLL)
        self._waiting = b""

    def read(self, stop: Callable[[], bool]) -> str | None:
        """Return the next line; None if `stop` says so while there is none."""
        while b"\n" not in self._waiting:
            if stop():
                return None
            try:
                data = self._socket.recv(1 << 16)
            except TimeoutError:
                continue
            except OSError as error:
                raise Disconnected(f"connection lost: {error}") from None
            if not data:
                raise Disconnected("the server has closed the connection")
            self._waiting += data
            if len(self._waiting) > LONGEST_LINE:
                raise Disconnected("the server sends an endless line")
        line, _, self._waiting = self._waiting.partition(b"\n")
        return line.decode("utf-8", "replace").strip()

    def write(self, text: str) -> None:
        """Send a line."""
        try:
            self._socket.settimeout(CONNECT)
            self._socket.sendall(text.encode() + b"\n")
            self._socket.settimeout(POLL)
        except OSError as error:
            raise Disconnected(f"connection lost: {error}") from None

    def close(self) -> None:
        """End the connection."""
        with contextlib.suppress(OSError):
            self._socket.close()


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


@contextlib.contextmanager
def _interrupts(stop: threading.Event, plays: Callable[[], bool]) -> Iterator[None]:
    """The first Ctrl-C sets the event, the second ends at once. `plays` tells whether a game is in progress."""

    def note(number: int, frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        log.warning("ending after the game in progress; Ctrl-C again ends at once" if plays() else "ending")

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei cgos`. Errors go to the caller as EngineError."""
    parser = Parser(prog="keisei cgos", description=__doc__)
    parser.add_argument("--server", required=True, metavar="HOST:PORT", help="for example yss-aya.com:6809 (9x9)")
    parser.add_argument("--name", required=True, help="of the account, made when it first logs in")
    parser.add_argument("--password-file", type=Path, metavar="FILE", help=f"its first line; else ${PASSWORD}")
    parser.add_argument("--engine", default="keisei:", metavar="ENGINE", help="as of keisei match (keisei:)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for an SGF of every game")
    parser.add_argument("--games", type=int, metavar="N", help="leave after so many games")
    parser.add_argument("--reserve", type=float, default=1.0, metavar="SECONDS", help="kept back at each move (1)")
    options = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    account = _account(options)
    (engine,) = parse_engines([f"engine={options.engine}"])
    if engine.is_local:
        parse_local(engine.command)
    if (options.games is not None and options.games < 1) or options.reserve < 0:
        raise ConfigError("--games begins at 1, --reserve at 0")
    nets, stop = NetPool(), threading.Event()
    with tempfile.TemporaryDirectory(prefix="keisei-") as logs:
        slot = make_slot(engine, timeout=120.0, log=Path(logs) / "engine.log", nets=nets)
        try:
            client = CgosClient(account, slot, folder=options.out, games=options.games, reserve=options.reserve,
                                stop=stop)  # fmt: skip
            with _interrupts(stop, lambda: client.plays):
                client.run()
        except EngineFailed as error:
            raise CgosError(str(error)) from None
        finally:
            slot.close()
            nets.close()
    return 0


def _account(options: argparse.Namespace) -> Account:
    """Return whom to log in as. Raises ConfigError."""
    host, _, port = options.server.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ConfigError(f"--server {options.server}: HOST:PORT")
    if not re.fullmatch(r"[A-Za-z0-9_.-]{3,18}", options.name):
        raise ConfigError(f"--name {options.name}: 3 to 18 letters, digits, _ . and -")
    if options.password_file is not None:
        try:
            password = options.password_file.read_text("utf-8").split("\n", 1)[0].strip()
        except (OSError, ValueError) as error:
            raise ConfigError(f"--password-file: {error}") from None
    else:
        password = os.environ.get(PASSWORD, "")
    if not re.fullmatch(r"[A-Za-z0-9_.-]{3,16}", password):
        raise ConfigError(f"a password of 3 to 16 letters, digits, _ . and - is needed: --password-file or ${PASSWORD}")
    return Account(host.strip("[]"), int(port), options.name, password)
