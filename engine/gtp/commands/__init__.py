"""The GTP commands. Importing this package registers them all; none of it imports the board, numpy or a net."""

from engine.gtp.commands import (
    analyze,
    basics,
    clock,
    displays,
    gogui,
    gomill,
    parameters,
    play,
    records,
    servers,
    setup,
    status,
)

__all__ = [
    "analyze",
    "basics",
    "clock",
    "displays",
    "gogui",
    "gomill",
    "parameters",
    "play",
    "records",
    "servers",
    "setup",
    "status",
]
