"""Command lines of the mock engine."""

import shlex
import sys
from pathlib import Path

import pytest


@pytest.fixture
def mock():
    """Return a function from options to the mock engine's command line."""

    def command(*options):
        return shlex.join([sys.executable, "-S", str(Path(__file__).parent / "mock_engine.py"), *map(str, options)])

    return command
