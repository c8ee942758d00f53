"""The live table: redrawn in place on a terminal, a line a game elsewhere, and never the end of a match."""

import io
import os
import shutil

import pytest

from engine.match.live import Live, duration
from engine.match.running import Running
from engine.match.schedule import ROUND_ROBIN, Schedule, make_pairings
from engine.match.sprt import Sprt


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Closed(io.StringIO):
    def write(self, text):
        raise BrokenPipeError


class Clock:
    """Seconds that pass when a test says so."""

    now = 100.0

    def __call__(self):
        return self.now


def match(stream, games=4):
    """Return a match that has not begun, as it is shown."""
    done, clock = {}, Clock()
    schedule = Schedule(make_pairings("ABC", ROUND_ROBIN), games, done, Sprt(0, 100))
    running = Running(clock)
    return done, clock, schedule, running, Live(schedule, running, stream)


def end(game, done, schedule, running, live):
    line = {"game": game.number, "black": game.black, "white": game.white, "winner": "A", "result": "B+R",
            "reason": "resign", "moves": 7}  # fmt: skip
    done[game.number] = line
    schedule.finished(game)
    running.end(game)
    live.game(line)


def played(stream, count=5):
    done, _, schedule, running, live = match(stream)
    for _ in range(count):
        end(schedule.next(), done, schedule, running, live)
    return stream.getvalue()


def test_a_terminal_shows_the_first_game_before_it_ends(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    done, clock, schedule, running, live = match(stream)
    games = [schedule.next(), schedule.next()]
    for game in games:
        running.begin(game)
    live.tick()
    live.tick()  # too early to draw again
    running.moved(games[0], 1)
    clock.now += 63
    running.moved(games[1], 12)
    live.tick()
    end(games[0], done, schedule, running, live)
    first, second, third = stream.getvalue().replace("\x1b[2K", "").split("\x1b[6F")
    assert first.splitlines()[:3] == ["A - B: 0-0-0, SPRT +0..+100: LLR +0.00 [-2.94, 2.94]"] + [
        f"{pair}: 0-0-0, SPRT +0..+100: LLR +0.00 [-2.94, 2.94]" for pair in ("A - C", "B - C")
    ]
    assert first.splitlines()[3:] == [
        "game 0: A (Black) - B (White): 0 moves, 0:00",
        "game 1: B (Black) - A (White): 0 moves, 0:00",
        "[....................] 0/12 games, 0:00 gone",
        "\x1b[J",
    ]
    assert second.splitlines()[3:6] == [
        "game 0: A (Black) - B (White): 1 move, 1:03",
        "game 1: B (Black) - A (White): 12 moves, 1:03",
        "[....................] 0/12 games, 1:03 gone",
    ]
    assert third.splitlines()[3:6] == [
        "game 1: B (Black) - A (White): 12 moves, 1:03",
        "game 0: A (Black) - B (White): B+R (resign), 7 moves",
        "[##..................] 1/12 games, 11:33 left",
    ]


@pytest.mark.parametrize("height", [6, 10, 24])
def test_the_table_is_no_higher_than_the_terminal(height, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((80, height)))
    stream = Terminal()
    _, clock, schedule, running, live = match(stream, games=40)
    for _ in range(30):
        running.begin(schedule.next())
    live.tick()
    clock.now += 5
    live.tick()
    frames = stream.getvalue().split("\x1b[J")[:2]
    assert all(frame.count("\n") <= height - 1 for frame in frames)
    assert "more games" in frames[0] and "A - B: 0-0-0" in frames[0] and "0/120" in frames[0]


def test_without_a_terminal_a_quiet_minute_ends_with_a_line():
    stream = io.StringIO()
    done, clock, schedule, running, live = match(stream)
    for _ in range(6):
        running.begin(schedule.next())
    live.tick()
    clock.now += 59
    live.tick()
    assert stream.getvalue() == ""
    clock.now += 1
    running.moved(schedule.game(0), 30)
    live.tick()
    live.tick()
    (line,) = stream.getvalue().splitlines()
    assert line.startswith("game 0: A (Black) - B (White): 30 moves, 1:00; game 1: B (Black) - A (White): 0 moves, ")
    assert line.endswith("; and 2 more games; [....................] 0/12 games, 1:00 gone")
    clock.now += 59
    end(schedule.game(0), done, schedule, running, live)
    clock.now += 59
    live.tick()
    assert stream.getvalue().count("\n") == 2


def test_lines():
    lines = played(io.StringIO()).splitlines()
    assert len(lines) == 5 and "\x1b" not in "".join(lines)
    first = lines[0]
    assert first.startswith("game 0: A (Black) - B (White): B+R (resign); A - B: 1-0-0 = 100 %")
    assert "1/12 games" in first
    assert "LLR" in lines[1] and "A - C: 2-0-0" in lines[3]


def test_a_terminal_is_redrawn(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    text = played(Terminal())
    frames = text.split("\x1b[5F")  # up over three pairings, the last game and the bar
    assert len(frames) == 5 and all(frame.count("\n") == 5 for frame in frames)
    assert "B - C: 0-0-1" in frames[-1]


def test_a_broken_stream_is_no_matter():
    assert played(Closed()) == ""


def test_duration():
    assert [duration(seconds) for seconds in (0, 61.4, 3725)] == ["0:00", "1:01", "1:02:05"]
