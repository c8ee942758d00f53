"""Counted games whose dead stones a judge finds: what agrees with the record is taken, held-out games never."""

import lzma
from pathlib import Path

import numpy as np
import pytest
from judged_table import BOARD, OWNER, is_held_out, variants

from engine.cli import main as keisei
from engine.errors import ConfigError
from engine.judge.asking import GivenOpinion
from engine.train.counted import CountedTable, candidates, count
from engine.train.judged import read_judged
from engine.train.selection import Selection

SAYS = np.array([{"B": 1.0, "W": -1.0}[c] for c in OWNER], np.float32).reshape(7, 7)
WRONG = np.array([{"X": 1.0, "O": -1.0, ".": 0.0}[c] for c in BOARD], np.float32).reshape(7, 7)  # everything lives


def teacher(owner: np.ndarray) -> GivenOpinion:
    return GivenOpinion(owner)


def write_games(path: Path, results: list[str]) -> Path:
    """A table of counted games, not one of them held out; the moves differ in passes on the way."""
    texts = [text for text in variants() if not is_held_out(text)]
    lines = ["size\tkomi\trules\tresult\tmoves"]
    lines += [f"7\t0\tChinese\t{result}\t{text}" for result, text in zip(results, texts, strict=False)]
    lines += [f"7\t0\tChinese\tW+7\t{text}" for text in variants() if is_held_out(text)]
    with lzma.open(path, "wt") as file:
        file.write("\n".join(lines) + "\n")
    return path


def fill(path: Path, teachers: list[tuple[str, GivenOpinion]], table: CountedTable) -> None:
    games = sorted(candidates([path], Selection(min_moves=1), 0, 1), key=lambda judged: judged.id)
    assert games and all(not is_held_out(judged.game.moves) for judged in games)
    count(iter(games), teachers, table, lambda text: None)


def test_what_agrees_is_taken_with_the_teacher_s_marks(tmp_path) -> None:
    games = write_games(tmp_path / "games.tsv.xz", ["W+7", "W+5", "W+R"])
    table = CountedTable(tmp_path / "out.tsv")
    fill(games, [("blind", teacher(WRONG)), ("good", teacher(SAYS))], table)
    assert table.tally == {"taken": 1, "counted otherwise": 1}
    (judged,) = read_judged(tmp_path / "out.tsv")
    assert judged.dead is not None and np.flatnonzero(judged.dead).tolist() == [21]
    assert judged.owner is not None and "".join(".BW"[c] for c in judged.owner) == OWNER
    assert (judged.margin, judged.rules) == (-7.0, "chinese")
    assert (tmp_path / "out.tsv").read_text().rstrip().endswith("good")


def test_a_killed_run_goes_on(tmp_path) -> None:
    games = write_games(tmp_path / "games.tsv.xz", ["W+7", "W+5"])
    fill(games, [("good", teacher(SAYS))], CountedTable(tmp_path / "out.tsv"))
    whole = (tmp_path / "out.tsv").read_bytes()
    (tmp_path / "out.tsv").write_bytes(whole[:-9])  # killed in the middle of a row
    again = CountedTable(tmp_path / "out.tsv")
    assert again.tally == {"counted otherwise": 1}
    fill(games, [("good", teacher(SAYS))], again)
    assert (tmp_path / "out.tsv").read_bytes() == whole


def test_another_table_is_not_overwritten(tmp_path) -> None:
    path = tmp_path / "other.tsv"
    path.write_text("size\tmoves\n7\taabb\n")
    with pytest.raises(ConfigError):
        CountedTable(path)
    assert path.read_text() == "size\tmoves\n7\taabb\n"


def test_wrong_words(tmp_path, capsys) -> None:
    words = ["label", "--counted", "--games", "nowhere.tsv", "--teacher", "no-such-net", "--out"]
    assert keisei([*words, str(tmp_path / "table.txt")]) == 2
    assert keisei([*words, str(tmp_path / "table.tsv")]) == 1
    assert "Traceback" not in capsys.readouterr().err
