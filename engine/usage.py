"""What a user is told of using the program: the argument parser of every command, and how to install what is missing.

An error of usage is one line, and options are not abbreviated: a slip of the pen must not become another option.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, and which takes no abbreviated options."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **options})

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def install_hint(*packages: str) -> str:
    """Return the command that installs packages for the Python that is running, whatever `pip` is on the path."""
    python = sys.executable or "python3"
    quoted = subprocess.list2cmdline([python]) if sys.platform == "win32" else shlex.quote(python)
    return f"{quoted} -m pip install {' '.join(packages)}"
