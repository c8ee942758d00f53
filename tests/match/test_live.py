"""The live table: redrawn in place on a terminal, a line a game elsewhere, and never the end of a match."""

import io

from engine.match.live import Live, duration
from engine.match.schedule import ROUND_ROBIN, Schedule, make_pairings
from engine.match.sprt import Sprt


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Closed(io.StringIO):
    def write(self, text):
        raise BrokenPipeError


def played(stream, count=5):
    done = {}
    schedule = Schedule(make_pairings("ABC", ROUND_ROBIN), 4, done, Sprt(0, 100))
    live = Live(schedule, stream)
    for _ in range(count):
        game = schedule.next()
        line = {"game": game.number, "black": game.black, "white": game.white, "winner": "A", "result": "B+R",
                "reason": "resign", "moves": 7}  # fmt: skip
        done[game.number] = line
        schedule.finished(game)
        live.game(line)
    return stream.getvalue()


def test_lines():
    lines = played(io.StringIO()).splitlines()
    assert len(lines) == 5 and "\x1b" not in "".join(lines)
    first = lines[0]
    assert first.startswith("game 0: A (Black) - B (White): B+R (resign); A - B: 1-0 = 100 %") and "1/12 games" in first
    assert "LLR" in lines[1] and "A - C: 2-0" in lines[3]


def test_a_terminal_is_redrawn(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    text = played(Terminal())
    frames = text.split("\x1b[5F")  # up over three pairings, the last game and the bar
    assert len(frames) == 5 and all(frame.count("\n") == 5 for frame in frames)
    assert "B - C: 0-1" in frames[-1]


def test_a_broken_stream_is_no_matter():
    assert played(Closed()) == ""


def test_duration():
    assert [duration(seconds) for seconds in (0, 61.4, 3725)] == ["0:00", "1:01", "1:02:05"]
