"""Keisei in the process of the match: the same commands as over GTP, without a process and with shared nets.

A command is `keisei:[NET[@VISITS]] [OPTIONS]`, OPTIONS as of `keisei gtp`. Engines of one net and one section `net`
share an evaluator, in which positions from games played at the same time meet in one batch (engine.nn.batching).
"""

from __future__ import annotations

import dataclasses
import logging
import shlex
import threading
import time
import warnings
from dataclasses import dataclass, field

from engine import factory
from engine.cli import add_common_options, layers
from engine.errors import ConfigError, EngineError, IllegalMove, UnsupportedBoardSize
from engine.factory import EngineSettings
from engine.gtp import commands as gtp_commands
from engine.gtp import protocol
from engine.gtp.controller import Controller
from engine.gtp.registry import COMMANDS, names
from engine.gtp.session import one_line
from engine.nn.batching import BatchingEvaluator
from engine.nn.settings import NetSettings
from engine.player.net import LoadedNet, ReadyNet
from engine.player.stop import Abandoned
from engine.usage import Parser

from .engines import LOCAL
from .gtp_client import EngineFailed, GtpError

log = logging.getLogger(__name__)

NO_MIMICRY = (
    f"{LOCAL} takes no --mimic: that is for GUIs which choose commands by an engine's name; a match chooses them by "
    "list_commands, and its records would name an engine that did not play (--name gives a name of your own)"
)

assert gtp_commands  # imported so that they are registered


@dataclass
class Lines:
    """The reply of an analysis, gathered instead of sent."""

    lines: list[str] = field(default_factory=list)

    def open(self) -> None:
        """Begin the reply."""

    def line(self, text: str) -> None:
        """Take one line."""
        self.lines.append(text)


class NetPool:
    """The nets of a match in this process, each loaded once. Safe to use from several threads.

    Args:
        sharers: games that may be asking at the same time.
    """

    def __init__(self, sharers: int = 1) -> None:
        self._sharers = sharers
        self._nets: dict[tuple[str | None, NetSettings], tuple[LoadedNet, BatchingEvaluator]] = {}
        self._lock = threading.Lock()

    def get(self, net: str | None, settings: NetSettings) -> LoadedNet:
        """Return a net for one player, loading it when it is first asked for. Raises EngineError."""
        with self._lock:
            key = (net, settings)
            if key not in self._nets:
                # Nets are compiled in several threads here, where the compiler's own silencing does not hold.
                warnings.filterwarnings("ignore", message="Converting a tensor to a Python")
                loaded = factory.load(net, settings, playing=True)
                inner = loaded.evaluator
                rows = min(getattr(inner, "preferred_batch", 1), max(1, inner.max_batch // self._sharers))
                # Nobody waits for company: most players are idle, and while a batch is evaluated the next one gathers.
                self._nets[key] = loaded, BatchingEvaluator(inner, wait=0.0, client_batch=rows)
            loaded, shared = self._nets[key]
            return dataclasses.replace(loaded, evaluator=shared.client())

    def close(self) -> None:
        """End the nets' threads; searches that still run fail."""
        with self._lock:
            for _, shared in self._nets.values():
                shared.close()
            self._nets.clear()


class LocalParser(Parser):
    """Options of an engine in this process; a wrong one is a ConfigError."""

    def error(self, message: str):  # type: ignore[no-untyped-def]
        raise ConfigError(f"{self.prog} {message}")


def parse_local(command: str) -> tuple[str | None, EngineSettings]:
    """Return the net and the settings that `keisei:…` names. Raises ConfigError."""
    try:
        words = shlex.split(command.removeprefix(LOCAL))
    except ValueError as error:
        raise ConfigError(f"{command}: {error}") from None
    given: list[str] = []
    if words and not words[0].startswith("-"):
        net, _, visits = words[0].rpartition("@") if "@" in words[0] else (words[0], "", "")
        given = ["--net", net] if net else []
        given += ["--visits", visits] if visits else []
        words = words[1:]
    parser = LocalParser(prog=LOCAL)
    add_common_options(parser)
    parser.add_argument("--level")
    parser.add_argument("--name")
    parser.add_argument("--version")
    parser.add_argument("--mimic")
    options = parser.parse_args([*given, *words])
    if options.mimic is not None or any(text.startswith("gtp.mimic") for text in options.set):
        raise ConfigError(NO_MIMICRY)
    front = {key: value for key in ("name", "version") if (value := getattr(options, key)) is not None}
    settings = factory.make_settings(factory.preset("gtp"), *layers(options), {"gtp": front})
    return options.net, settings


class LocalSlot:
    """A Slot without a process (see engines.Slot). A reply that is late is abandoned, and counts as a timeout."""

    def __init__(self, label: str, command: str, timeout: float, nets: NetPool) -> None:
        self.label = label
        self.command = command
        self.timeout = timeout
        self.commands: frozenset[str] = frozenset(names())
        self.name = ""
        self._nets = nets
        self._controller: Controller | None = None
        self._closed = False
        self._cpu = 0.0

    def start(self) -> None:
        """Make the player, loading its net if it is the first. Raises EngineFailed."""
        if self._closed:
            raise EngineFailed("crash", "the match is over")
        if self._controller is not None:
            return
        try:
            net, settings = parse_local(self.command)
            loaded = self._nets.get(net, settings.net)
        except (EngineError, OSError) as error:
            raise EngineFailed("start", f"cannot start {self.command!r}: {error}") from None
        self._controller = Controller(lambda: factory.make_player(settings, ReadyNet(loaded)), settings.gtp)
        self.name = f"{settings.gtp.name} {settings.gtp.version} ({loaded.name})"

    def send(self, command: str) -> str:
        """Answer a command as a GTP session would. Raises GtpError and EngineFailed."""
        controller = self._controller
        if controller is None:
            raise EngineFailed("crash", "the engine is not running")
        request = protocol.parse(command.encode())
        entry = COMMANDS.get(request.name) if request is not None else None
        if request is None or entry is None:
            raise GtpError(protocol.UNKNOWN_COMMAND)
        token = controller.begin()
        if self._closed:
            token.abandon()
        timer = threading.Timer(self.timeout, token.abandon) if entry.thinks else None
        lines = Lines()
        started = time.thread_time()
        try:
            if timer is not None:
                timer.daemon = True
                timer.start()
            text = entry.handler(controller, request, *((lines,) if entry.streaming else ())) or ""
        except (protocol.GtpError, EngineError) as error:
            raise GtpError(_error_text(error)) from None
        except Abandoned:
            if self._closed:
                raise EngineFailed("crash", "the match is over") from None
            raise EngineFailed("timeout", f"no reply to {command!r} within {self.timeout:g} s") from None
        except Exception as error:
            log.exception("%s: %s failed", self.label, request.name)
            raise EngineFailed("crash", f"{request.name} failed: {error!r}") from None
        finally:
            self._cpu += time.thread_time() - started
            if timer is not None:
                timer.cancel()
        return "\n".join([text, *lines.lines])

    def drop(self) -> None:
        """Forget the player, and abandon what it thinks about; the next start() makes another."""
        controller, self._controller = self._controller, None
        if controller is not None:
            controller.token.abandon()

    def close(self) -> None:
        """Forget the player for good."""
        self._closed = True
        self._controller = None

    def abort(self) -> None:
        """Abandon what is being thought about, for good."""
        self._closed = True
        controller = self._controller
        if controller is not None:
            controller.token.abandon()

    def cpu_seconds(self) -> float | None:
        """Return the time of the game's thread; what the net took is in its own threads and not known a game."""
        return self._cpu

    def new_words(self) -> str:
        """Return nothing: warnings go where the match's do."""
        return ""


def _error_text(error: Exception) -> str:
    if isinstance(error, IllegalMove):
        return "illegal move"
    if isinstance(error, UnsupportedBoardSize):
        return "unacceptable size"
    return one_line(str(error))
