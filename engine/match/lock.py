"""A lock on a folder that ends with the process that holds it, however that ends: kill -9 leaves nothing behind.

The operating system keeps the lock on an open file: `flock` on Unix, a locked byte on Windows.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import IO


def take(path: Path) -> IO[bytes] | None:
    """Lock a file, made if absent. Return it, to be kept open as long as the lock is needed; None if it is taken.

    Raises OSError if it cannot be made.
    """
    while (file := _take(path)) is not None:
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        file.close()  # removed by its last holder since we opened it: whoever makes it anew would hold another lock
    return None


def _take(path: Path) -> IO[bytes] | None:
    file = path.open("ab")
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file
