"""Time controls: what a side has left, what a move may take, and whole games against clocks kept by the test."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.search.timing import (
    Budget,
    TimeControl,
    TimeLeft,
    after_move,
    as_told,
    at_start,
    budget,
    fischer_control,
    gtp_control,
    overtime_control,
)


def found(control, left, *, moves=0, area=361, lag=0.0, margin=0.0):
    return budget(control, left, area=area, moves_made=moves, lag=lag, margin=margin)


# ------------------------------------------------------------------------------------------------ what words mean


@pytest.mark.parametrize(
    ("words", "system"),
    [((0, 1, 0), "none"), ((600, 30, 0), "none"), ((0, 0, 0), "absolute"), ((60, 0, 0), "absolute"),
     ((60, 0, 5), "absolute"), ((0, 10, 1), "canadian"), ((60, 30, 5), "canadian")],
)  # fmt: skip
def test_what_time_settings_means(words, system):
    assert gtp_control(*words).system == system


def test_no_limit_and_no_time():
    assert at_start(gtp_control(0, 1, 0)) is None
    assert at_start(gtp_control(0, 0, 0)) == TimeLeft(0)
    assert found(gtp_control(0, 0, 0), TimeLeft(0)) == Budget(0, 0)


def test_without_periods_the_main_time_is_all_there_is():
    assert overtime_control("byoyomi", 60, 0, 5).system == "absolute"
    assert overtime_control("canadian", 60, 10, 0).system == "absolute"
    assert overtime_control("byoyomi", 0, 19, 10) == TimeControl("byoyomi", 0, 19, 10)


def test_fischer_limits():
    assert fischer_control(60, 5).system == "fischer"
    capped = fischer_control(120, 10, 100)
    assert (capped.system, capped.main, capped.most_move) == ("fischer-capped", 100, math.inf)


def test_an_unknown_system_is_refused():
    with pytest.raises(ValueError, match="sundial"):
        TimeControl("sundial")


@pytest.mark.parametrize(
    ("control", "told", "left"),
    [
        (TimeControl("absolute", 60), (12, 0), TimeLeft(12)),
        (TimeControl("absolute", 60), (0, 0), TimeLeft(0)),
        (TimeControl("absolute", 60), (-3, 0), TimeLeft(0)),
        (TimeControl("absolute", 60), (5, 1), TimeLeft(5)),  # stones mean nothing there
        (TimeControl("canadian", 60, 30, 5), (0, 0), TimeLeft(30, 5)),  # "now in overtime"
        (TimeControl("canadian", 60, 30, 5), (12, 3), TimeLeft(12, 3)),
        (TimeControl("byoyomi", 60, 30, 5), (0, 0), TimeLeft(30, 5)),
        (TimeControl("byoyomi", 60, 30, 5), (12, 3), TimeLeft(12, 3)),
        (TimeControl("fischer", 60, increment=5), (12, 1), TimeLeft(12)),
        (TimeControl(), (0, 0), None),
        (TimeControl(), (30, 0), TimeLeft(30)),
        (None, (0, 0), TimeLeft(0)),
        (None, (12, 3), TimeLeft(12, 3)),
    ],
)
def test_what_time_left_means(control, told, left):
    assert as_told(control, *told) == left


@pytest.mark.parametrize(
    ("control", "left", "seconds", "after"),
    [
        (TimeControl("absolute", 60), TimeLeft(60), 45, TimeLeft(15)),
        (TimeControl("absolute", 60), TimeLeft(10), 45, TimeLeft(0)),
        (TimeControl("fischer", 60, increment=5), TimeLeft(10), 3, TimeLeft(12)),
        (TimeControl("fischer", 60, increment=5), TimeLeft(10), 13, TimeLeft(5)),
        (fischer_control(20, 5, 20), TimeLeft(19), 1, TimeLeft(20)),
        (TimeControl("byoyomi", 60, 10, 3), TimeLeft(5), 6, TimeLeft(10, 3)),
        (TimeControl("byoyomi", 60, 10, 3), TimeLeft(5), 16, TimeLeft(10, 2)),
        (TimeControl("byoyomi", 60, 10, 3), TimeLeft(10, 3), 9, TimeLeft(10, 3)),
        (TimeControl("byoyomi", 60, 10, 3), TimeLeft(10, 3), 11, TimeLeft(10, 2)),
        (TimeControl("byoyomi", 60, 10, 3), TimeLeft(10, 1), 99, TimeLeft(10, 1)),
        (TimeControl("canadian", 60, 30, 5), TimeLeft(5), 6, TimeLeft(29, 4)),
        (TimeControl("canadian", 60, 30, 5), TimeLeft(5), 5, TimeLeft(30, 5)),
        (TimeControl("canadian", 60, 30, 5), TimeLeft(30, 5), 10, TimeLeft(20, 4)),
        (TimeControl("canadian", 60, 30, 5), TimeLeft(3, 1), 1, TimeLeft(30, 5)),
        (TimeControl("canadian", 60, 10, 1), TimeLeft(60), 61, TimeLeft(10, 1)),
        (TimeControl("canadian", 60, 10, 1), TimeLeft(50, 1), 20, TimeLeft(40, 1)),  # Fischer, told as Canadian
        (None, TimeLeft(12, 3), 5, TimeLeft(7, 2)),
    ],
)
def test_our_own_count(control, left, seconds, after):
    assert after_move(control, left, seconds) == after


# ------------------------------------------------------------------------------------------------ what a move may take


def test_absolute_time_is_spread():
    control = TimeControl("absolute", 600)
    assert 3 < found(control, TimeLeft(600)).soft < 6
    assert found(control, TimeLeft(600), area=81).soft == pytest.approx(600 / (81 * 0.36))
    assert 0 < found(control, TimeLeft(10), moves=300).soft < 1
    assert found(control, TimeLeft(0)) == Budget(0, 0)


def test_lag_is_kept_back_for_the_moves_to_come():
    control = TimeControl("absolute", 60)
    assert found(control, TimeLeft(60), lag=0.15).soft < found(control, TimeLeft(60)).soft - 0.15
    assert found(control, TimeLeft(5), moves=250, lag=0.15).soft == 0.0


def test_main_time_before_overtime_is_a_reserve_to_be_spread():
    """Byo-yomi or Fischer clocks come as Canadian overtime of one stone (gtp2ogs 106, leela-zero 2105)."""
    for control in (gtp_control(100, 10, 1), TimeControl("byoyomi", 100, 10, 5)):
        assert 10 < found(control, TimeLeft(100)).soft < 12
        assert found(control, TimeLeft(100)).hard < 20
    bank = found(gtp_control(100, 10, 1), TimeLeft(90, 1))
    assert 10 < bank.soft < 12 and bank.saves
    assert found(gtp_control(100, 10, 1), TimeLeft(10, 1), lag=0.25) == Budget(9.25, 9.25, saves=False)


def test_periods_are_used_fully_but_never_the_last_one_to_its_end():
    control = TimeControl("byoyomi", 0, 30, 5)
    assert found(control, TimeLeft(30, 2), lag=0.2) == Budget(29.65, 29.65, saves=False)
    assert found(control, TimeLeft(30, 1), lag=0.2) == Budget(29.35, 29.35, saves=False)
    assert found(control, TimeLeft(30, 4), lag=0.2) == Budget(29.65, 59.65, saves=False)
    short = TimeControl("byoyomi", 0, 1, 3)
    assert [found(short, TimeLeft(1, n), lag=0.1).soft for n in (3, 2, 1)] == pytest.approx([0.82, 0.82, 0.6])
    assert found(control, TimeLeft(30, 1), lag=0.2, margin=2.0).hard == pytest.approx(27.8)
    assert found(control, TimeLeft(30, 1), lag=0.2, margin=200.0).hard == pytest.approx(22.3)


def test_canadian_periods():
    control = TimeControl("canadian", 0, 30, 5)
    assert found(control, TimeLeft(30, 5), lag=0.0).soft == 6
    assert found(control, TimeLeft(30, 5), lag=0.0).hard < 16
    assert found(None, TimeLeft(30, 5), lag=0.0).soft == 6
    assert found(control, TimeLeft(0, 5)) == Budget(0, 0)


def test_a_cap_is_not_given_away():
    control = fischer_control(20, 10, 20, 15)
    assert 10 <= found(control, TimeLeft(20)).soft < 10.3
    assert found(fischer_control(300, 100, 300, 15), TimeLeft(300), lag=0.5).hard == 14.5


def test_newest_words_win_in_both_directions():
    assert found(TimeControl("absolute", 10), TimeLeft(1000)).soft == found(None, TimeLeft(1000)).soft


# ------------------------------------------------------------------------------------------------ whole games


class Referee:
    """One side's clock as a server keeps it, written apart from the engine's; time lost raises AssertionError."""

    def __init__(self, control):
        self.control = control
        self.main, self.inside, self.count = control.main, False, control.count
        self.period = control.period
        self.lost_periods = 0

    def told(self, *, whole):
        seconds, count = (self.period, self.count) if self.inside else (self.main, 0)
        return (math.floor(seconds) if whole else seconds), count

    def move(self, seconds):
        control = self.control
        assert seconds <= control.most_move + 1e-9, f"{seconds} s for one move"
        if not control.overtime:
            assert seconds <= self.main + 1e-9, f"{seconds} s of {self.main}"
            self.main = min(self.main - seconds + control.increment, control.most_main)
            return
        if not self.inside:
            if seconds < self.main:
                self.main -= seconds
                return
            seconds, self.main, self.inside = seconds - self.main, 0.0, True
        if control.system == "byoyomi":
            while seconds > control.period + 1e-9:
                seconds -= control.period
                self.count -= 1
                self.lost_periods += 1
            assert self.count > 0, "the last period is over"
            return
        assert seconds <= self.period + 1e-9, f"{seconds} s of {self.period} for {self.count} moves"
        self.period, self.count = self.period - seconds, self.count - 1
        if self.count == 0:
            self.period, self.count = control.period, control.count


def play(control, *, area, moves, lag, thought, whole=True, told=True, late=0.0, late_at=0):
    """Play a game's moves of one side; return (seconds thought, referee).

    `thought` picks seconds from a Budget; move `late_at` comes late by `late` seconds.
    """
    referee, left, total = Referee(control), at_start(control), 0.0
    for number in range(moves):
        if told:
            left = as_told(control, *referee.told(whole=whole))
        seconds = thought(budget(control, left, area=area, moves_made=2 * number, lag=lag, margin=late), number)
        total += seconds
        used = seconds + lag + (late if number == late_at else 0.0)
        referee.move(used)
        left = after_move(control, left, used)
    return total, referee


CONTROLS = {
    "10 s + 3 x 1 s": TimeControl("byoyomi", 10, 1, 3),
    "60 s": TimeControl("absolute", 60),
    "15 moves in 10 s": TimeControl("canadian", 0, 10, 15),
    "30 s + 2 s": TimeControl("fischer", 30, increment=2),
    "30 s + 2 s, capped": fischer_control(30, 2, 30, 8),
    "5 s a move": TimeControl("canadian", 0, 5, 1),
}


@pytest.mark.parametrize("name", CONTROLS)
@pytest.mark.parametrize(("area", "moves"), [(81, 30), (81, 45), (361, 130), (361, 200)])
@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("picks", ["soft", "hard"])
def test_whole_games_are_in_time_and_use_it(name, area, moves, told, picks):
    control = CONTROLS[name]
    total, referee = play(control, area=area, moves=moves, lag=0.1, told=told, thought=lambda b, n: getattr(b, picks))
    assert referee.lost_periods <= 2
    if control.system == "absolute":
        assert total >= 0.45 * (control.main - 0.1 * moves)
    elif control.system.startswith("fischer"):
        assert total >= 0.6 * (control.main + (control.increment - 0.1) * moves)
    else:
        assert total >= 0.6 * moves * (control.period / max(1, control.count if control.system == "canadian" else 1))


@pytest.mark.parametrize("moves", [20, 120])
@pytest.mark.parametrize("picks", ["soft", "hard"])
def test_fischer_told_as_canadian_of_one_stone(moves, picks):
    """What gtp2ogs does for engines that know no Fischer: time_settings MAIN-INC INC 1, time_left with one stone."""
    real, shown = TimeControl("fischer", 30, increment=2), gtp_control(28, 2, 1)
    referee, total = Referee(real), 0.0
    for number in range(moves):
        left = as_told(shown, math.floor(referee.main), 1)
        seconds = getattr(budget(shown, left, area=361, moves_made=2 * number, lag=0.15), picks)
        total += seconds
        referee.move(seconds + 0.1)
    assert total >= 0.6 * (2 * moves)


@st.composite
def controls(draw):
    system = draw(st.sampled_from(["absolute", "byoyomi", "canadian", "fischer", "fischer-capped"]))
    main, period = draw(st.floats(0, 2000)), draw(st.floats(1, 120))
    count = draw(st.integers(1, 30))
    if system == "absolute":
        return TimeControl("absolute", main + 20)
    if system in ("byoyomi", "canadian"):
        return overtime_control(system, main, period, count)
    if system == "fischer":
        return fischer_control(main + 2, draw(st.floats(0.5, 60)))
    most_main, most_move = main + 2 + draw(st.floats(0, 100)), draw(st.floats(2, 60))
    return fischer_control(main + 2, draw(st.floats(0.5, 60)), most_main, most_move)


@settings(max_examples=300, deadline=None)
@given(
    control=controls(), area=st.sampled_from([25, 81, 169, 361]), share=st.floats(0.05, 0.55),
    lag=st.floats(0.0, 0.5), late=st.floats(0.0, 0.2), whole=st.booleans(), told=st.booleans(),
    late_at=st.integers(0, 100), picks=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=7),
)  # fmt: skip
def test_no_game_is_lost_on_time(control, area, share, lag, late, late_at, whole, told, picks):
    """Whatever moves take between nothing and the hard limit, with the lag, and one late by what was allowed for."""
    moves = int(area * share)
    each = lag + late
    if control.system == "absolute":
        assume(control.main > each * area)  # else the lag alone takes it
    if control.system.startswith("fischer"):
        assume(control.increment > each and control.main > 2 * each + 1 and control.most_move > 2 * each)
    if control.system == "canadian":
        assume(control.period / control.count > each + 1 / control.count and control.period > 4 * each + 1)
    if control.system == "byoyomi":
        assume(control.period > 4 * each + 1)
    play(
        control, area=area, moves=moves, lag=lag, late=late, late_at=late_at, whole=whole, told=told,
        thought=lambda b, n: picks[n % len(picks)] * b.hard,
    )  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    control=controls(), seconds=st.floats(0, 1e9), count=st.integers(0, 100), moves=st.integers(0, 2000),
    area=st.sampled_from([4, 81, 361, 625]), lag=st.floats(0, 60), margin=st.floats(0, 100),
)  # fmt: skip
def test_budgets_are_sane_for_any_words(control, seconds, count, moves, area, lag, margin):
    for known in (control, None):
        b = budget(known, as_told(known, seconds, count), area=area, moves_made=moves, lag=lag, margin=margin)
        assert 0.0 <= b.soft <= b.hard < math.inf


@settings(max_examples=200, deadline=None)
@given(control=controls(), moves=st.integers(0, 400), area=st.sampled_from([81, 361]))
def test_more_time_never_means_a_shorter_thought(control, moves, area):
    less, more = (
        budget(control, as_told(control, seconds, 0), area=area, moves_made=moves, lag=0.1).soft
        for seconds in (control.main / 2 + 1, control.main + 1)
    )
    assert more >= less - 1e-9


def test_many_unclear_moves_leave_enough_for_a_long_end():
    """Found by the test above: four shares at every move left 0.07 s for the last moves of 169 points."""
    play(
        TimeControl("absolute", 20), area=169, moves=84, lag=0.0, late=0.0625, late_at=45, whole=False, told=False,
        thought=lambda b, n: b.hard,
    )  # fmt: skip
    rests = []
    play(TimeControl("absolute", 60), area=361, moves=180, lag=0.1, thought=lambda b, n: rests.append(b) or b.hard)
    assert rests[110].soft > 0.05
