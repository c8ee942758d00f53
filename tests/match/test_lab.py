"""What makes a runner a lab: many engines, rules that stop, clocks, openings from files, engines that cannot start."""

import json
import os
import shlex
import subprocess
import sys
import time

import pytest

from engine import sgf
from engine.board.position import WHITE
from engine.match import runner
from engine.match.cli import main
from engine.match.game import GameSettings
from engine.match.opening_options import sgf_openings


def play(tmp_path, engines, *options, size="5", status=0):
    out = tmp_path / "out"
    arguments = [*engines, "--size", size, "--out", str(out), "--timeout", "20", *map(str, options)]
    assert main(arguments) == status
    games = [json.loads(line) for line in (out / "games.jsonl").read_text("utf-8").splitlines()]
    return sorted(games, key=lambda game: game["game"]), json.loads((out / "summary.json").read_text("utf-8"))


def test_a_round_robin_with_a_ladder(mock, tmp_path, capsys):
    engines = [f"one={mock()}", f"two={mock()}", f"lame={mock('--fault', 'resign', '--at', 2)}"]
    games, summary = play(tmp_path, engines, "--games", 4, "--jobs", 2)
    assert len(games) == 12
    assert [(row["a"], row["b"]) for row in summary["pairings"]] == [("one", "two"), ("one", "lame"), ("two", "lame")]
    assert summary["pairings"][1]["wins"] == 4 and summary["pairings"][0]["pairs"] == {"1": 2}
    ladder = summary["ladder"]
    assert ladder[-1]["name"] == "lame" and ladder[-1]["points"] == 0
    assert ladder[0]["elo"] == pytest.approx(ladder[1]["elo"], abs=0.2)
    assert "| 3 | lame" in capsys.readouterr().out


def test_a_gauntlet(mock, tmp_path):
    games, _ = play(tmp_path, [mock()] * 3, "--format", "gauntlet", "--games", 2)
    assert {frozenset((game["black"], game["white"])) for game in games} == {frozenset("AB"), frozenset("AC")}


def test_an_sprt_stops_a_pairing(mock, tmp_path, capsys):
    engines = [mock(), mock("--fault", "resign", "--at", 1)]
    games, summary = play(tmp_path, engines, "--games", 60, "--sprt", 0, 200, size="3")
    rule = summary["pairings"][0]["rule"]
    assert rule["decision"] == "H1" and len(games) == rule["used"] < 40
    assert "H1 accepted" in capsys.readouterr().out
    again, _ = play(tmp_path, engines, "--games", 60, "--sprt", 0, 200, "--resume", size="3")
    assert again == games


@pytest.mark.parametrize(("order", "status", "decision"), [(1, 0, "passed"), (-1, 3, "failed")])
def test_a_gate_tells_by_its_exit_status(mock, tmp_path, order, status, decision):
    engines = [mock(), mock("--fault", "resign", "--at", 1)][::order]
    games, summary = play(tmp_path, engines, "--games", 10, "--gate", 0.55, size="3", status=status)
    assert summary["pairings"][0]["rule"]["decision"] == decision and len(games) < 10


def test_a_budget_of_time(mock, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = [mock(), mock(), "--games", "2", "--size", "5", "--out", str(out), "--budget"]
    assert main([*arguments, "0"]) == 0
    assert "time is up, 2 games are left" in capsys.readouterr().err
    assert "| python A - python B " in (out / "report.md").read_text("utf-8")
    games, _ = play(tmp_path, [mock(), mock()], "--games", 2, "--resume", "--budget", 1000)
    assert len(games) == 2


def test_overstepping_the_time_loses(mock, tmp_path):
    engines = [mock(), mock("--slow", 0.4)]
    games, _ = play(tmp_path, engines, "--games", 2, "--time", "1+0/0", "--margin", 0.1)
    assert [(game["winner"], game["reason"]) for game in games] == [("A", "timeout")] * 2
    assert "overstepped" in games[0]["detail"] and games[0]["thought"]["B"] > 1
    assert (tmp_path / "out" / "report.md").read_text("utf-8").count("timeout 2") == 2


def test_openings_from_sgf(mock, tmp_path):
    folder = tmp_path / "book"
    folder.mkdir()
    games = ["B[bb];W[dd];B[db]", "B[dd];W[bb];B[db]", "B[cc];W[bb];B[dd]", "B[aa];B[bb];W[cc]", "B[cc]"]
    for i, moves in enumerate(games):
        (folder / f"{i}.sgf").write_text(f"(;FF[4]GM[1]SZ[5]KM[6];{moves})")
    (folder / "6.sgf").write_text("(;FF[4]GM[1]SZ[9];B[cc];W[bb];B[dd])")
    (folder / "broken.sgf").write_text("(;FF[4")
    games, _ = play(tmp_path, [mock(), mock()], "--games", 8, "--openings", folder, "--plies", 3)
    starts = [sgf.read(tmp_path / "out" / game["sgf"]).moves[:3] for game in games]
    # The first two are one another's mirror image, so there are two openings in all, played over and over.
    assert len(set(starts)) == 2 and starts[:4] == starts[4:] and starts[0] == starts[1] != starts[2]


def test_an_sgf_tree_is_an_opening_book(tmp_path):
    book = tmp_path / "book.sgf"
    book.write_text(
        "(;SZ[9];B[ee](;W[ec](;B[ge];W[gc];B[gg])(;B[ce];W[dc]))(;W[eg];B[fg];W[fh](;B[aa])(;B[bb])))"
        "(;SZ[9];B[cc];W[gg];B[gc];W[cf])(;SZ[9];B[cc];W[gg])(;SZ[13];B[cc];W[gg];B[gc];W[cg])(;GM[2]SZ[8];W[e2e4])"
    )
    letters = {"".join("abcdefghi"[a % 9] + "abcdefghi"[a // 9] for a in opening)
               for opening in sgf_openings(book, 4, GameSettings(9, 9, 7.0, "chinese"))}  # fmt: skip
    assert letters == {"eeecgegc", "eeeccedc", "eeegfgfh", "ccgggccf"}


def test_what_is_wrong_with_openings_is_said(mock, tmp_path, capsys, caplog):
    folder = tmp_path / "book"
    folder.mkdir()
    (folder / "a.sgf").write_text("(;SZ[9];B[cc]")
    (folder / "b.sgf").write_text("(;SZ[9];B[cc];W[gg])")
    run = [mock(), mock(), "--size", 9, "--out", tmp_path / "out", "--games", 4, "--openings", folder]
    assert main([str(word) for word in [*run, "--plies", 3]]) == 1
    said = capsys.readouterr().err
    assert "no game of 9x9 with 3 moves in" in said and "a.sgf, line 1: the text ends" in said
    play(tmp_path, [mock(), mock()], "--games", 4, "--openings", folder / "b.sgf", "--plies", 2, size="9")
    assert "1 opening for 2 pairs of games" in caplog.text


def test_an_engine_that_cannot_play_is_named(mock, tmp_path, capsys):
    command = f"{sys.executable} -S -c 'import sys; sys.exit(print(\"no licence\", file=sys.stderr))'"
    assert main([mock(), f"mute={command}", "--size", "9", "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "mute cannot play such games: the engine ended during 'protocol_version'" in said and "mute-0.log" in said
    assert (tmp_path / "out" / "logs" / "mute-0.log").read_text() == "no licence\n"


def test_balanced_openings(mock, tmp_path, capsys):
    games, _ = play(tmp_path, [mock(), mock()], "--games", 4, "--balance", "fake:hash:0.02")
    assert len(games) == 4
    arguments = [mock(), mock(), "--size", "5", "--out", str(tmp_path / "other"), "--balance", "fake:hash:.000000001"]
    assert main(arguments) == 1
    assert "allow more" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--sprt", "10", "0"], "--sprt"),
        (["--sprt", "0", "10", "--gate", "0.5"], "take one"),
        (["--openings", "/no/such/book"], "SEED/PLIES"),
        (["--time", "soon"], "time control"),
        (["--referee", "keisei:fake:hash --vists 3"], "vists"),
        (["--referee", "keisei:no-such-net"], "no-such-net"),
    ],
)
def test_wrong_options(mock, tmp_path, capsys, options, text):
    assert main([mock(), mock(), "--games", "2", "--size", "5", "--out", str(tmp_path / "out"), *options]) == 1
    assert text in capsys.readouterr().err


def test_one_engine_is_no_match(mock, tmp_path, capsys):
    assert main([mock(), "--out", str(tmp_path / "out")]) == 1
    assert "two engines" in capsys.readouterr().err


def flaky(tmp_path, command, starts):
    """A command that works for its first starts and then does not any more."""
    counter = tmp_path / "counter"
    counter.write_text("0")
    path = str(counter)
    script = (
        f"import sys, subprocess\nn = int(open({path!r}).read()) + 1\nopen({path!r}, 'w').write(str(n))\n"
        f"sys.exit(9 if n > {starts} else subprocess.call({shlex.split(command)!r}))"
    )
    return shlex.join([sys.executable, "-S", "-c", script]), counter


def test_an_engine_that_is_gone_ends_the_match_and_loses_no_game(mock, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(runner, "RETRY_SECONDS", 0.01)
    # It starts for the probe and once more, crashes in its second game and is not there any more.
    command, counter = flaky(tmp_path, mock("--fault", "crash", "--at", 3), 2)
    games, _ = play(tmp_path, [mock(), command], "--games", 6, status=1)
    assert [(game["winner"], game["reason"]) for game in games] == [("A", "crash")]
    assert "could not begin" in capsys.readouterr().err
    counter.write_text("-1000")
    games, _ = play(tmp_path, [mock(), command], "--games", 6, "--resume")
    assert [game["game"] for game in games] == list(range(6))


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_a_killed_match_in_one_process_goes_on(tmp_path):
    out = tmp_path / "out"
    arguments = ["a=keisei:fake:hash@4", "b=keisei:fake:hash@2", "c=keisei:fake:uniform@2", "--games", "30",
                 "--size", "5", "--jobs", "3", "--out", str(out)]  # fmt: skip
    process = subprocess.Popen([sys.executable, "-P", "-m", "engine.match", *arguments], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 600
    while not (out / "games.jsonl").exists() or (out / "games.jsonl").read_bytes().count(b"\n") < 3:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.wait()
    before = (out / "games.jsonl").read_bytes()
    before = before[: before.rfind(b"\n") + 1]
    assert 3 <= before.count(b"\n") < 90
    assert main([*arguments[:4], "12", *arguments[5:], "--resume"]) == 0
    after = (out / "games.jsonl").read_bytes()
    assert after.startswith(before)
    numbers = [json.loads(line)["game"] for line in after.splitlines()]
    assert len(numbers) == len(set(numbers)) and set(range(36)) <= set(numbers)
    for number in range(36):
        assert sgf.read(out / "games" / f"{number:04d}.sgf").result


def test_a_handicap_match(tmp_path):
    out = tmp_path / "out"
    engines = ["strong=keisei:fake:hash@1", "weak=keisei:fake:uniform@1"]
    assert main([*engines, "--games", "2", "--size", "9", "--handicap", "3", "--out", str(out)]) == 0
    records = [sgf.read(path) for path in sorted((out / "games").glob("*.sgf"))]
    assert [(record.handicap, record.komi, record.moves[0][0]) for record in records] == [(3, 0.5, WHITE)] * 2
    assert all(record.black.startswith("weak") for record in records)
    again = [*engines, "--size", "9", "--out", str(out), "--resume"]
    assert main([*again, "--games", "3", "--handicap", "3"]) == 0
    assert main([*again, "--games", "3"]) == 1  # another match


def test_a_handicap_has_no_other_openings(tmp_path, capsys):
    words = ["keisei:fake:hash@1", "keisei:fake:uniform@1", "--handicap", "2", "--out", str(tmp_path / "out")]
    for option in (["--openings", "1/4"], ["--balance", "b6c64"], ["--plies", "4"]):
        assert main([*words, *option]) == 1
        assert "--handicap has no other openings" in capsys.readouterr().err
