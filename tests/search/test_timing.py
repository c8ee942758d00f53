"""Clocks and the time for a move under the controls that GTP knows."""

import pytest

from engine.search.timing import Clock, TimeControl


def clock(main, overtime=0.0, stones=0):
    c = Clock()
    c.set_control(TimeControl(main, overtime, stones))
    return c


def test_no_clock_and_no_limit():
    assert Clock().budget(0, 361) is None
    assert clock(0, 1, 0).budget(0, 361) is None


def test_no_time_at_all_means_now():
    assert clock(0, 0, 0).budget(0, 361) == 0.0


@pytest.mark.parametrize(("size", "main"), [(9, 60), (9, 5), (19, 600), (19, 3600)])
def test_absolute_time_lasts_a_long_game(size, main):
    c = clock(main)
    area = size * size
    for move in range(6 * area // 10):
        budget = c.budget(2 * move, area)
        assert 0.0 < budget <= max(0.01, 0.25 * c.main_left)
        c.spend(budget + 0.01)
    assert c.main_left > 0.0


def test_absolute_time_is_not_hoarded():
    c = clock(600)
    for move in range(120):
        c.spend(c.budget(2 * move, 361))
    assert c.main_left < 200


def test_byo_yomi_keeps_some_of_each_period_back():
    c = clock(0, 5, 1)
    assert 4.0 < c.budget(100, 361) < 5.0
    c.spend(4.8)
    assert 4.0 < c.budget(102, 361) < 5.0
    assert 0.5 < clock(0, 1, 1).budget(0, 361) < 1.0


def test_canadian_periods_are_shared_out():
    c = clock(0, 300, 25)
    assert c.budget(0, 361) == pytest.approx(300 / 25 - 0.3)
    for _ in range(25):
        c.spend(4.0)
    assert (c.period_left, c.stones_left) == (300, 25)


def test_main_time_comes_on_top_of_overtime():
    c = clock(300, 30, 1)
    assert c.budget(0, 361) > 30
    c.spend(310)
    assert c.main_left == 0.0 and c.stones_left == 1
    assert c.budget(2, 361) < 30


def test_time_left_is_believed_in_both_directions():
    c = clock(60)
    c.set_left(600.0, 0)
    long = c.budget(0, 361)
    c.set_left(12.34, 0)
    assert c.budget(0, 361) < long / 10
    c = clock(60, 300, 25)
    c.set_left(100.0, 10)
    assert c.budget(50, 361) == pytest.approx(10 - 0.3)
    c.set_left(0.0, 0)  # main time has just run out
    assert c.budget(50, 361) == pytest.approx(12 - 0.3)
    c.set_left(50.0, 0)  # an undo: back in main time
    assert c.stones_left == 0 and c.main_left == 50.0


def test_no_time_left_in_absolute_time_means_now():
    c = clock(60)
    c.set_left(0.0, 0)
    assert c.budget(10, 361) == 0.0


def test_time_left_alone_starts_a_clock():
    c = Clock()
    c.set_left(30.0, 0)
    assert 0.0 < c.budget(0, 81) < 10.0


def test_repeating_the_same_settings_changes_nothing():
    c = clock(60, 30, 5)
    c.spend(40)
    c.set_control(TimeControl(60, 30, 5))
    assert c.main_left == 20
    c.set_control(TimeControl(90, 30, 5))
    assert c.main_left == 90
    c.restart()
    assert c.main_left == 90
