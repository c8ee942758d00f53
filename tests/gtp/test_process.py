"""The engine as a process: first words, clean streams, every way to end it, and what happens around loading."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

SLOW = ("--net", "fake:uniform", "--time", "600", "--set", "player.analysis_visits=100000000")
"""Options under which a genmove takes far longer than any test."""


def test_first_words_and_quit(start):
    client = start()
    client.send("name\nversion\nprotocol_version\nlist_commands\n")
    assert client.reply() == "= Keisei" and client.reply().startswith("= 1.") and client.reply() == "= 2"
    assert client.reply().startswith("= protocol_version\n")
    assert client.ask("99 quit") == "=99 "
    code, errors = client.finish()
    assert code == 0 and client.rest() == ""
    assert errors.split("\n").count("GTP ready") == 1


def test_stdout_carries_gtp_alone(start):
    client = start()
    client.send("12 boardsize 9\r\n0 genmove b\r\n\r\n# x\r\n2147483648 nonsense\r\nplay b i5\r\nquit\r\n")
    code, errors = client.finish()
    assert code == 0
    assert re.fullmatch(r"=12 \n\n=0 \w+\n\n\?2147483648 unknown command\n\n\? syntax error\n\n= \n\n", client.rest())
    for line in errors.splitlines():
        assert not re.match(r"[=?]|info|play|komi=|Tuning", line) and " -> " not in line
        assert "exception" not in line.lower()


def test_a_hundred_commands_in_one_write(start):
    client = start()
    client.send("".join(f"{number} play {'bw'[number % 2]} {'ABCDEFGHJK'[number % 10]}{number // 10 + 1}\n"
                        for number in range(100)) + "quit\n")  # fmt: skip
    assert client.finish()[0] == 0
    assert client.rest() == "".join(f"={number} \n\n" for number in range(100)) + "= \n\n"


def test_a_script_is_answered_whole(start):
    client = start()
    client.send("boardsize 9\ngenmove b\nkata-genmove_analyze w\nfinal_score\nquit\n")
    client.close()
    assert client.finish()[0] == 0
    assert re.fullmatch(
        r"= \n\n= \w+\n\n=\n(info [^\n]+\n)+play \w+\n\n= ([BW]\+[\d.]+|0)\n\n= \n\n", client.rest()
    )


def test_the_last_line_may_lack_its_end(start):
    client = start()
    client.send("1 protocol_version\n2 name")
    client.close()
    assert client.finish()[0] == 0 and client.rest() == "=1 2\n\n=2 Keisei\n\n"


@pytest.mark.parametrize(
    "before", ["", "name\n", "genmove b\n", "kata-analyze b 10\n", "genmove b\nname\n", "play b d4", "lz-analyze\n"]
)
def test_the_end_of_the_input_ends_everything(start, before):
    client = start(*SLOW)
    client.ok("boardsize 9")
    client.send(before)
    time.sleep(0.3 if before.endswith("\n") else 0.0)
    started = time.monotonic()
    client.close()
    code, errors = client.finish()
    assert code == 0 and "Traceback" not in errors
    assert time.monotonic() - started < 5.0


def test_the_end_of_the_input_while_the_net_loads(start):
    client = start(*SLOW)
    client.send("genmove b\n")
    client.close()
    assert client.finish()[0] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("before", ["", "genmove b\n", "kata-analyze b 10\n"])
def test_sigterm(start, before):
    client = start(*SLOW)
    client.ok("boardsize 9")
    client.send(before)
    time.sleep(0.3)
    client.process.send_signal(signal.SIGTERM)
    code, errors = client.finish()
    assert code == 0 and "Traceback" not in errors


@pytest.mark.skipif(sys.platform == "win32", reason="poll")
@pytest.mark.parametrize("before", ["", "genmove b\n", "kata-analyze b 1\n"])
def test_closed_stdout(python, before):
    command, environment = python("-m", "engine", "gtp", *SLOW)
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        process.stdin.write(b"boardsize 9\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"= \n"
        process.stdin.write(before.encode())
        process.stdin.flush()
        time.sleep(0.2)
        process.stdout.close()
        assert process.wait(60) == 0
        assert b"Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stderr.close()


def test_unread_stderr_does_not_freeze_the_engine(python):
    command, environment = python("-m", "engine", "gtp", "--net", "fake:hash", "--visits", "2")
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        # Each of these writes a warning of some 60 bytes; together more than a pipe holds.
        process.stdin.write(b'{"a": 1}\n' * 3000 + b"name\nquit\n")
        process.stdin.close()
        assert process.stdout.read().endswith(b"= Keisei\n\n= \n\n")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def test_a_net_that_cannot_be_loaded(start, tmp_path):
    client = start("--net", str(tmp_path / "missing.bin.gz"))
    code, errors = client.finish()
    assert code == 1 and client.rest() == ""
    lines = [line for line in errors.splitlines() if line != "GTP ready"]
    assert len(lines) == 1 and "missing.bin.gz" in lines[0]


def test_importing_gtp_needs_neither_torch_nor_numpy(python):
    code = "import sys, engine.gtp.process, engine.factory; print([m for m in ('torch', 'numpy') if m in sys.modules])"
    command, environment = python("-c", code)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_gtp_works_where_torch_is_missing(python):
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from engine.cli import main\n"
        "sys.exit(main(['gtp', '--net', 'fake:hash', '--visits', '5']))"
    )
    command, environment = python("-c", code)
    script = b"boardsize 9\ngenmove b\nquit\n"
    done = subprocess.run(command, env=environment, input=script, capture_output=True, check=False)
    assert re.fullmatch(rb"= \n\n= \w+\n\n= \n\n", done.stdout) and done.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("closed", "code", "answers"),
    [("2>&-", 0, b"= Keisei\n\n= \n\n"), ("<&-", 0, b""), ("1>&-", 1, b""), ("1>&- 2>&-", 1, b"")],
)
def test_streams_closed_from_the_start(python, closed, code, answers):
    command, environment = python("-m", "engine", "gtp", "--net", "fake:hash")
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *command]
    done = subprocess.run(shell, env=environment, input=b"name\nquit\n", capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (code, answers)
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_person_at_a_terminal_is_told_how_to_begin_and_a_program_is_not(python):
    import pty

    command, environment = python("-m", "engine", "gtp", "--net", "fake:uniform")
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(command, env=environment, stdin=theirs, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)  # fmt: skip
        os.write(ours, b"quit\n")
        out, errors = process.communicate(timeout=60)
    finally:
        os.close(ours)
        os.close(theirs)
    assert process.returncode == 0 and out == b"= \n\n"
    assert errors.decode().count("list_commands") == 1
    done = subprocess.run(command, env=environment, input=b"quit\n", capture_output=True, check=True)
    assert b"list_commands" not in done.stderr
