"""`keisei cgos --server HOST:PORT --name NAME`: plays on a CGOS server until told to stop.

Ctrl-C ends after the game in progress, a second one at once. cgos_client.py plays.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from engine.errors import ConfigError
from engine.files import reason
from engine.usage import Parser

from .cgos_client import CgosClient
from .cgos_line import Account
from .cgos_text import CgosError
from .engines import make_slot, parse_engines
from .gtp_client import EngineFailed
from .local import NetPool, parse_local

log = logging.getLogger(__name__)

PASSWORD = "KEISEI_CGOS_PASSWORD"  # environment variable


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
    parser = Parser(prog="keisei cgos", description="Play on a CGOS server until told to stop. Ctrl-C ends after "
                    "the game in progress, a second one at once. docs/match.md is the manual.")  # fmt: skip
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
    if options.out is not None:
        try:
            options.out.mkdir(parents=True, exist_ok=True)  # rather than in the first game
        except OSError as error:
            raise ConfigError(f"--out: cannot make {options.out}: {reason(error)}") from None
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
        except KeyboardInterrupt:
            slot.abort()  # it may be thinking, and would not hear `quit`
            raise
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
