"""What the tests of `keisei evaluate` share."""

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
