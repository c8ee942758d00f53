"""Whole matches between mock engines: faults, resuming, killing, interrupting; and GNU Go where it is installed."""

import errno
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import child
import pytest

from engine import sgf
from engine.match import cli, lock
from engine.match.cli import main
from engine.match.engine_slot import MAX_NAME
from engine.match.engines import parse_engines, shown_names
from engine.match.play import MAX_DETAIL
from engine.match.store import MatchStore

POSIX = os.name == "posix"


def play(tmp_path, a, b, *options, games=2, size="5", status=0):
    """Run a match and return the lines of games.jsonl and summary.json."""
    out = tmp_path / "out"
    arguments = [a, b, "--games", str(games), "--size", size, "--out", str(out), "--timeout", "20", *options]
    assert main(arguments) == status
    games = [json.loads(line) for line in (out / "games.jsonl").read_text("utf-8").splitlines()]
    return sorted(games, key=lambda game: game["game"]), json.loads((out / "summary.json").read_text("utf-8"))


def test_a_match(mock, tmp_path, capsys):
    games, summary = play(tmp_path, mock("--name", "One"), mock("--name", "Two"), games=6)
    assert [game["game"] for game in games] == list(range(6))
    assert [game["black"] for game in games] == ["A", "B"] * 3
    assert summary["engines"]["A"]["name"] == "One 1" and summary["pairings"][0]["games"] == 6
    assert {game["scored_by"] for game in games} == {"rules"}
    output = capsys.readouterr()
    assert "A as Black" in output.out and "6/6" in output.err
    assert (tmp_path / "out" / "report.md").read_text("utf-8") == output.out
    records = [sgf.read(tmp_path / "out" / game["sgf"]) for game in games]
    for record, other in zip(records[::2], records[1::2], strict=True):
        assert record.moves[:4] == other.moves[:4]
        assert (record.black, other.black) == ("One 1", "Two 1")
    assert len({record.moves[:4] for record in records}) == 3
    for record, game in zip(records, games, strict=True):
        position = record.position()
        assert position.ended and position.n_moves == game["moves"] and record.result == game["result"]
        assert record.komi == 7.5 and record.rules_text == "chinese-ogs"
    # The mock engines are alike, so the second game of each pair repeats the first.
    assert [game["duplicate_of"] for game in games] == [None, 0, None, 2, None, 4]
    assert summary["pairings"][0]["duplicates"] == 3


@pytest.mark.parametrize(
    ("fault", "reason", "result"),
    [
        ("crash", "crash", "F"),
        ("illegal", "illegal move", "F"),
        ("offboard", "illegal move", "F"),
        ("nonsense", "illegal move", "F"),
        ("refuse", "refused", "F"),
        ("resign", "resign", "R"),
    ],
)
def test_a_fault_loses_the_game_and_no_other(mock, tmp_path, fault, reason, result):
    games, summary = play(tmp_path, mock(), mock("--fault", fault), games=4)
    (summary,) = summary["pairings"]
    assert [(game["winner"], game["reason"]) for game in games] == [("A", reason)] * 4
    assert [game["result"] for game in games] == [f"B+{result}", f"W+{result}"] * 2
    assert summary["wins"] == 4 and summary["as_white"]["wins"] == 2
    if reason != "resign":
        assert summary["forfeits"]["B"] == {reason: 4}
        assert all(game["detail"] for game in games)
        assert reason in sgf.read(tmp_path / "out" / games[0]["sgf"]).comments[0]


def test_a_doubled_reply_loses_the_game_and_no_other(mock, tmp_path):
    """It was taken for the next command's answer, and so shifted all later ones."""
    games, _ = play(tmp_path, mock("--numbers"), mock("--numbers", "--fault", "twice", "--at", 3), games=4)
    assert [(game["winner"], game["reason"]) for game in games] == [("A", "protocol")] * 4
    assert all("a reply to command" in game["detail"] and "'genmove " in game["detail"] for game in games)


@pytest.mark.parametrize("fault", ["hang", "silent"])
def test_a_hanging_engine_loses_on_time(mock, tmp_path, fault):
    games, _ = play(tmp_path, mock("--fault", fault), mock(), "--timeout", "0.7", games=2)
    assert [(game["winner"], game["reason"], game["result"]) for game in games] == [
        ("B", "timeout", "W+T"),
        ("B", "timeout", "B+T"),
    ]


def test_chatter_on_stdout_is_passed_over(mock, tmp_path):
    games, _ = play(tmp_path, mock("--fault", "chatter"), mock())
    assert {game["reason"] for game in games} == {"score"}


def test_scores_that_agree_and_disagree(mock, tmp_path):
    games, _ = play(tmp_path / "1", mock("--score", "B+2.5"), mock("--score", "B+2.5"))
    assert [(game["result"], game["scored_by"]) for game in games] == [("B+2.5", "engines")] * 2
    assert [game["winner"] for game in games] == ["A", "B"]
    games, summary = play(tmp_path / "2", mock("--score", "B+2.5"), mock("--score", "W+2.5"))
    assert {game["scored_by"] for game in games} == {"rules"} and summary["pairings"][0]["disputed"] == 2
    games, _ = play(
        tmp_path / "3", mock("--score", "B+2.5"), mock("--score", "W+2.5"), "--referee", mock("--score", "W+1")
    )
    assert [(game["result"], game["scored_by"]) for game in games] == [("W+1", "referee")] * 2
    assert games[0]["answers"] == {"A": "B+2.5", "B": "W+2.5", "referee": "W+1"}
    games, summary = play(tmp_path / "4", mock("--score", "0"), mock("--score", "0"))
    assert [(game["result"], game["winner"]) for game in games] == [("0", None)] * 2
    assert summary["pairings"][0]["draws"] == 2


def test_a_failing_referee_is_done_without(mock, tmp_path):
    referee = mock("--fault", "refuse", "--at", 0)
    games, _ = play(tmp_path, mock("--score", "B+1"), mock("--score", "B+1"), "--referee", referee)
    assert [game["scored_by"] for game in games] == ["engines"] * 2


def test_rectangles_and_parallel_games(mock, tmp_path):
    games, _ = play(tmp_path, mock(), mock("--fault", "crash", "--at", 2), "--parallel", "3", games=7, size="6x4")
    assert [game["game"] for game in games] == list(range(7))
    record = sgf.read(tmp_path / "out" / games[0]["sgf"])
    assert (record.width, record.height) == (6, 4)


def test_resuming(mock, tmp_path, capsys):
    first, _ = play(tmp_path, mock(), mock(), games=3)
    with open(tmp_path / "out" / "games.jsonl", "a") as file:
        file.write('{"game": 3, "open')
    games, summary = play(tmp_path, mock(), mock(), "--resume", games=6)
    assert games[:3] == first and [game["game"] for game in games] == list(range(6))
    assert summary["pairings"][0]["games"] == 6 and games[3]["duplicate_of"] == 2
    capsys.readouterr()
    for options, text in (
        ([], "--resume"),
        (["--resume", "--komi", "3"], "komi was 7.5"),
        (["--resume", "--size", "13x9"], "size was 5x5, not 13x9"),
    ):
        out = str(tmp_path / "out")
        assert main([mock(), mock(), "--games", "6", "--size", "5", "--out", out, *options]) == 1
        assert text in capsys.readouterr().err
    assert (tmp_path / "out" / "games.jsonl").read_text().count("\n") == 6


def test_one_match_at_a_time_writes_into_a_folder(mock, tmp_path, capsys):
    out = tmp_path / "out"
    first = MatchStore(out, {}, resume=False)
    arguments = [mock(), mock(), "--games", "1", "--size", "5", "--out", str(out)]
    assert main(arguments) == 1
    assert "another match is being played" in capsys.readouterr().err
    first.close()
    (out / "settings.json").unlink()
    assert main(arguments) == 0


@pytest.mark.skipif(not POSIX, reason="an open file cannot be removed")
def test_a_lock_that_its_last_holder_removed_is_made_anew(tmp_path, monkeypatch):
    """Of two matches that waited for a folder one locked the removed file and the other a new one."""
    path = tmp_path / "lock"
    first = lock.take(path)
    assert lock.take(path) is None
    open_it = Path.open

    def open_while_it_ends(self, mode):
        file = open_it(self, mode)
        if not first.closed:
            path.unlink()
            first.close()
        return file

    monkeypatch.setattr(Path, "open", open_while_it_ends)
    second = lock.take(path)
    assert second is not None and path.exists()
    assert lock.take(path) is None
    second.close()


def test_a_match_that_cannot_begin_leaves_nothing_and_holds_its_folder_until_then(mock, tmp_path, monkeypatch):
    held = []
    remove = MatchStore.remove_unused

    def removing(self):
        held.append(lock.take(self.folder / "lock"))
        remove(self)

    monkeypatch.setattr(MatchStore, "remove_unused", removing)
    out = tmp_path / "out"
    assert main([mock(), "/no/such/engine", "--games", "2", "--size", "5", "--out", str(out)]) == 1
    assert not out.exists()
    assert held == [None] or not POSIX


def test_a_full_disk_ends_the_match_with_what_was_finished(mock, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    write = Path.write_text

    def full(path, text, encoding=None):
        if path.name.startswith("0002") or (path.name.startswith("report") and "| 2 " in text):
            write(path, text[:10], encoding)
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, text, encoding)

    monkeypatch.setattr(Path, "write_text", full)
    arguments = [mock(), mock(), "--games", "4", "--size", "5", "--out", str(out)]
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert "cannot write game 2 into" in said.err and "No space left" in said.err and "--resume goes on" in said.err
    assert "| 2 " in said.out
    assert not list(out.rglob("*.tmp"))
    monkeypatch.setattr(Path, "write_text", write)
    assert main([*arguments, "--resume"]) == 0
    assert (out / "games.jsonl").read_text().count("\n") == 4


@pytest.mark.parametrize("line", ['{"game": 0}', "[]", "7", "{", '{"game": "x", "key": 1}'])
def test_a_line_that_is_no_game_is_named(mock, tmp_path, capsys, line):
    play(tmp_path, mock(), mock())
    with open(tmp_path / "out" / "games.jsonl", "a") as file:
        file.write(f"{line}\n")
    capsys.readouterr()
    assert main([mock(), mock(), "--games", "2", "--size", "5", "--out", str(tmp_path / "out"), "--resume"]) == 1
    assert "games.jsonl, line 3: not a game" in capsys.readouterr().err


def test_what_an_engine_says_is_kept_short(mock, tmp_path):
    long = "B+1 " + "x" * 100_000
    games, summary = play(tmp_path, mock("--name", "Some\nEngine " + "y" * 100_000), mock("--score", long))
    assert len(summary["engines"]["A"]["name"]) == MAX_NAME
    assert len(games[0]["answers"]["B"]) == MAX_DETAIL


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--rules", "chess"], "unknown rules"),
        (["--size", "40"], "40"),
        (["--komi", "nan"], "komi"),
        (["--sprt", "0", "30", "--alpha", "0.6", "--beta", "0.4"], "together below 1"),
    ],
)
def test_wrong_options(mock, tmp_path, capsys, options, text):
    assert main([mock(), mock(), "--games", "2", "--size", "5", "--out", str(tmp_path / "out"), *options]) == 1
    assert text in capsys.readouterr().err


def test_an_engine_that_cannot_start(mock, tmp_path, capsys):
    assert main([mock(), "/no/such/engine", "--games", "2", "--size", "5", "--out", str(tmp_path / "out")]) == 1
    assert "/no/such/engine" in capsys.readouterr().err


def start_match(tmp_path, command, games):
    """Start a match in a process of its own and wait for its first finished game."""
    out = tmp_path / "out"
    options = ["--games", str(games), "--size", "5", "--out", str(out)]
    arguments, environment = child.python("-m", "engine.match", command, command, *options)
    errors = (tmp_path / "stderr").open("wb")
    process = subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=errors)
    deadline = time.monotonic() + 30
    while not (out / "games.jsonl").exists():
        assert process.poll() is None and time.monotonic() < deadline, (tmp_path / "stderr").read_text()
        time.sleep(0.05)
    return process, out


def running(marker):
    """Return whether any process has this word on its command line."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return marker in listed


@pytest.mark.skipif(not POSIX, reason="needs POSIX signals")
def test_a_killed_match_goes_on(mock, tmp_path):
    command = mock("--slow", 0.02)
    process, out = start_match(tmp_path, command, 4)
    process.kill()
    process.wait()
    done = (out / "games.jsonl").read_text().count("\n")
    assert 1 <= done < 4
    assert main([command, command, "--games", "4", "--size", "5", "--out", str(out), "--resume"]) == 0
    games = [json.loads(line)["game"] for line in (out / "games.jsonl").read_text().splitlines()]
    assert sorted(games) == list(range(4))


@pytest.mark.skipif(not POSIX or shutil.which("ps") is None, reason="needs POSIX signals and ps")
def test_ctrl_c_keeps_what_is_finished(mock, tmp_path):
    marker = f"Interrupted-{os.getpid()}"
    process, out = start_match(tmp_path, mock("--slow", 0.02, "--name", marker), 50)
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"A as Black" in stdout
    summary = json.loads((out / "summary.json").read_text())
    assert 1 <= summary["pairings"][0]["games"] < 50
    assert not running(marker)


@pytest.mark.skipif(not POSIX, reason="needs POSIX signals")
def test_a_second_ctrl_c_takes_no_report_away(mock, tmp_path, monkeypatch, capsys):
    summarised = cli._summary

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    def summarise(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return summarised(*arguments)

    monkeypatch.setattr(cli, "run_games", interrupted)
    monkeypatch.setattr(cli, "_summary", summarise)
    assert main([mock(), mock(), "--games", "2", "--size", "5", "--out", str(tmp_path / "out")]) == 130
    assert (tmp_path / "out" / "report.md").read_text() == capsys.readouterr().out


def test_an_engine_that_closes_its_output_and_lives_on_loses_that_game_and_no_other(mock, tmp_path):
    games, _ = play(tmp_path, mock(), mock("--fault", "mute", "--at", 2))
    assert [(game["winner"], game["reason"]) for game in games] == [("A", "crash")] * 2
    assert all("closed its output during 'genmove" in game["detail"] for game in games)


@pytest.mark.peer
@pytest.mark.skipif(shutil.which("gnugo", path="/usr/games:/usr/bin:/usr/local/bin") is None, reason="no gnugo")
def test_gnu_go_against_itself(tmp_path):
    gnugo = shutil.which("gnugo", path="/usr/games:/usr/bin:/usr/local/bin")
    a, b = (f"{gnugo} --mode gtp --level 1 --seed {seed}" for seed in (1, 2))
    referee = f"{gnugo} --mode gtp --level 1"
    games, summary = play(tmp_path, a, b, "--rules", "chinese", "--referee", referee, games=4, size="9")
    assert {game["reason"] for game in games} <= {"score", "resign"}
    assert summary["engines"]["A"]["name"].startswith("GNU Go")
    for game in games:
        assert sgf.read(tmp_path / "out" / game["sgf"]).position().n_moves == game["moves"]
        if game["reason"] == "score":
            assert game["scored_by"] == "referee" and not game["disputed"]


@pytest.mark.peer
@pytest.mark.skipif(shutil.which("gnugo", path="/usr/games:/usr/bin:/usr/local/bin") is None, reason="no gnugo")
def test_the_net_that_ships_against_gnu_go(tmp_path):
    gnugo = shutil.which("gnugo", path="/usr/games:/usr/bin:/usr/local/bin")
    engines = "k=keisei:@1 --set net.threads=1", f"g={gnugo} --mode gtp --level 1"
    options = ["--rules", "chinese", "--referee", f"{gnugo} --mode gtp", "--jobs", "2", "--timeout", "300"]
    games, summary = play(tmp_path, *engines, *options, games=4, size="9")
    assert {game["reason"] for game in games} <= {"score", "resign"}
    assert summary["pairings"][0]["forfeits"] == {"k": {}, "g": {}}
    assert "winrate" in sgf.read(tmp_path / "out" / games[0]["sgf"]).comments[5]


@pytest.mark.parametrize(
    "texts, shown",
    [
        (["/usr/games/gnugo --mode gtp", "keisei gtp"], ["gnugo", "keisei"]),
        (["keisei gtp --visits 1", "./keisei gtp --visits 2"], ["keisei A", "keisei B"]),
        (["gnugo=x --gtp", "gnugo --mode gtp"], ["gnugo", "gnugo B"]),
        (["keisei:b6c64@1", "keisei:b6c64@9"], ["keisei:b6c64@1", "keisei:b6c64@9"]),
        (["keisei:", "keisei:@1"], ["keisei", "keisei:@1"]),
        (["one=a b", "two=a b"], ["one", "two"]),
    ],
)
def test_engines_are_called_by_names_that_are_no_colors(texts, shown):
    assert list(shown_names(parse_engines(texts)).values()) == shown


def test_two_alike_are_told_apart_in_records_and_reports(mock, tmp_path, capsys):
    play(tmp_path, mock("--name", "One"), mock("--name", "One"))
    record = sgf.read(tmp_path / "out" / "games" / "0000.sgf")
    assert {record.black, record.white} == {"One 1 (A)", "One 1 (B)"}
    said = capsys.readouterr()
    assert " A (Black) - " in said.err and " B (White): " in said.err
    assert "\n- A: " not in said.out and " A: One 1 (`" in said.out


def test_a_match_that_cannot_begin_leaves_no_folder(tmp_path, capsys):
    out = tmp_path / "deep" / "out"
    assert main(["/nowhere/engine", "/nowhere/engine", "--out", str(out)]) == 1
    assert not out.exists() and capsys.readouterr().err.count("\n") == 1
    out.mkdir(parents=True)
    (out / "mine.txt").write_text("kept")
    assert main(["/nowhere/engine", "/nowhere/engine", "--out", str(out)]) == 1
    assert (out / "mine.txt").exists()
