"""The errors that users of the engine can meet, and nothing else.

Each carries the offending text and says where it stood. GTP turns an expected error into its canonical text; anything
that is not an EngineError is a bug and is reported as such.
"""


class EngineError(Exception):
    """Base of every expected error."""


class IllegalMove(EngineError):
    """A move that the rules forbid.

    Args:
        move: the vertex as it would be written in GTP.
        reason: "occupied", "ko", "superko", "suicide" or "off board".
    """

    def __init__(self, move: str, reason: str) -> None:
        super().__init__(f"illegal move: {move} ({reason})")
        self.move = move
        self.reason = reason


class InvalidVertex(EngineError):
    """Text that names no point of the board."""


class UnsupportedBoardSize(EngineError):
    """A board smaller than 2x2 or larger than 25x25, or a size the net cannot play."""


class ConfigError(EngineError):
    """An unknown setting, a wrong type, or a value out of range."""


class WeightsError(EngineError):
    """A net file that is missing, corrupt, or of an unknown kind. The message names the file."""


class SgfError(EngineError):
    """A broken game record. The message names the line, where known, and the reason."""
