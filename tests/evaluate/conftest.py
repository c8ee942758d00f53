"""A small table of judged games: one board, a wall down the middle, one dead white stone on Black's side."""

import hashlib
import sys
from pathlib import Path

import pytest

LETTERS = "abcdefg"
BLACK = [(2, y) for y in range(7)]  # column, row
WHITE = [(3, y) for y in range(7)]


def moves(extra: str = "") -> str:
    """Black builds column c, White column d; White also puts a stone at a4, Black passes for it."""
    pairs = []
    for black, white in zip(BLACK, WHITE, strict=True):
        pairs += [LETTERS[c] + LETTERS[r] for c, r in (black, white)]
    return "".join(pairs) + extra + "zz" + "ad" + "zzzz"


def is_held_out(text: str) -> bool:
    while text.endswith("zz"):
        text = text[:-2]
    return int(hashlib.sha1(text.encode()).hexdigest(), 16) % 10 == 0


def variants():
    """Games that end in the same position and differ in passes on the way."""
    for count in range(40):
        yield moves("zz" * 2 * count)


BOARD = "".join("..XO..." if row != 3 else "O.XO..." for row in range(7))
OWNER = "BBBWWWW" * 7
COLUMNS = ("id", "size", "rules", "komi", "handicap", "result", "setup_black", "moves", "n_dead", "n_neutral", "board",
           "ownership")  # fmt: skip


def row(number: int, text: str, *, rules: str = "Chinese", result: str = "W+7.00", owner: str = OWNER) -> str:
    values = [f"g{number}", "7", rules, "0.00", "", result, "", text, "1", "0", BOARD, owner]
    return "\t".join(values)


@pytest.fixture(scope="session")
def held_out_moves() -> list[str]:
    found = [text for text in variants() if is_held_out(text)]
    assert len(found) >= 3
    return found


@pytest.fixture(scope="session")
def other_moves() -> list[str]:
    return [text for text in variants() if not is_held_out(text)]


@pytest.fixture
def table(tmp_path: Path, held_out_moves: list[str], other_moves: list[str]) -> Path:
    """Three held-out games and five others."""
    lines = ["\t".join(COLUMNS)]
    lines += [row(number, text) for number, text in enumerate(held_out_moves[:3])]
    lines += [row(100 + number, text) for number, text in enumerate(other_moves[:5])]
    path = tmp_path / "judged.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def mock_judge() -> str:
    return f"{sys.executable} {Path(__file__).parents[1] / 'oracles' / 'mock_judge.py'}"
