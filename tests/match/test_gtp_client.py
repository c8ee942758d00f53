"""The controller's side of GTP against engines that behave and that do not."""

import os
import shlex
import sys
import threading
import time
from pathlib import Path

import pytest

from engine.match import engine_log
from engine.match.engine_output import MAX_LINE, MAX_WAITING, MAX_WAITING_TEXT
from engine.match.engine_slot import EngineSlot
from engine.match.gtp_client import EngineFailed, GtpError, GtpProcess


def scripted(text):
    """Return the command line of a Python script."""
    return shlex.join([sys.executable, "-S", "-c", text])


def numbered(body):
    """Return the command line of an engine that answers with numbers; body has the words of each command."""
    head = """
import sys
def say(text): sys.stdout.write(text + chr(10) * 2); sys.stdout.flush()
before = None
for line in sys.stdin:
    number, *words = line.split()
"""
    return scripted(head + "".join(f"    {line}\n" for line in body.splitlines()))


def test_replies(mock):
    engine = GtpProcess(mock("--name", "Some Engine"))
    assert engine.send("name", 10) == "Some Engine"
    assert engine.send("list_commands", 10).split()[:2] == ["name", "version"]
    with pytest.raises(GtpError, match="cannot score"):
        engine.send("final_score", 10)
    assert engine.send("genmove b", 10) == "A1"
    engine.close()
    with pytest.raises(EngineFailed):
        engine.send("name", 10)


def test_ids_blank_lines_and_carriage_returns():
    text = r"""
import sys
for line in sys.stdin:
    sys.stdout.write("\r\nhello\r\n=7 one\r\ntwo\r\n\r\n"); sys.stdout.flush()
"""
    engine = GtpProcess(scripted(text))
    assert engine.send("x", 10) == "one\ntwo"
    assert engine.send("x", 10) == "one\ntwo"
    engine.kill()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("raise SystemExit(4)", "crash"),
        ("import sys; sys.stdin.readline(); raise SystemExit(4)", "crash"),
        ("import time; time.sleep(60)", "timeout"),
        ("import sys; sys.stdin.readline(); print('= half a reply', flush=True); sys.stdin.read()", "timeout"),
        ("while True: print('noise')", "protocol"),
        ("import sys; sys.stdout.buffer.write(bytes(range(256)) * 9); sys.stdout.flush()", "crash"),
    ],
)
def test_engines_that_fail(script, reason):
    engine = GtpProcess(scripted(script))
    started = time.monotonic()
    with pytest.raises(EngineFailed) as error:
        engine.send("name", 1.0)
    assert error.value.reason == reason
    engine.kill()
    assert time.monotonic() - started < 8


def test_a_reply_that_nobody_asked_for_is_no_answer_to_the_next_command():
    script = "print('= A1\\n' + '\\n= pass\\n' * line.startswith('genmove'), flush=True)"
    engine = GtpProcess(scripted(f"import sys\nfor line in sys.stdin: {script}"))
    assert engine.send("genmove b", 10) == "A1"
    deadline = time.monotonic() + 60
    while engine._output._lines.qsize() < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(EngineFailed, match="nobody asked for, before 'genmove w': '= pass'") as error:
        engine.send("genmove w", 10)
    assert error.value.reason == "protocol"
    engine.kill()


def test_a_reply_that_comes_after_the_next_command_is_known_by_its_number():
    """Each command is answered by the last reply again, and then by its own: it shifted all later answers."""
    again = "if before: say(before)\nbefore = f'={number} {words[0]}'\nif number == '101': say(before)"
    engine = GtpProcess(numbered(again))
    with pytest.raises(EngineFailed, match="a reply to command 101 after command 102, 'genmove b': 'protocol") as error:
        engine.send("genmove b", 10)
    assert error.value.reason == "protocol"
    engine.kill()


def test_a_late_reply_of_one_that_was_given_up_waiting_for():
    late = "if words[0] == 'late': before = number; continue\nif before: say(f'={before} late')\n"
    engine = GtpProcess(numbered(late + "say(f'={number} {words[0]}')"))
    assert engine.send("name", 60) == "name"
    with pytest.raises(EngineFailed, match="no reply to 'late'"):
        engine.send("late", 0.1)
    with pytest.raises(EngineFailed, match="a reply to command 103 after command 104, 'name': 'late'"):
        engine.send("name", 60)
    engine.kill()


def test_an_engine_that_answers_with_numbers_may_leave_them_out_of_errors_alone():
    engine = GtpProcess(numbered("say({'odd': '? unknown command', 'bare': '= D4'}.get(words[0], f'={number} fine'))"))
    assert engine.send("name", 60) == "fine"
    with pytest.raises(GtpError, match="unknown command"):
        engine.send("odd", 60)
    assert engine.send("name", 60) == "fine"
    with pytest.raises(EngineFailed, match="a reply without a number after command 105, 'bare': 'D4'"):
        engine.send("bare", 60)
    engine.kill()


@pytest.mark.parametrize(
    "answer",
    [
        "'= ' + words[-1]",  # leaves numbers out
        "'? unknown command' if words[0].isdigit() else '= ' + words[0]",  # takes a number for a command
        "'=' if words[0].isdigit() else '= ' + words[0]",  # has no unknown commands
        "'=0 ' + words[0]",  # has one number for all
    ],
)
def test_engines_that_know_no_numbers_are_asked_without(answer):
    engine = GtpProcess(scripted(f"""
import sys
heard = []
for line in sys.stdin:
    words = line.split()
    heard += [line.strip()]
    print(f'= {{heard[1:]}}' if words == ['all'] else {answer}, end=chr(10) * 2)
    sys.stdout.flush()
"""))
    assert engine.send("name", 60) == "name"
    assert engine.send("all", 60) == "['name', 'all']"
    engine.kill()


def test_an_engine_that_closes_its_output_and_lives_on():
    engine = GtpProcess(scripted("import os, sys, time\nsys.stdin.readline()\nos.close(1)\ntime.sleep(600)"))
    with pytest.raises(EngineFailed, match="closed its output during 'protocol_version', but goes on") as error:
        engine.send("name", 60)
    assert error.value.reason == "crash"
    engine.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="has no process groups")
@pytest.mark.parametrize("end", ["raise SystemExit(3)", "print('= \\n', flush=True)"])
def test_what_an_engine_started_ends_with_it(end, tmp_path):
    """A script around an engine: it ends first, after a crash as after quit."""
    mark = tmp_path / "running"
    start = f"import subprocess, sys; subprocess.Popen(['sh', '-c', 'touch {mark}; exec sleep 600'])"
    engine = GtpProcess(scripted(f"{start}\nsys.stdin.readline()\n{end}"))
    deadline = time.monotonic() + 60
    while not mark.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert mark.exists()
    engine.close()
    assert not engine._output._reader.is_alive()  # nobody holds the pipe any more


@pytest.mark.parametrize("command", ["/no/such/engine --x", "", "an 'open quote"])
def test_commands_that_cannot_start(command):
    with pytest.raises(EngineFailed, match="cannot start"):
        GtpProcess(command)


def test_a_slot_starts_its_engine_again(mock, tmp_path):
    slot = EngineSlot("A", mock("--fault", "crash", "--at", 1), 10.0, tmp_path / "log")
    for _ in range(2):
        slot.start()
        assert slot.name == "Mock 1" and "genmove" in slot.commands
        with pytest.raises(EngineFailed, match="exit status 3"):
            slot.send("genmove b")
        slot.drop()
    assert (tmp_path / "log").read_text() == "mock: going down\n" * 2
    slot.close()
    with pytest.raises(EngineFailed, match="over"):
        slot.start()


@pytest.mark.skipif(sys.platform == "win32", reason="process groups")
def test_only_a_group_that_is_still_ours_is_killed(mock, monkeypatch):
    engine = GtpProcess(mock("--fault", "crash", "--at", 1))
    with pytest.raises(EngineFailed, match="exit status 3"):
        engine.send("genmove b", 10.0)
    killed = []

    def killpg(group, number):
        os.waitid(os.P_PID, group, os.WEXITED | os.WNOHANG | os.WNOWAIT)  # raises for a number that is free again
        killed.append(group)

    monkeypatch.setattr(os, "killpg", killpg)
    engine.kill()
    engine.kill()
    assert killed == [engine._process.pid]


def test_an_engine_that_another_thread_kills_while_its_reply_is_waited_for():
    """As `keisei cgos` does when it gives up waiting: the waiting thread ended with ChildProcessError."""
    script = "import sys\nfor line in sys.stdin: 'genmove' in line or print('= \\n', flush=True)"
    for _ in range(10):
        engine = GtpProcess(scripted(script))
        engine.send("name", 60)
        threading.Timer(0.02, engine.kill).start()
        with pytest.raises(EngineFailed, match=r"ended (during|before)"):
            engine.send("genmove b", 60)


def test_a_flood_on_standard_error_fills_no_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(engine_log, "MAX_LOG", 50_000)
    monkeypatch.setattr(engine_log, "KEPT", 1000)
    flood = "import sys\nfor i in range(400): sys.stderr.write(f'{i}\\n' * 1000)\nsys.stderr.flush()"
    script = f"{flood}\nfor line in sys.stdin: print('= \\n', flush=True)"
    slot = EngineSlot("A", scripted(script), 60, tmp_path / "log")
    slot.start()
    slot.send("name")
    assert (tmp_path / "log").stat().st_size <= 50_000
    assert slot.new_words().splitlines()[-1] == "399"
    assert slot.new_words() == ""
    slot.close()
    assert (tmp_path / "log").read_text().splitlines()[-1] == "399"


def test_a_flood_on_standard_error_is_cut_though_nobody_asks_the_engine_anything(tmp_path, monkeypatch):
    """It was cut at the next command only: a fast engine filled the disk while its opponent thought."""
    monkeypatch.setattr(engine_log, "MAX_LOG", 50_000)
    monkeypatch.setattr(engine_log, "KEPT", 1000)
    flood = "import sys\nsys.stdin.readline()\nprint('= \\n', flush=True)\nfor i in range(400): "
    flood += "sys.stderr.write(f'{i}\\n' * 1000)"
    mark = f"\nopen({str(tmp_path / 'mark')!r}, 'w').close()\nsys.stdin.read()"
    engine = GtpProcess(scripted(flood + "\nsys.stderr.flush()" + mark), tmp_path / "log")
    engine._ask("name", None, 60, time.monotonic() + 60)
    deadline = time.monotonic() + 60
    while not (tmp_path / "mark").exists() and time.monotonic() < deadline:  # all but a pipe full has been taken
        assert (tmp_path / "log").stat().st_size <= 50_000
        time.sleep(0.01)
    assert (tmp_path / "mark").exists() and 0 < (tmp_path / "log").stat().st_size <= 50_000
    engine.kill()
    assert (tmp_path / "log").read_text().splitlines()[-1] == "399"


def test_a_full_disk_holds_no_engine_up():
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    script = "import sys\nfor line in sys.stdin: sys.stderr.write('x' * 100000); print('= \\n', flush=True)"
    engine = GtpProcess(scripted(script), Path("/dev/full"))
    for _ in range(5):
        assert engine.send("name", 60) == ""
    assert engine.new_words().endswith("x")
    engine.kill()


@pytest.mark.parametrize("flood", ["'x\\n'", "'=\\n' + 'x\\n' * 1000", "'= ' + 'x' * 100000"])
def test_a_flood_is_a_broken_protocol_and_fills_no_memory(flood):
    engine = GtpProcess(scripted(f"import sys\nsys.stdin.readline()\nwhile True: sys.stdout.write({flood})"))
    with pytest.raises(EngineFailed) as error:
        for _ in range(20):
            engine.send("name", 2)
    assert error.value.reason in ("protocol", "timeout")
    assert engine._output._lines.qsize() <= MAX_WAITING
    engine.kill()
    assert not engine._output._reader.is_alive()


def test_lines_without_end_fill_no_memory():
    flood = "import sys\nwhile True: sys.stdout.write('x' * 1000000)"
    engine = GtpProcess(scripted(flood))
    deadline = time.monotonic() + 60
    while engine._output._put_text <= MAX_WAITING_TEXT and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    assert engine._output._put_text <= MAX_WAITING_TEXT + MAX_LINE  # what nobody looks at waits in the pipe
    with pytest.raises(EngineFailed) as error:
        engine.send("name", 60)
    assert error.value.reason == "protocol"
    engine.kill()
    assert not engine._output._reader.is_alive()


def test_a_reply_without_end_is_a_broken_protocol():
    engine = GtpProcess(scripted("import sys\nsys.stdout.write('= ')\nwhile True: sys.stdout.write('x' * 1000000)"))
    with pytest.raises(EngineFailed, match="endless reply"):
        engine.send("name", 60)
    engine.kill()
