"""The table of GTP commands: what a command is called, how it runs, what it takes. Commands add themselves.

A handler gets the controller (engine.gtp.controller) and the request, and returns the body of the reply, or raises. A
streaming handler (analysis) gets a third argument, the open reply, and writes lines to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Handler = Callable[..., str | None]


@dataclass(frozen=True, slots=True)
class Command:
    """One command."""

    name: str
    handler: Handler
    usage: str  # arguments as documentation writes them
    help: str  # first line of the handler's docstring
    streaming: bool  # writes lines before it ends
    thinks: bool  # may take long: it waits for the net, and the end of the input abandons it
    cancellable: bool = False  # any line ends it, as it ends an analysis


COMMANDS: dict[str, Command] = {}


def command(
    name: str, usage: str = "", *, streaming: bool = False, thinks: bool = False, cancellable: bool = False
) -> Callable[[Handler], Handler]:
    """Register the decorated function as the GTP command `name`."""

    def register(handler: Handler) -> Handler:
        if name in COMMANDS:
            raise ValueError(f"the command {name} is there already")
        doc = (handler.__doc__ or "").strip().partition("\n")[0]
        COMMANDS[name] = Command(name, handler, usage, doc, streaming, thinks, cancellable)
        return handler

    return register


def names() -> list[str]:
    """Return the commands as list_commands gives them: protocol_version first (LizzieYzy waits for it), then sorted."""
    return ["protocol_version", *sorted(name for name in COMMANDS if name != "protocol_version")]
