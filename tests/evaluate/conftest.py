"""What the tests of `keisei evaluate` share."""

import shlex
import sys
from pathlib import Path

import pytest
from judged_table import write_table


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Three held-out games and five others."""
    return write_table(tmp_path / "judged.tsv", 3, 5)


@pytest.fixture
def mock_judge() -> str:
    """The command line of a program that judges by a fixed word."""
    return f"{sys.executable} {Path(__file__).parents[1] / 'oracles' / 'mock_judge.py'}"


@pytest.fixture
def mock_engine():
    """Return a function from options to the command line of the match's mock engine."""
    script = Path(__file__).resolve().parents[1] / "match" / "mock_engine.py"

    def command(*options):
        return shlex.join([sys.executable, "-S", str(script), *map(str, options)])

    return command
