"""`keisei judge`: words, JSON, pictures, folders; the influence judge and the table beside the paper's."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
import types
from pathlib import Path

import child
import numpy as np
import pytest

from engine import cli
from engine.board.position import BLACK, WHITE, Position
from engine.judge import Opinion, judge
from engine.judge.influence import influence_map
from engine.judge.influence_judge import InfluenceJudge, InfluenceSettings
from engine.judge.text import as_dict, drawing, in_words
from engine.judging import batch, picture, table
from engine.sgf import read

GAME = "(;GM[1]SZ[7]KM[0.5]RU[japanese]RE[B+3];B[cd];W[ed];B[cc];W[ec];B[ce];W[ee])"


@pytest.fixture
def game(tmp_path):
    path = tmp_path / "game.sgf"
    path.write_text(GAME, encoding="utf-8")
    return path


def run(capsys, *words):
    code = cli.main(["judge", *map(str, words)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_json_of_a_file(capsys, game):
    code, out, _ = run(capsys, game, "--net", "fake:hash", "--json")
    data = json.loads(out)
    assert code == 0 and data["width"] == 7 and data["komi"] == 0.5 and data["moves"] == 6
    assert data["rules"]["scoring"] == "TERRITORY" and len(data["ownership"]) == 7
    assert data["black"]["total"] - data["white"]["total"] == data["score"]
    assert sorted(v for chain in data["chains"] for v in chain["stones"]) == ["C3", "C4", "C5", "E3", "E4", "E5"]


def test_options_choose_the_position(capsys, game):
    _, out, _ = run(capsys, game, "--net", "fake:hash", "--json", "--move", 2, "--rules", "chinese", "--komi", 7)
    data = json.loads(out)
    assert data["moves"] == 2 and data["komi"] == 7 and data["rules"]["scoring"] == "AREA"
    for move in (-1, 7):
        code, out, err = run(capsys, game, "--net", "fake:hash", "--move", move)
        assert code == 2 and not out and f"--move {move}" in err and "moves 0 to 6" in err
    assert json.loads(run(capsys, game, "--net", "fake:hash", "--json", "--move", 6)[1])["moves"] == 6


@pytest.mark.parametrize(("rules", "komi", "said"), [
    ("RU[japanese]", "KM[0.5]", []),
    ("RU[house rules]", "KM[0.5]", ["names rules that are not known ('house rules')", "chinese"]),
    ("", "KM[0.5]", ["names no rules", "chinese"]),
    ("RU[japanese]", "", ["names no komi"]),
])
def test_what_a_record_does_not_say_is_told(capsys, tmp_path, rules, komi, said):
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / "a.sgf").write_text(f"(;SZ[7]{rules}{komi};B[cd];W[ed])", encoding="utf-8")
    code, out, err = run(capsys, folder / "a.sgf", "--influence", "--json")
    assert code == 0 and err.count("\n") == bool(said) and all(words in err for words in said)
    assert json.loads(out)["rules"]["scoring"] == ("TERRITORY" if rules == "RU[japanese]" else "AREA")
    assert run(capsys, folder / "a.sgf", "--influence", "--rules", "aga", "--komi", 7)[2] == ""
    run(capsys, folder, "--influence", "--jobs", 1)
    warnings = json.loads((tmp_path / "games.jsonl").read_text(encoding="utf-8")).get("warnings", [])
    assert len(warnings) == bool(said) and all(words in warnings[0] for words in said)


def test_words_and_standard_input(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(GAME.encode())))
    code, out, _ = run(capsys, "-", "--net", "fake:hash")
    assert code == 0 and "Black: " in out and "White: " in out and "  7 " in out


@pytest.mark.parametrize(("text", "fault"), [("", "standard input"), ("(;SZ[7];B[cc];B[cc])", "illegal")])
def test_what_is_no_game_is_one_line(capsys, monkeypatch, text, fault):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(text.encode())))
    code, out, err = run(capsys, "-", "--net", "fake:hash")
    assert code == 1 and not out and fault in err and err.count("\n") == 1


def test_pictures(capsys, game, tmp_path):
    pytest.importorskip("matplotlib")
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml")):
        for more in ((), ("--influence",)):
            assert run(capsys, game, "--net", "fake:hash", "--png", tmp_path / name, *more)[0] == 0
            assert (tmp_path / name).read_bytes().startswith(start)
    code, _, err = run(capsys, game, "--net", "fake:hash", "--png", tmp_path / "a.gif")
    assert code == 1 and ".png or .svg" in err


def test_the_headline_of_an_unfinished_game_is_what_is_expected():
    position = Position(9, komi=0.5, rules="chinese")
    position.set_up([(BLACK, 20), (BLACK, 60)], WHITE)
    opinion = Opinion(owner=np.full((9, 9), 0.8, np.float32), winrate=0.9, score_mean=21.3, score_stdev=4.0)
    judgment = judge(position, types.SimpleNamespace(name="given", opinion=lambda _: opinion))
    head, *rest = picture._beside(position, judgment)
    assert head == "B+21.3" and rest[0] == "not finished: expected score" and "as it stands B+78.5" in rest
    assert "   open area (79 points, around E5)" in rest
    assert "   komi 0.5" in rest and "   handicap bonus 2" in rest
    words = in_words(position, judgment)
    assert "Open area (79 points, around E5)" in words and "0.5 komi + 2 handicap bonus" in words
    assert "+" not in drawing(position, judgment)
    data = as_dict(position, judgment)["white"]
    assert (data["bonus"], data["komi"], data["handicap_bonus"]) == (2.5, 0.5, 2)


def test_open_points_are_no_squares(monkeypatch):
    pytest.importorskip("matplotlib")
    position = Position(9, komi=0.5, rules="chinese")
    position.set_up([(BLACK, 20), (BLACK, 60)], WHITE)
    opinion = Opinion(owner=np.full((9, 9), 0.8, np.float32), score_mean=21.3)
    judgment = judge(position, types.SimpleNamespace(name="given", opinion=lambda _: opinion))
    drawn = {"_square": 0, "_diamond": 0}
    for name in drawn:
        monkeypatch.setattr(picture, name, lambda *_, name=name, **__: drawn.update({name: drawn[name] + 1}))
    picture._draw_squares(picture.new_figure("a.svg").add_axes((0, 0, 1, 1)), judgment)
    assert drawn == {"_square": 0, "_diamond": 79}


def test_a_pass_of_white_makes_no_handicap_game(capsys, tmp_path):
    path = tmp_path / "a.sgf"
    for record, bonus, told in (
        ("KM[7];B[ee];W[];B[gc];W[]", 0, False), ("KM[7];B[ee];B[gc];W[]", 2, False),
        ("KM[7]HA[2]AB[ee][gc];W[];B[cc]", 2, False), ("KM[7]HA[2];B[ee];W[];B[gc];W[cc]", 0, True),
    ):  # fmt: skip
        path.write_text(f"(;SZ[9]RU[Chinese]{record})", encoding="utf-8")
        _, out, err = run(capsys, path, "--influence", "--json")
        white = json.loads(out)["white"]
        assert (white["komi"], white["handicap_bonus"], white["bonus"]) == (7, bonus, 7 + bonus)
        assert ("HA[2]" in err) == told


def test_influence_says_what_it_does_not_see(capsys, game):
    words = run(capsys, game, "--influence")[1]
    assert "sees no dead stones" in words and "Nor can it tell whether the game is finished" in words
    data = json.loads(run(capsys, game, "--influence", "--json")[1])
    assert data["finished"] is data["score_low"] is data["score_high"] is None
    assert data["open"] == [] and data["expected_score"] == data["score"]
    judgment = InfluenceJudge().judge(Position(9))
    assert judgment.finished is None and not judgment.settled and judgment.doubt == float("inf")


def test_without_matplotlib_it_says_what_to_install(capsys, game, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = run(capsys, game, "--influence", "--png", tmp_path / "a.png")
    assert code == 1 and "-m pip install matplotlib" in err


def test_a_folder_is_judged_once_and_goes_on(capsys, tmp_path):
    folder = tmp_path / "games"
    (folder / "deep").mkdir(parents=True)
    for name in ("a.sgf", "b.sgf", "deep/c.sgf"):
        (folder / name).write_text(GAME, encoding="utf-8")
    (folder / "bad.sgf").write_text("(;SZ[7];B[cc];B[cc])", encoding="utf-8")
    out = tmp_path / "games.jsonl"
    code, said, _ = run(capsys, folder, "--influence", "--json", "--jobs", 1)
    assert code == 1 and str(out) in said and "failed: bad.sgf" in said
    assert "3 judged, 0 judged before, 1 failed" in said
    lines = {line["file"]: line for line in map(json.loads, out.read_text(encoding="utf-8").splitlines())}
    assert set(lines) == {"a.sgf", "b.sgf", "deep/c.sgf", "bad.sgf"}
    assert "illegal" in lines["bad.sgf"]["error"] and lines["a.sgf"]["record_result"] == "B+3"
    whole = out.read_bytes()
    for _ in range(2):  # what failed is tried again and keeps one line
        code, said, _ = run(capsys, folder, "--influence", "--json", "--jobs", 1)
        assert code == 1 and "0 judged, 3 judged before, 1 failed" in said
        assert sorted(out.read_bytes().splitlines()) == sorted(whole.splitlines())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games", "games.jsonl"]
    whole = out.read_bytes()
    out.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 20])  # killed while it wrote the last line
    (folder / "bad.sgf").write_text(GAME, encoding="utf-8")
    code, said, _ = run(capsys, folder, "--influence", "--json", "--jobs", 2)
    assert code == 0 and "judged before, 0 failed" in said
    good = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert sorted(line["file"] for line in good if "error" not in line) == ["a.sgf", "b.sgf", "bad.sgf", "deep/c.sgf"]


@pytest.mark.parametrize(("within", "named", "result"), [
    ("games", ".", "games.jsonl"), ("games/deep", "..", "games.jsonl"), ("games", "../games/deep", "games/deep.jsonl"),
    (".", "games/", "games.jsonl"),
])  # fmt: skip
def test_results_lie_beside_the_folder_however_it_is_named(capsys, tmp_path, monkeypatch, within, named, result):
    (tmp_path / "games" / "deep").mkdir(parents=True)
    (tmp_path / "games" / "deep" / "A.SGF").write_text(GAME, encoding="utf-8")  # the ending in capitals
    monkeypatch.chdir(tmp_path / within)
    code, said, _ = run(capsys, named, "--influence", "--jobs", 1)
    assert code == 0 and "1 judged" in said and (tmp_path / result).is_file()
    assert [path.name for path in tmp_path.rglob("*.jsonl")] == [Path(result).name]


@pytest.mark.parametrize(("text", "games"), [
    (GAME + "\n" + GAME + "(;SZ[9])", 3), (GAME + " more", 1),
    ("(;SZ[7]KM[0]RU[aga]C[)(;];B[aa](;W[bb](;B[cc])(;B[dd]))(;W[ee]))", 1),
])  # fmt: skip
def test_further_games_of_a_file_are_told(capsys, tmp_path, text, games):
    path = tmp_path / "several.sgf"
    path.write_text(text, encoding="utf-8")
    code, _, err = run(capsys, path, "--influence")
    assert code == 0 and read(path).games == games
    assert (f"holds {games} games: only the first is judged" in err) == (games > 1)


def test_judgments_with_other_options_do_not_go_into_one_file(capsys, tmp_path):
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / "a.sgf").write_text(GAME, encoding="utf-8")
    assert run(capsys, folder, "--influence", "--jobs", 1)[0] == 0
    for more in (("--influence", "--rules", "aga"), ("--influence", "--komi", 0), ("--net", "fake:hash")):
        code, _, err = run(capsys, folder, "--jobs", 1, *more)
        assert code == 1 and "other options" in err and "--out" in err
    assert run(capsys, folder, "--net", "fake:hash", "--jobs", 1, "--out", tmp_path / "other.jsonl")[0] == 0
    assert "0 judged, 1 judged before" in run(capsys, folder, "--influence", "--jobs", 2)[1]


def test_options_that_do_not_go_together(capsys, game, tmp_path):
    wrong = ((tmp_path, "--png", "a.png"), (game, "--jobs", 2), (game, "--out", "a.jsonl"), (tmp_path, "--jobs", -1))
    for words in wrong:
        with pytest.raises(SystemExit) as left:
            run(capsys, *words, "--influence")
        assert left.value.code == 2


def test_a_folder_without_games_and_a_file_of_something_else(capsys, tmp_path):
    (tmp_path / "games").mkdir()
    assert "no .sgf files" in run(capsys, tmp_path / "games", "--influence")[2]
    (tmp_path / "games" / "a.sgf").write_text(GAME, encoding="utf-8")
    (tmp_path / "games.jsonl").write_text("no judgment\n", encoding="utf-8")
    assert "line 1: no judgment" in run(capsys, tmp_path / "games", "--influence", "--jobs", 1)[2]


def test_two_runs_do_not_write_one_file(capsys, tmp_path):
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "a.sgf").write_text(GAME, encoding="utf-8")
    held = batch.lock.take(tmp_path / "games.jsonl.lock")
    assert held is not None
    try:
        assert "another run" in run(capsys, tmp_path / "games", "--influence", "--jobs", 1)[2]
    finally:
        held.close()


# ---------------------------------------------------------------------------------------------------- influence


def test_influence_falls_with_distance_and_stones_block():
    board = np.zeros((5, 5), np.uint8)
    board[2, 2] = BLACK
    values = influence_map(board, 1.0, 1.4, 64.0)
    assert values[2, 1] == 64 and values[2, 2] == 0
    assert values[1, 1] == pytest.approx(64 * np.exp(-0.4)) and values[2, 0] == pytest.approx(64 * np.exp(-1))
    assert np.allclose(values, values[::-1]) and np.allclose(values, values.T)
    board[:, 3] = WHITE
    walled = influence_map(board, 1.0, 1.4, 64.0)
    assert (walled[:, 4] < 0).all() and walled[0, 4] < -64  # Black's stone reaches nothing behind the wall
    assert np.allclose(influence_map(np.where(board > 0, 3 - board, 0), 1.0, 1.4, 64.0), -walled)
    with pytest.raises(ValueError, match="26x26"):
        influence_map(np.zeros((26, 26)), 1.0, 1.4, 64.0)


def test_influence_judge_counts_area():
    position = Position(5, komi=0.5)
    position.set_up([(BLACK, 12)])
    judgment = InfluenceJudge(InfluenceSettings(threshold=40)).judge(position)
    assert judgment.black.stones == 1 and judgment.black.territory == 8 and judgment.score == 8.5
    assert not judgment.dead and int(judgment.dame.sum()) == 16


def test_the_papers_table(shared_dir):
    """FIGURES: k = 1 and diagonal 1.4 give ten of the fifty values exactly, 3.9 points off on average."""
    folder = shared_dir / "data" / "alphago50"
    paper = table.read_paper(folder / "table2.tsv")
    judge = InfluenceJudge()
    errors = [abs(judge.judge(read(folder / f"{int(key):02}.sgf").position()).score - paper[key][1]) for key in paper]
    assert len(errors) == 50 and sum(error < 1e-6 for error in errors) == 10
    assert float(np.mean(errors)) == pytest.approx(3.94, abs=0.01)


def test_the_table_is_printed(capsys, tmp_path):
    (tmp_path / "01.sgf").write_text(GAME, encoding="utf-8")
    (tmp_path / "table2.tsv").write_text("game\twinner\tscore\n1\tB\t2.5\n", encoding="utf-8")
    code, out, _ = run(capsys, "--alphago50", tmp_path, "--net", "fake:hash")
    assert code == 0 and "winner right, our influence" in out and "mean error" in out
    (tmp_path / "table2.tsv").write_text("nothing\n1\n", encoding="utf-8")
    assert "not a table" in run(capsys, "--alphago50", tmp_path, "--net", "fake:hash")[2]


def test_a_folder_without_the_net_says_so_once(capsys, tmp_path):
    """A pool whose processes cannot start must not start them again and again."""
    folder = tmp_path / "games"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.sgf").write_text(GAME, encoding="utf-8")
    code, _, err = run(capsys, folder, "--net", tmp_path / "none.safetensors", "--jobs", 2)
    assert code == 1 and "none.safetensors" in err.splitlines()[-1]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_run_that_is_killed_leaves_nothing_running_and_goes_on(capsys, tmp_path):
    folder = tmp_path / "games"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number:03}.sgf").write_text(GAME, encoding="utf-8")
    out = tmp_path / "games.jsonl"
    command, environment = child.python("-m", "engine", "judge", str(folder), "--net", "fake:hash", "--jobs", "2",
                                        "--json", "--set", "judge.nodes=0")  # fmt: skip
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, env=environment, **pipes, text=True) as first:
        while first.poll() is None and not (out.is_file() and out.stat().st_size):
            time.sleep(0.01)
        first.kill()
        assert first.stdout is not None
        first.stdout.read()  # ends when the last process of the run does
    lines = finished = 0
    for text in out.read_bytes().splitlines():
        lines += 1
        finished += b'"source"' in text
    code, said, _ = run(capsys, folder, "--net", "fake:hash", "--jobs", 1, "--set", "judge.nodes=0")
    assert code == 0 and lines - finished <= 1 and f"{60 - finished} judged, {finished} judged before" in said
    files = [json.loads(line)["file"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert sorted(files) == sorted(path.name for path in folder.iterdir())
    assert not (tmp_path / "games.jsonl.lock").exists()
