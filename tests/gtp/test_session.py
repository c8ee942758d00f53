"""The session without a game: order, interruption, endings. Test commands stand in for the real ones."""

from __future__ import annotations

import io
import logging
import os
import threading
import time

import pytest

from engine.gtp import registry
from engine.gtp.controller import Controller
from engine.gtp.inbox import Inbox
from engine.gtp.output import Output
from engine.gtp.protocol import GtpError
from engine.gtp.session import Session
from engine.gtp.watchdog import Watchdog
from engine.lines import MAX_LINE
from engine.player.stop import StopToken

PATIENCE = 10.0  # seconds; far more than anything here takes


@pytest.fixture
def commands(monkeypatch):
    """A table with commands of the test's own."""
    monkeypatch.setattr(registry, "COMMANDS", {})
    monkeypatch.setattr("engine.gtp.session.COMMANDS", registry.COMMANDS)

    @registry.command("echo")
    def echo(controller, request):
        return " ".join(request.args)

    @registry.command("fail")
    def fail(controller, request):
        raise GtpError("syntax error")

    @registry.command("crash")
    def crash(controller, request):
        raise RuntimeError("boom\n\nboom")

    @registry.command("quit")
    def quit_(controller, request):
        controller.finished = True

    @registry.command("analyze", streaming=True)
    def analyze(controller, request, stream):
        stream.open()
        if "crash" in request.args:
            raise RuntimeError("in the middle")
        stream.line("info 1")
        started.set()
        assert controller.token.wait(PATIENCE)

    @registry.command("think", thinks=True)
    def think(controller, request):
        started.set()
        if controller.token.wait(float(request.args[0])):
            controller.token.check()
        return "thought"

    started = threading.Event()
    return started


class Harness:
    """A session over pipes, its worker in a thread."""

    def __init__(self):
        self.input_end, self.writer = os.pipe()
        reader, self.output_end = os.pipe()
        self.replies = os.fdopen(reader, "rb", buffering=0)
        self.controller = Controller(lambda: None)
        self.output = os.fdopen(self.output_end, "wb", buffering=0)
        self.forced = []
        self.session = Session(self.controller, Output(self.output), self.forced.append)
        self.session.start_reading(os.fdopen(self.input_end, "rb", buffering=0).read)
        self.code = None
        self.worker = threading.Thread(target=self._run, daemon=True)
        self.worker.start()

    def _run(self):
        self.code = self.session.run()
        self.output.close()

    def send(self, data):
        os.write(self.writer, data)

    def close(self):
        os.close(self.writer)

    def read_until(self, end):
        data = b""
        while not data.endswith(end):
            piece = self.replies.read(1)
            assert piece, f"the output ended after {data!r}"
            data += piece
        return data

    def finish(self):
        self.worker.join(PATIENCE)
        assert not self.worker.is_alive()
        rest = b""
        while piece := self.replies.read(65536):
            rest += piece
        return rest


@pytest.fixture
def session(commands):
    return Harness()


def test_every_line_is_answered_in_order(session):
    lines = b"".join(b"%d echo %d\n" % (number, number) for number in range(100))
    session.send(lines + b"quit\n")
    expected = b"".join(b"=%d %d\n\n" % (number, number) for number in range(100))
    assert session.finish() == expected + b"= \n\n" and session.code == 0


def test_bytes_of_all_kinds(session):
    session.send(b"\n\r\n# comment\n \t \necho a\r\n12 nothing\n0 fail\necho \xff\x00b\n5\nquit\n")
    assert session.finish() == (
        b"= a\n\n?12 unknown command\n\n?0 syntax error\n\n" + "= �b\n\n".encode() + b"?5 unknown command\n\n= \n\n"
    )


def test_a_line_waits_for_its_end(session):
    session.send(b"24 echo a")
    time.sleep(0.05)
    session.send(b"b")
    session.send(b"\n")
    assert session.read_until(b"\n\n") == b"=24 ab\n\n"
    session.send(b"echo ended by the end")
    session.close()
    assert session.finish() == b"= ended by the end\n\n" and session.code == 0


def test_overlong_lines(session):
    def send():
        session.send(b"7 echo " + b"x" * (2 * MAX_LINE) + b"\n8 echo ok\nquit\n")

    threading.Thread(target=send, daemon=True).start()
    assert session.finish() == b"?7 syntax error\n\n=8 ok\n\n= \n\n"


def test_a_crash_costs_one_reply(session, caplog):
    with caplog.at_level(logging.ERROR):
        session.send(b"3 crash\n4 echo on\nquit\n")
        assert session.finish() == b"?3 internal error\n\n=4 on\n\n= \n\n"
    assert "boom" in caplog.text


def test_a_crash_inside_an_open_reply_closes_it(session, caplog):
    session.send(b"3 analyze crash\n4 echo on\nquit\n")
    assert session.finish() == b"=3\n\n=4 on\n\n= \n\n"


@pytest.mark.parametrize("line", [b"\n", b"# interrupt\n", b"6 nothing\n", b"6 echo\n", b"6 stop\n", b"\r\n"])
def test_any_line_ends_an_analysis(session, line):
    session.send(b"5 analyze\n")
    assert session.read_until(b"info 1\n") == b"=5\ninfo 1\n"
    before = time.monotonic()
    session.send(line)
    assert session.read_until(b"\n") == b"\n"
    assert time.monotonic() - before < 2.0
    session.send(b"7 echo on\nquit\n")
    assert session.finish().endswith(b"=7 on\n\n= \n\n")


def test_half_a_line_does_not_end_an_analysis(session, commands):
    session.send(b"analyze\n")
    session.read_until(b"info 1\n")
    session.send(b"ech")
    time.sleep(0.1)
    assert session.worker.is_alive()
    session.send(b"o a\nquit\n")
    assert session.finish() == b"\n= a\n\n= \n\n"


def test_one_analysis_replaces_another(session):
    session.send(b"1 analyze\n2 analyze\n3 analyze\n")
    assert session.read_until(b"=3\ninfo 1\n") == b"=1\ninfo 1\n\n=2\ninfo 1\n\n=3\ninfo 1\n"
    session.send(b"quit\n")
    assert session.finish() == b"\n= \n\n"


def test_a_line_does_not_interrupt_a_genmove(session, commands):
    session.send(b"1 think 0.2\n")
    assert commands.wait(PATIENCE)
    session.send(b"2 echo a\n\n")
    assert session.read_until(b"a\n\n") == b"=1 thought\n\n=2 a\n\n"


def test_the_end_of_the_input_abandons_a_genmove(session, commands):
    session.send(b"echo a\nthink 60\necho b\n")
    assert commands.wait(PATIENCE)
    before = time.monotonic()
    session.close()
    assert session.finish() == b"= a\n\n" and session.code == 0
    assert time.monotonic() - before < 2.0


def test_the_end_of_the_input_ends_an_analysis(session):
    session.send(b"analyze\n")
    session.read_until(b"info 1\n")
    session.close()
    assert session.finish() in (b"", b"\n") and session.code == 0


def test_a_script_that_ends_with_quit_is_answered_whole(session):
    session.send(b"think 0.2\necho a\nanalyze\nthink 0\nquit\n")
    session.close()
    assert session.finish() == b"= thought\n\n= a\n\n=\ninfo 1\n\n= thought\n\n= \n\n" and session.code == 0


def test_a_command_that_is_no_search_is_answered_though_the_input_has_ended(commands, monkeypatch):
    """On a busy machine the first boardsize took longer than a search may that nobody waits for."""
    monkeypatch.setattr("engine.gtp.session.GRACE", 0.01)

    @registry.command("slow")
    def slow_command(controller, request):
        time.sleep(0.2)
        return "done"

    session = Harness()
    session.send(b"slow\necho a\n")
    session.close()
    assert session.finish() == b"= done\n\n= a\n\n" and not session.forced


def test_a_long_queue_behind_the_end_costs_one_thread(session, monkeypatch):
    """A timer for each of 20 000 commands took half a minute."""
    started_threads = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: (started_threads.append(thread), start(thread))[1])
    session.send(b"echo a\n" * 2000)
    session.close()
    assert session.finish() == b"= a\n\n" * 2000
    assert len([thread for thread in started_threads if thread.name == "gtp-watchdog"]) <= 1
    assert not [thread for thread in started_threads if isinstance(thread, threading.Timer)]


def test_a_watchdog_acts_once_its_earliest_deadline_is_over():
    acted = threading.Event()
    watchdog = Watchdog(acted.set)
    watchdog.set(1.0)
    watchdog.lift()
    for _ in range(100):
        watchdog.set(60)
        watchdog.lift()
    assert not acted.wait(1.5)
    watchdog.set(60)
    watchdog.set(0.01)
    watchdog.set(120)
    assert acted.wait(PATIENCE)


def test_a_command_is_asked_for_when_its_line_comes_or_the_one_before_is_answered(session, commands):
    asked = []

    @registry.command("asked")
    def asked_command(controller, request):
        asked.append(controller.token.asked)

    before = time.monotonic()
    session.send(b"asked\nthink 0.2\nasked\nquit\n")
    session.close()
    session.finish()
    assert before <= asked[0] and asked[1] - asked[0] >= 0.2


def test_a_quit_counts_as_long_as_it_waits():
    inbox = Inbox()
    for line in (b"name", b"# quit", b"2 quit", b"quitting"):
        inbox.put(line)
    inbox.end()
    assert not inbox.abandoned
    assert [inbox.take() for _ in range(2)] == [b"name", b"# quit"] and not inbox.abandoned
    assert inbox.take() == b"2 quit" and inbox.abandoned
    assert inbox.take() == b"quitting" and inbox.take() is None


def test_what_does_not_come_back_is_ended_by_force(commands, monkeypatch):
    monkeypatch.setattr("engine.gtp.session.GRACE", 0.05)
    stuck = threading.Event()

    @registry.command("stuck", thinks=True)
    def stuck_command(controller, request):
        assert stuck.wait(PATIENCE)

    session = Harness()
    session.send(b"echo a\necho b\nstuck\n")
    session.close()
    deadline = time.monotonic() + PATIENCE
    while not session.forced and time.monotonic() < deadline:
        time.sleep(0.01)
    assert session.forced[0] == 0
    stuck.set()
    assert session.finish() == b"= a\n\n= b\n\n= \n\n"


def test_lines_behind_quit_are_not_run(session):
    session.send(b"quit\necho a\n")
    assert session.finish() == b"= \n\n"


def test_closed_output_ends_the_session(session):
    session.replies.close()
    session.send(b"echo a\necho b\n")
    session.worker.join(PATIENCE)
    assert not session.worker.is_alive() and session.code == 0


def test_ending_from_outside(session, commands):
    session.send(b"think 60\n")
    assert commands.wait(PATIENCE)
    session.session.end(1)
    assert session.finish() == b"" and session.code == 1


def test_a_token_touches_only_its_own_command():
    first, second = StopToken(), StopToken()
    calls = []
    with first.calling(lambda: calls.append("first")):
        first.stop()
    first.stop()
    with second.calling(lambda: calls.append("second")):
        pass
    assert calls == ["first"] and first.stopped and not second.stopped


def test_a_stop_before_the_search_is_not_lost():
    token, calls = StopToken(), []
    token.stop()
    with token.calling(lambda: calls.append(1)):
        assert calls == [1]


def test_output_is_one_write_a_reply():
    class Recorder(io.RawIOBase):
        def __init__(self):
            self.writes = []

        def write(self, data):
            self.writes.append(bytes(data))
            return len(data)

    stream = Recorder()
    Output(stream).write("=1 a\nb\n\n")
    assert stream.writes == [b"=1 a\nb\n\n"]
