"""The tactics suite: its positions are sound, their answers are read again, and engines are asked rightly."""

import argparse
import io
import json
import sys

import pytest
from tactics_oracle import Reader, Undecided

from engine.board.position import BLACK
from engine.board.scoring import pass_alive
from engine.errors import ConfigError, EngineError
from engine.evaluate.tactics import engines_of, main, shares, text_of
from engine.evaluate.tactics_positions import parse_tactic, read_tactics

SUITE = read_tactics()
CLOSED = [tactic for tactic in SUITE if tactic.goal is not None]


def test_there_are_more_than_a_hundred_of_many_kinds():
    kinds = {tactic.kind for tactic in SUITE}
    assert len(SUITE) >= 100 and len(kinds) >= 8
    boards = {(tactic.diagram, tactic.color, tactic.answers) for tactic in SUITE}
    assert len(boards) == len(SUITE)


@pytest.mark.parametrize("tactic", SUITE, ids=lambda tactic: tactic.name)
def test_every_position_can_arise_and_says_why(tactic):
    assert tactic.reason.endswith(".") and len(tactic.reason) > 20
    assert tactic.position.komi % 1 == 0.5
    assert not tactic.solved_by(-1) and (tactic.goal is None or tactic.checked)
    if tactic.answers:
        assert len(tactic.answers) <= 3


def answers_read_anew(tactic):
    position = tactic.position
    board = position.board().tolist()
    walls = pass_alive(position)
    size = position.width
    region = [divmod(a, size) for a in range(position.area) if walls[divmod(a, size)] == 0]
    reader = Reader(board, region, divmod(tactic.goal[1], size))
    return {y * size + x for y, x in reader.winning_moves(tactic.color)}


@pytest.mark.parametrize("tactic", CLOSED[::6], ids=lambda tactic: tactic.name)
def test_some_closed_positions_read_anew(tactic):
    check(tactic)


@pytest.mark.slow
@pytest.mark.parametrize("tactic", CLOSED, ids=lambda tactic: tactic.name)
def test_all_closed_positions_read_anew(tactic):
    check(tactic)


def check(tactic):
    try:
        found = answers_read_anew(tactic)
    except Undecided:
        pytest.skip("too much for the slow reader")
    assert found == tactic.answers


GOOD = """[small]
kind: life
play: black
komi: 0.5
answer: B1
reason: It is a test of reading and nothing else.
. . .
X . O
. . ."""


def with_line(old, new):
    return GOOD.replace(old, new).split("\n")


def test_a_paragraph_is_read():
    tactic = parse_tactic(GOOD.split("\n"))
    assert tactic.color == BLACK and tactic.answers == {7} and tactic.position.board()[1].tolist() == [1, 0, 2]
    assert tactic.solved_by(7) and not tactic.solved_by(8) and not tactic.solved_by(-1)
    avoiding = parse_tactic(with_line("answer: B1", "avoid: B1"))
    assert avoiding.solved_by(8) and not avoiding.solved_by(7) and not avoiding.solved_by(-1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[small]", "small"), ("play: black\n", ""), ("play: black", "play: green"), ("answer: B1", "answer: A2"),
        ("answer: B1", "answer: Z9"), ("answer: B1\n", ""), ("X . O", "X . Q"), ("X . O", "X . O ."),
        ("komi: 0.5", "komi: x"), ("reason: It is a test of reading and nothing else.\n", ""),
        ("answer: B1", "answer: B1\ngoal: save C2"), ("answer: B1", "answer: B1\navoid: C1"),
        ("answer: B1", "answer: B1\nmoves: W"), ("kind: life\n", ""),
    ],
)  # fmt: skip
def test_a_broken_paragraph_is_named(old, new):
    with pytest.raises(EngineError, match=r"small|begins with"):
        parse_tactic(with_line(old, new))


def test_moves_before_the_question_leave_their_ko():
    text = GOOD.replace(". . .\nX . O\n. . .", ". X O .\nX O . O\n. X O .\n. . . .").replace("answer: B1", "answer: A1")
    text = text.replace("komi", "moves: B C3\nkomi")
    text = text.replace("play: black", "play: white")
    tactic = parse_tactic(text.split("\n"))
    assert tactic.position.ko_action is not None


@pytest.fixture
def two(tmp_path):
    path = tmp_path / "two.txt"
    wide = GOOD.replace("[small]", "[other]").replace("kind: life", "kind: death").replace("B1", "A1")
    path.write_text(f"# a comment\n\n{GOOD}\n\n\n{wide}\n")
    return path


def test_engines_in_this_process_and_programs_are_asked(two, mock_engine, capsys):
    words = ["--positions", str(two), "--net", "fake:hash", "--visits", "1,4", "--engine", mock_engine(), "--json"]
    assert main(words) == 0
    whole = json.loads(capsys.readouterr().out)
    assert len(whole["answers"]) == 6
    assert {(row["engine"], row["visits"]) for row in whole["answers"]} >= {("fake:hash", 1), ("fake:hash", 4)}
    assert all("fault" not in row for row in whole["answers"])
    assert {share["kind"] for share in whole["shares"]} == {"life", "death", "all"}


def test_a_program_that_crashes_misses_and_is_asked_on(two, mock_engine, capsys):
    assert main(["--positions", str(two), "--engine", mock_engine("--fault", "crash", "--at", 1)]) == 0
    assert "0/2" in capsys.readouterr().out


def test_what_cannot_be_started_is_an_error(two):
    for words in ("no-such-program-at-all", "x-1=no-such-program-at-all"):  # a name may stand before a command
        with pytest.raises(EngineError, match="there is no program no-such-program-at-all"):
            main(["--positions", str(two), "--engine", words])


def test_a_program_that_ends_at_once_is_an_error_in_its_own_words(two):
    command = f"mute={sys.executable} -S -c 'import sys; sys.exit(print(\"no licence\", file=sys.stderr))'"
    with pytest.raises(EngineError, match=r"mute: the engine ended during .*; it said: no licence"):
        main(["--positions", str(two), "--engine", command])


def test_progress_is_seen_on_a_terminal_alone(two, monkeypatch, capsys):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    words = ["--positions", str(two), "--net", "fake:hash", "--visits", "1"]
    assert main(words) == 0
    assert capsys.readouterr().err == ""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    assert main(words) == 0
    lines = stream.getvalue().split("\r\x1b[K")
    assert lines == ["", "fake:hash@1: 0 of 2 positions", "fake:hash@1: 1 of 2 positions", ""]


def test_a_program_without_a_name_is_called_by_its_command(two):
    options = argparse.Namespace(
        visits="1", net=[], set=[], seed=1, tell=False, engine=["/x/gnugo --mode gtp", "g-1=y"]
    )
    assert [(asked.label, asked.command) for asked in engines_of(options)] == [
        ("gnugo", "/x/gnugo --mode gtp"), ("g-1", "y")]  # fmt: skip


@pytest.mark.parametrize("words", [["--visits", "0"], ["--visits", "x"], ["--kind", "nothing"], ["--set", "a.b=c"]])
def test_wrong_options(words, two):
    with pytest.raises(ConfigError):
        main(["--positions", str(two), *words])


def test_show_prints_board_and_reason(capsys):
    assert main(["--show", SUITE[0].name]) == 0
    text = capsys.readouterr().out
    assert SUITE[0].reason in text
    size = SUITE[0].position.height
    letters = " ".join("ABCDEFGHJKLMNOPQRSTUVWXYZ"[: SUITE[0].position.width])
    rows = text.splitlines()
    assert rows[1].strip() == rows[size + 2].strip() == letters
    assert [row.split()[0] for row in rows[2 : size + 2]] == [str(y) for y in range(size, 0, -1)]
    with pytest.raises(EngineError):
        main(["--show", "nothing-of-that-name"])


def test_two_positions_of_a_name(tmp_path):
    path = tmp_path / "twice.txt"
    path.write_text(f"{GOOD}\n\n{GOOD}\n")
    with pytest.raises(EngineError, match="two positions"):
        read_tactics([path])


def test_the_table_counts():
    rows = [{"engine": "a", "visits": 1, "kind": k, "position": f"p{i}", "solved": s, "move": "A1"}
            for i, (k, s) in enumerate([("x", True), ("x", False), ("y", True)])]  # fmt: skip
    found = {share["kind"]: (share["solved"], share["positions"]) for share in shares(rows)}
    assert found == {"x": (1, 2), "y": (1, 1), "all": (2, 3)}
    assert "a@1 misses: p1 A1" in text_of(rows)
