"""Game records in SGF: reading, replaying up to a move, and writing.

The grammar is sgfmill's. Its game object knows square boards only and says little about where a file is broken, so
points and values are read here, and every complaint is an SgfError that names the file, the line and the reason. Of a
file with several games or variations, the first game's main line counts; read_beginnings gives them all.
"""

from .book import read_beginnings
from .letters import actions_to_letters, letters_to_actions
from .reader import parse, read
from .record import GameRecord, from_position
from .values import recognise_rules
from .writer import write

__all__ = [
    "GameRecord",
    "actions_to_letters",
    "from_position",
    "letters_to_actions",
    "parse",
    "read",
    "read_beginnings",
    "recognise_rules",
    "write",
]
