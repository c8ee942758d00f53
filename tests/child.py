"""How tests start a Python of their own: it must import the very engine under test, whatever folder it starts in.

In a fresh clone the tests run with the installed package while the sources beside them have no compiled modules, so
that a child that finds the sources first fails. `test_child.py` looks for tests that start one otherwise.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import engine

PACKAGE_PARENT = str(Path(engine.__file__).resolve().parents[1])
"""The folder from which `engine` was imported."""


def python(*arguments: str) -> tuple[list[str], dict[str, str]]:
    """Return the command line and the environment of a Python with these arguments."""
    return [sys.executable, "-P", *arguments], {**os.environ, "PYTHONPATH": PACKAGE_PARENT}
