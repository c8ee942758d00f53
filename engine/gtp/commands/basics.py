"""What the engine is and knows: commands that are answered before anything is loaded."""

from __future__ import annotations

import time

from engine.gtp.controller import Controller
from engine.gtp.protocol import SYNTAX_ERROR, GtpError, Request
from engine.gtp.registry import COMMANDS, command, names


@command("protocol_version")
def protocol_version(controller: Controller, request: Request) -> str:
    """Answer 2, the version of the protocol."""
    return "2"


@command("name")
def name(controller: Controller, request: Request) -> str:
    """Answer the name of the engine."""
    return controller.settings.shown_name


@command("version")
def version(controller: Controller, request: Request) -> str:
    """Answer the version of the engine, in the form that clients parse."""
    return controller.settings.shown_version


@command("known_command", "COMMAND")
def known_command(controller: Controller, request: Request) -> str:
    """Answer true if the command is known, else false."""
    if not request.args:
        raise GtpError(SYNTAX_ERROR)
    return "true" if request.args[0] in COMMANDS else "false"


@command("list_commands")
def list_commands(controller: Controller, request: Request) -> str:
    """List all commands, one a line."""
    return "\n".join(names())


@command("quit")
def quit_(controller: Controller, request: Request) -> str:
    """End the engine."""
    controller.finished = True
    return ""


@command("stop")
def stop(controller: Controller, request: Request) -> str:
    """Do nothing: like any line, it has ended the analysis before it."""
    return ""


@command("cputime")
@command("gomill-cpu_time")
def cputime(controller: Controller, request: Request) -> str:
    """Answer the processor time the engine has used, in seconds."""
    return f"{time.process_time():.3f}"
