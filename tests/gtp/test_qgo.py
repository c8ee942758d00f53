"""qGo itself, driven over VNC by keys and mouse, with Keisei as its program: whole games, a handicap, undo, the end."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

PATIENCE = 120.0
CONFIGURATION = """[General]
COMPUTER_PLAYS_BLACK={black}
COMPUTER_PLAYS_WHITE={white}
EDIT_HANDICAP={handicap}
EDIT_KOMI=6.5
EDIT_SIZE=9
SOUND=1

[ENGINES]
1\\path={engine}
1\\args=gtp --net fake:hash --visits 3 --set player.resign=false
size=1
"""
BOARD = {"left": 55, "top": 192, "step": 60}  # of a 9x9 board in a window of 1000x760, pixels
UNDO = (650, 625)

pytestmark = pytest.mark.peer


def find_qgo():
    """Return the program, or skip."""
    path = shutil.which("qgo") or shutil.which("qgo", path="/usr/games")
    if path is None or sys.platform == "win32":
        pytest.skip("qGo is not here")
    return path


class QGo:
    """qGo as a process, and what went between it and the engine."""

    def __init__(self, folder, python, **options):
        from rfb import Screen

        program = find_qgo()
        engine = folder / "keisei-gnugo"  # qGo numbers its commands only for programs whose name ends so
        command, environment = python("-m", "engine")
        words = " ".join(map(shlex.quote, command))
        pipe = f'tee "{folder}/sent" | {words} "$@" 2>"{folder}/errors" | tee "{folder}/got"'
        engine.write_text(f"#!/bin/sh\n{pipe}\n", encoding="utf-8")
        engine.chmod(0o755)
        settings = folder / "qGo" / "qGo.conf"
        settings.parent.mkdir()
        settings.write_text(CONFIGURATION.format(engine=engine, **options), encoding="utf-8")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._folder = folder
        self._log = (folder / "log").open("wb")
        self.process = subprocess.Popen(
            [program],
            env={
                **environment,
                "HOME": str(folder),
                "XDG_CONFIG_HOME": str(folder),
                "XDG_RUNTIME_DIR": str(folder),
                "QT_QPA_PLATFORM": f"vnc:size=1000x760:port={port}",
            },
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        self.screen = Screen(port, PATIENCE)

    def text(self, name):
        path = self._folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def wait_for(self, name, pattern, count=1):
        """Wait until a pattern is in one of the files that often; return all matches."""
        deadline = time.monotonic() + PATIENCE
        while len(found := re.findall(pattern, self.text(name), re.MULTILINE)) < count:
            assert self.process.poll() is None and time.monotonic() < deadline, self.text("log")[-2000:]
            time.sleep(0.1)
        return found

    def new_game(self):
        """Open the dialog of a new game and take what it proposes."""
        deadline = time.monotonic() + PATIENCE
        while not self.text("sent"):
            assert time.monotonic() < deadline, "no game begins"
            self.screen.key(ord("n"), control=True)
            time.sleep(1.0)
            self.screen.key(0xFF0D)
            time.sleep(1.0)

    def click(self, vertex):
        """Click a point of the board."""
        x, y = "ABCDEFGHJ".index(vertex[0]), 9 - int(vertex[1:])
        self.screen.click(BOARD["left"] + BOARD["step"] * x, BOARD["top"] + BOARD["step"] * y)

    def stop(self):
        self.screen.close()
        self.process.terminate()
        self.process.wait(PATIENCE)
        self._log.close()

    def check(self):
        """Every command has been answered under its number, in order, and none refused."""
        sent = re.findall(r"^(\d+) ", self.text("sent"), re.MULTILINE)
        answered = re.findall(r"^([=?])(\d+) ", self.text("got"), re.MULTILINE)
        assert len(sent) == len(self.text("sent").splitlines())
        assert [number for _, number in answered] == sent[: len(answered)] and len(sent) - len(answered) <= 1
        assert all(sign == "=" for sign, _ in answered)
        assert "Invalid Move" not in self.text("log") and "Traceback" not in self.text("errors")


@pytest.fixture
def qgo(tmp_path, python):
    started = []

    def start(**options):
        started.append(QGo(tmp_path, python, **options))
        return started[-1]

    yield start
    for one in started:
        one.stop()


def test_a_whole_game(qgo):
    one = qgo(black="true", white="true", handicap=0)
    one.new_game()
    one.wait_for("log", r"enterScoreMode")
    moves = re.findall(r"^=\d+ ([A-J]\d|pass)$", one.text("got"), re.MULTILINE)
    assert len(moves) > 20 and moves[-2:] == ["pass", "pass"]
    one.check()


def test_a_handicap_game_by_hand(qgo):
    one = qgo(black="false", white="true", handicap=2)
    one.new_game()
    (first,) = one.wait_for("got", r"^=\d+ ([A-J]\d)$")
    one.wait_for("sent", r"set_free_handicap [A-J]\d [A-J]\d$")
    # qGo 2.1 tells us C7 G3 and shows C3 G7: a mistake of its own. So play where neither has a stone.
    point = "E5" if first != "E5" else "D5"
    time.sleep(0.5)
    one.click(point)
    one.wait_for("sent", rf"^\d+ play black {point}$")
    one.wait_for("got", r"^=\d+ ([A-J]\d|pass)$", count=2)
    time.sleep(0.5)
    one.screen.click(*UNDO)
    one.wait_for("sent", r"^\d+ undo 0$")
    time.sleep(0.5)
    one.check()


def test_the_engine_ends_with_qgo(qgo, tmp_path):
    one = qgo(black="false", white="false", handicap=0)
    one.new_game()
    one.wait_for("got", r"^=100\d ")
    one.process.kill()
    deadline = time.monotonic() + PATIENCE
    while engines_of(tmp_path):
        assert time.monotonic() < deadline, "the engine stays behind"
        time.sleep(0.1)


def engines_of(folder):
    """Return the processes that were started by the script in that folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in line and entry.name != str(os.getpid()):
            found.append(line)
    return found
