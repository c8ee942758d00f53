"""Game records for board tests."""

import itertools
import lzma

import pytest


@pytest.fixture(scope="session")
def professional_games(shared_dir):
    """A function (count, step): every step-th even 19x19 game, as lists of actions, Black first; 361 is a pass."""
    path = shared_dir / "data" / "games" / "pro.tsv.xz"
    if not path.is_file():
        pytest.skip(f"no game records: {path.name} is absent")

    def read(count, step):
        games = []
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            next(lines)
            for line in itertools.islice(lines, 0, None, step):
                size, _, _, _, _, black, white, first, moves = line.rstrip("\n").split("\t")
                if size == "19" and not black and not white and first == "B":
                    pairs = (moves[i : i + 2] for i in range(0, len(moves), 2))
                    games.append([361 if p == "zz" else (ord(p[1]) - 97) * 19 + ord(p[0]) - 97 for p in pairs])
                if len(games) == count:
                    break
        return games

    return read
