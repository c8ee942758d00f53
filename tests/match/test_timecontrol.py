"""Time controls as text, as GTP and as clocks."""

import pytest

from engine.errors import ConfigError
from engine.match.timecontrol import Clock, TimeControl, parse_time


@pytest.mark.parametrize(
    ("text", "control", "gtp"),
    [
        ("5", TimeControl(0, 5, 1), "0 5 1"),
        ("0.5", TimeControl(0, 0.5, 1), "0 1 1"),
        ("600+0/0", TimeControl(600, 0, 0), "600 0 0"),
        ("600+30/5", TimeControl(600, 30, 5), "600 30 5"),
    ],
)
def test_text_and_gtp(text, control, gtp):
    assert parse_time(text) == control and control.text == text and control.gtp() == gtp


@pytest.mark.parametrize("text", ["", "x", "-3", "0", "0+0/0", "5+3/0", "5+0/3", "5+3", "nan", "1e3"])
def test_what_is_no_time_control(text):
    with pytest.raises(ConfigError, match="time control"):
        parse_time(text)


def test_seconds_a_move():
    clock = Clock(parse_time("5"))
    assert clock.gtp() == "5 1"
    assert clock.spend(4.9) == 0 and clock.gtp() == "5 1"
    assert clock.spend(6.5) == pytest.approx(1.5)
    assert clock.gtp() == "5 1"  # forgiven: the next move has its own time


def test_main_time_then_overtime():
    clock = Clock(parse_time("10+6/2"))
    assert clock.gtp() == "10 0"
    assert clock.spend(9) == 0 and clock.gtp() == "1 0"
    assert clock.spend(3) == 0 and clock.gtp() == "4 1"  # two seconds of the first period, one move left in it
    assert clock.spend(1) == 0 and clock.gtp() == "6 2"
    assert clock.spend(7) == pytest.approx(1) and clock.gtp() == "0 1"


def test_sudden_death():
    clock = Clock(parse_time("10+0/0"))
    assert clock.spend(9.5) == 0
    assert clock.spend(2) == pytest.approx(1.5) and clock.gtp() == "0 0"


def test_fractions_of_a_second_where_the_engine_reads_them():
    assert parse_time("0.25").gtp(fractions=True) == "0 0.25 1" and parse_time("0.25").gtp() == "0 1 1"
    clock = Clock(parse_time("0.25"))
    assert clock.gtp(fractions=True) == "0.250 1" and clock.gtp() == "0 1"
    clock = Clock(parse_time("10+6/2"))
    clock.spend(0.125)
    assert clock.gtp(fractions=True) == "9.875 0" and clock.gtp() == "9 0"
