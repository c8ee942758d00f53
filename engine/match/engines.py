"""The engines of a match by name: `NAME=COMMAND`, a GTP command line or a Keisei in this process (`keisei:…`).

What plays is behind one face, the Slot: a place where text commands are answered, that is started when first needed and
again after it was dropped. engine_slot.py is one over a process, local.py one without.
"""

from __future__ import annotations

import re
import shlex
import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from engine.errors import ConfigError

from .engine_slot import EngineSlot

if TYPE_CHECKING:
    from .local import NetPool

LOCAL = "keisei:"  # begins the command of an engine that plays in this process
REFEREE = "referee"
UNNAMED = re.compile(r"[A-Z]|E\d+", re.ASCII)  # labels of engines that were given no name
_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.+@-]*)=(.+)", re.ASCII | re.DOTALL)
_MISNAMED = re.compile(rf"((?!.*\s-)[^=/]+)={LOCAL}.*", re.DOTALL)  # surely meant as a name


class Slot(Protocol):
    """A place for an engine. All but abort() belong to one thread."""

    label: str  # what the match calls the engine
    name: str  # what it calls itself, once started
    commands: frozenset[str]  # what it understands, once started
    timeout: float  # seconds for each reply

    def start(self) -> None:
        """Start the engine if it is not running. Raises EngineFailed."""
        ...

    def send(self, command: str) -> str:
        """Send a command and return the reply without "= ". Raises GtpError and EngineFailed."""
        ...

    def drop(self) -> None:
        """End the engine at once; the next start() makes a new one."""
        ...

    def close(self) -> None:
        """End the engine politely, for good."""
        ...

    def abort(self) -> None:
        """End the engine at once, for good; from any thread."""
        ...

    def cpu_seconds(self) -> float | None:
        """Return the processor time the running engine has used so far, None where that is not known."""
        ...

    def new_words(self) -> str:
        """Return what the engine has said on its standard error since the last call."""
        ...


@dataclass(frozen=True)
class Engine:
    """One engine of a match."""

    label: str
    command: str

    @property
    def is_local(self) -> bool:
        """True if it plays in this process."""
        return self.command.startswith(LOCAL)


def parse_engines(texts: Sequence[str]) -> list[Engine]:
    """Return the engines of these `NAME=COMMAND` or plain command texts; without a name they are A, B, C, ….

    Raises ConfigError for names that occur twice or are none.
    """
    engines = []
    for i, text in enumerate(texts):
        name, command = split_name(text)
        engines.append(Engine(name or (string.ascii_uppercase[i] if i < 26 else f"E{i + 1}"), command))
    labels = [engine.label for engine in engines]
    for label in labels:
        if labels.count(label) > 1:
            raise ConfigError(f"two engines are called {label}")
        if label == REFEREE:
            raise ConfigError(f"no player may be called {REFEREE}")
    return engines


def split_name(text: str) -> tuple[str | None, str]:
    """Return name (None: none given) and command of `NAME=COMMAND` or a plain command.

    Raises ConfigError where what stands before `=keisei:` is no name.
    """
    match = _NAMED.fullmatch(text.strip())
    if match is not None:
        return match[1], match[2].strip()
    wrong = _MISNAMED.fullmatch(text.strip())
    if wrong is not None and not wrong[1].startswith(LOCAL):
        raise ConfigError(f"{wrong[1]!r} is no name for an engine: letters, digits and _ . + @ - only, "
                          "beginning with a letter or digit")  # fmt: skip
    return None, text.strip()


def shown_names(engines: Sequence[Engine]) -> dict[str, str]:
    """Return by label what people read: the name that was given, else the program's, with the letter if two share it.

    A lone letter beside a result (`B - A B+17.5`) would read as a color.
    """
    names = {engine.label: _program(engine.command) if UNNAMED.fullmatch(engine.label) else engine.label
             for engine in engines}  # fmt: skip
    taken = list(names.values())
    return {label: name if name == label or taken.count(name) == 1 else f"{name} {label}"
            for label, name in names.items()}  # fmt: skip


def _program(command: str) -> str:
    """Return the base name of a command's program; of a Keisei in this process the whole word."""
    try:
        word = shlex.split(command)[0]
    except (ValueError, IndexError):
        word = command.split()[0] if command.split() else command
    return word if word.startswith(LOCAL) and word != LOCAL else re.split(r"[/\\]", word.rstrip(":/"))[-1] or word


def make_slot(engine: Engine, *, timeout: float, log: Path, nets: NetPool) -> Slot:
    """Return the place where an engine will run; nothing starts yet."""
    if engine.is_local:
        from .local import LocalSlot

        return LocalSlot(engine.label, engine.command, timeout, nets)
    return EngineSlot(engine.label, engine.command, timeout, log)
