"""Folders that a command works in: one process at a time, and files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import EngineError
from engine.match import lock


class FolderError(EngineError):
    """A folder that another process works in, or that holds another run."""


@contextmanager
def held(folder: Path, name: str = "lock") -> Iterator[None]:
    """Hold a folder (made if absent) for this process while the block runs; the lock ends with the process.

    Args:
        folder: the folder.
        name: of the lock's file, where several may work in a folder on parts of their own.

    Raises:
        FolderError: another process holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = lock.take(folder / name)
    if file is None:
        raise FolderError(f"{folder}: another process works in it (and holds {name}); take another folder")
    try:
        yield
    finally:
        file.close()


def write_whole(path: Path, data: str | bytes | memoryview) -> None:
    """Write a file (text as UTF-8) so that it is there whole or not at all, whatever ends the process."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            file.write(data.encode("utf-8") if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)  # a full disk is not to be filled by halves
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def mend_lines(path: Path) -> None:
    """Cut an unfinished last line off a file of lines; nothing happens if there is no such file."""
    text = path.read_bytes() if path.exists() else b""
    if text and not text.endswith(b"\n"):
        write_whole(path, text[: text.rfind(b"\n") + 1])
