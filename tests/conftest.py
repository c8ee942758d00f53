"""Fixtures that every test folder shares. `tests/oracles` is on the path: a test says `import scoring_oracle`."""

import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS / "oracles"))


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of shared data and nets: $KEISEI_SHARED, else `shared` beside the repository; skips without it."""
    path = Path(os.environ.get("KEISEI_SHARED") or TESTS.parent.parent / "shared")
    if not (path / "data").is_dir():
        pytest.skip(f"no shared data at {path}; set KEISEI_SHARED to its folder")
    return path
