"""Small files that a user names, read and written without trusting the name: it may mean a pipe, a device, anything.

A pipe that nobody writes to would hold the engine for ever, and a device may never end. Net files have readers of
their own (`engine.nn`), which bound what they keep.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

MAX_BYTES = 32 << 20
"""Longest file that is read whole: far above any game record or configuration."""


def read_small(path: str | Path) -> bytes:
    """Read an ordinary file whole.

    Raises:
        OSError: if it cannot be read, is no ordinary file, or holds more than MAX_BYTES.
        ValueError: if the name itself is impossible (a NUL in it).
    """
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # opening a folder says so itself
        raise OSError("not an ordinary file")
    with open(path, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise OSError(f"longer than {MAX_BYTES >> 20} MiB")
    return data


def sgf_files(folder: Path, *, deep: bool = True) -> list[Path]:
    """Return the game records of a folder (names ending in .sgf in any case), sorted; `deep`: of those below it too."""
    found = folder.rglob("*") if deep else folder.glob("*")
    return sorted(path for path in found if path.suffix.lower() == ".sgf" and path.is_file())


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text to a file, in place of what is there; a pipe is refused, since it may have no reader.

    Raises:
        OSError, ValueError: as `read_small` does.
    """
    if os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode):
        raise OSError("it is a pipe")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def reason(error: OSError | ValueError) -> str:
    """Return what went wrong, without the file's name."""
    return getattr(error, "strerror", None) or str(error)

