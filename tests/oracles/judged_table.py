"""A small table of judged games: one 7x7 board, a wall down the middle, one dead white stone on Black's side (a4)."""

import hashlib
from pathlib import Path

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


def write_table(path: Path, held_out: int, others: int) -> Path:
    """Write a table with so many games of either kind, g0, g1, … held out and g100, g101, … not."""
    texts = list(variants())
    kept = [text for text in texts if is_held_out(text)][:held_out]
    rest = [text for text in texts if not is_held_out(text)][:others]
    assert (len(kept), len(rest)) == (held_out, others)
    lines = ["\t".join(COLUMNS)]
    lines += [row(number, text) for number, text in enumerate(kept)]
    lines += [row(100 + number, text) for number, text in enumerate(rest)]
    path.write_text("\n".join(lines) + "\n")
    return path
