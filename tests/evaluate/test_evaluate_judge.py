"""`keisei evaluate judge` against a program whose answers are fixed, so that every figure is known."""

import json
from pathlib import Path

import numpy as np
import pytest

from engine.cli import main as keisei
from engine.errors import EngineError
from engine.evaluate.answers import Answer, AnswerFile, AnswersError, compare, read_answers
from engine.evaluate.cases import END, read_cases
from engine.evaluate.gtp_judge import parse_score
from engine.evaluate.table import disagreements, summarise, text_of
from engine.train.judged import margin_of, read_judged, replay_judged
from engine.train.records import RecordError


def run(*words: str, capsys) -> dict:
    assert keisei(["evaluate", "judge", "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_only_held_out_games_are_asked_about(table: Path) -> None:
    cases = read_cases(table)
    assert [case.judged.id for case in cases] == ["g0", "g1", "g2"]
    assert {case.judged.id for case in read_cases(table, games=2)} < {"g0", "g1", "g2"}
    assert len(read_cases(table, shares=[50, 90, 100])) == 9


def test_tables_with_a_column_of_dead_stones(tmp_path: Path, table: Path) -> None:
    """The other form of judged tables: `dead` and `owner_area` instead of `ownership`."""
    lines = [line.split("\t") for line in table.read_text().splitlines()]
    dead = "".join("1" if point == 21 else "0" for point in range(49))
    lines = [["dead", "owner_area", *lines[0][:-1]]] + [[dead, line[-1], *line[:-1]] for line in lines[1:]]
    other = tmp_path / "other.tsv"
    other.write_text("\n".join("\t".join(line) for line in lines) + "\n")
    for one, two in zip(read_judged(table), read_judged(other), strict=True):
        assert (one.dead == two.dead).all() and (one.owner == two.owner).all()
        assert (one.id, one.margin, one.n_moves) == (two.id, two.margin, two.n_moves)


def test_a_smaller_choice_is_part_of_a_larger_one(table: Path) -> None:
    one = {case.judged.id for case in read_cases(table, games=1)}
    assert one < {case.judged.id for case in read_cases(table, games=2)}


def test_the_truth_is_what_the_table_says(table: Path) -> None:
    judged = next(read_judged(table, only_held_out=True))
    position = replay_judged(judged)
    assert np.flatnonzero(judged.dead).tolist() == [21]
    assert position.color_at(21) == 2
    assert position.moves[-1][1] != position.area
    assert replay_judged(judged, passes=True).ended


@pytest.mark.parametrize(
    ("dead", "score", "exact", "stones", "score_exact", "within", "winner"),
    [
        ("A4", "W+7", 1.0, 0.0, 1.0, 1.0, 1.0),
        ("none", "W+8", 0.0, 1.0, 0.0, 1.0, 1.0),
        ("A4,C1,C2", "B+1", 0.0, 2.0, 0.0, 0.0, 0.0),
        ("none", "0", 0.0, 1.0, 0.0, 0.0, 0.0),
    ],
)
def test_figures_of_a_program(
    table: Path, mock_judge: str, capsys, dead, score, exact, stones, score_exact, within, winner
) -> None:
    report = run("--data", str(table), "--judge", f"gtp:{mock_judge} {dead} {score}", "--at", "50,100", capsys=capsys)
    end, half = report["rows"]
    assert (end["share"], half["share"]) == (END, 50)
    assert (end["positions"], end["dead_exact"], end["stones_wrong"]) == (3, exact, stones)
    assert (end["score_exact"], end["score_within_1"], end["winner"]) == (score_exact, within, winner)
    assert end["points_right"] == pytest.approx(21 / 49)  # the program gives the whole board to Black
    assert half["dead_exact"] is None and half["points_right"] == pytest.approx(21 / 49)
    differ = next(iter(report["differ"].values()))
    assert len(differ) == (0 if exact else 3)


def test_a_program_is_set_up_like_the_game(table: Path, mock_judge: str, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MOCK_JUDGE_LOG", str(tmp_path / "log"))
    run("--data", str(table), "--games", "1", "--judge", f"gtp:{mock_judge} none 0", capsys=capsys)
    sent = (tmp_path / "log").read_text().splitlines()
    assert sent[:5] == ["101 protocol_version", "list_commands", "boardsize 7", "clear_board", "komi 0"]
    assert sent[5:7] == ["play b C7", "play w D7"]
    assert "final_score" in sent and "final_status_list dead" in sent
    assert sent[-1] == "quit"


def test_a_crash_is_one_wrong_answer(table: Path, mock_judge: str, capsys) -> None:
    report = run("--data", str(table), "--judge", f"gtp:{mock_judge} A4 W+7 --crash-after 2", capsys=capsys)
    row = report["rows"][0]
    assert (row["positions"], row["errors"]) == (3, 1)
    assert row["dead_exact"] == pytest.approx(2 / 3)
    assert row["stones_wrong"] == 0.0  # of those that were answered


def test_a_program_that_is_not_there_is_told(table: Path, capsys) -> None:
    report = run("--data", str(table), "--judge", "gtp:/nowhere/engine", capsys=capsys)
    assert report["rows"][0]["errors"] == 3


def test_a_run_goes_on_where_it_stopped(table: Path, mock_judge: str, tmp_path: Path, capsys, monkeypatch) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("MOCK_JUDGE_LOG", str(log))
    words = ["--data", str(table), "--judge", f"gtp:{mock_judge} A4 W+7", "--out", str(tmp_path / "out")]
    first = run(*words, "--games", "1", capsys=capsys)
    kept = next((tmp_path / "out").glob("*.jsonl"))
    with kept.open("a") as file:
        file.write('{"key": "judged/g')  # killed in the middle of a line
    second = run(*words, capsys=capsys)
    assert (first["rows"][0]["positions"], second["rows"][0]["positions"]) == (1, 3)
    assert log.read_text().count("boardsize") == 3  # nothing was asked twice
    assert second["rows"][0]["dead_exact"] == 1.0
    _, found = read_answers(kept)
    assert len(found) == 3
    run(*words, capsys=capsys)
    assert log.read_text().count("boardsize") == 3


def test_answers_of_another_run_are_refused(tmp_path: Path) -> None:
    AnswerFile(tmp_path / "a.jsonl", {"judge": "facts"})
    with pytest.raises(AnswersError, match="another run"):
        AnswerFile(tmp_path / "a.jsonl", {"judge": "influence"})
    (tmp_path / "b.jsonl").write_text("[1, 2]\n")
    with pytest.raises(AnswersError):
        read_answers(tmp_path / "b.jsonl")


def test_games_that_all_judges_count_otherwise(table: Path, mock_judge: str, capsys) -> None:
    words = ["--data", str(table), "--judge", f"gtp:{mock_judge} none W+8", "--judge", f"gtp:{mock_judge} C1 W+8"]
    report = run(*words, capsys=capsys)
    assert len(report["all_differ"]) == 3
    assert report["rows_without_all_differ"] == []
    words += ["--judge", f"gtp:{mock_judge} A4 W+7"]
    assert run(*words, capsys=capsys)["all_differ"] == []


def test_own_judges_by_facts_alone(table: Path, capsys) -> None:
    """Nothing is unconditionally alive or dead here, so every stone lives and the white one makes the middle dame."""
    row = run("--data", str(table), "--judge", "facts", capsys=capsys)["rows"][0]
    assert (row["dead_exact"], row["stones_wrong"]) == (0.0, 1.0)


def test_a_record_without_points_counts_for_its_winner_alone(tmp_path: Path, capsys) -> None:
    sgf = tmp_path / "one.sgf"
    sgf.write_text("(;GM[1]SZ[7]KM[0]RU[Chinese]RE[B+R];B[cc];W[ee];B[dd])")
    (tmp_path / "broken.sgf").write_text("(;GM[1]SZ[7]RE[B+R];B[zz9")
    report = run("--data", str(tmp_path), "--judge", "influence", capsys=capsys)
    row = report["rows"][0]
    assert (row["positions"], row["winner"], row["dead_exact"], row["score_exact"]) == (1, 1.0, None, None)
    assert report["all_differ"] == []


def test_expected_scores_count_where_the_game_goes_on(table: Path) -> None:
    half = read_cases(table, games=1, shares=[50])[0]
    end = read_cases(table, games=1)[0]
    answer = Answer(0.1, frozenset([21]), -7.0, None, expected=-9.0)
    assert compare(end, answer)["score_error"] == 0.0
    assert compare(half, answer)["score_error"] == -2.0


@pytest.mark.parametrize("text", ["", "B", "B+R", "maybe", "W+x"])
def test_no_score(text: str) -> None:
    with pytest.raises(ValueError):
        parse_score(text)


@pytest.mark.parametrize(
    ("text", "margin"), [("B+3.5", 3.5), ("W+0.5", -0.5), ("0", 0.0), ("Draw", 0.0), ("B+R", None), ("", None)]
)
def test_margins(text: str, margin: float | None) -> None:
    assert margin_of(text) == margin


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["evaluate"], 2),
        (["evaluate", "nothing"], 2),
        (["evaluate", "judge", "--judge", "oracle", "--data", "TABLE"], 2),
        (["evaluate", "judge", "--judge", "gtp:", "--data", "TABLE"], 2),
        (["evaluate", "judge", "--judge", "net:nowhere", "--data", "TABLE"], 1),
        (["evaluate", "judge", "--judge", "facts", "--data", "/nowhere"], 1),
    ],
)
def test_wrong_usage_is_one_line(table: Path, words: list[str], code: int, capsys) -> None:
    assert keisei([word.replace("TABLE", str(table)) for word in words]) == code
    assert "Traceback" not in capsys.readouterr().err


def test_damaged_tables(tmp_path: Path, table: Path) -> None:
    lines = table.read_text().splitlines()
    short = tmp_path / "short.tsv"
    short.write_text("\n".join([lines[0], lines[1][:-5]]) + "\n")
    with pytest.raises(RecordError, match=r"short\.tsv:2"):
        read_cases(short)
    (tmp_path / "bad.tsv.xz").write_bytes(b"no xz at all")
    with pytest.raises(EngineError):
        read_cases(tmp_path / "bad.tsv.xz")


def test_sums() -> None:
    rows = [
        {"key": "a@100", "share": 100, "rules": "chinese", "seconds": 1.0, "winner": True, "dead_exact": True,
         "stones_wrong": 0, "points": 10, "points_right": 9},
        {"key": "b@100", "share": 100, "rules": "chinese", "seconds": 3.0, "winner": False, "dead_exact": False,
         "stones_wrong": None, "error": "no answer"},
    ]  # fmt: skip
    row = summarise(rows)
    assert (row["dead_exact"], row["stones_wrong"], row["winner"], row["points_right"]) == (0.5, 0.0, 0.5, 0.9)
    assert row["seconds"] == 2.0
    assert disagreements({"x": {r["key"]: r for r in rows}}) == ["b@100"]
    text = text_of([{"judge": "x", "share": 100, "rules": "all", **row}])
    assert "50.0 %" in text and "score exact" not in text
