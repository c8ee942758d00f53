"""Readings of small regions against a table of all positions (tests/oracles/capture_oracle.py)."""

from __future__ import annotations

import random

import pytest
from capture_oracle import CAPTURED, SAFE, Region, TooLarge
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.judge.reading import read_region

UNKNOWN = 0


def grid(width, height):
    """The neighbours of each point of a rectangle."""
    beside = ((-1, 0), (0, -1), (0, 1), (1, 0))
    return [
        [(y + v) * width + x + u for v, u in beside if 0 <= y + v < height and 0 <= x + u < width]
        for y in range(height)
        for x in range(width)
    ]


@st.composite
def regions(draw):
    """A region of up to eight points with stones that all have a liberty or a safe friend, and a chain to ask about."""
    width, height = draw(st.sampled_from([(2, 2), (3, 2), (4, 2), (5, 1), (2, 3), (7, 1)]))
    near = grid(width, height)
    cells = draw(st.lists(st.sampled_from("..XXO"), min_size=len(near), max_size=len(near)))
    firm = [set(draw(st.lists(st.integers(0, len(near) - 1), max_size=3))) for _ in range(2)]
    stones = [{p for p, cell in enumerate(cells) if cell == letter} for letter in "XO"]
    region = Region(near, firm, (), pass_for_ko=False)
    for who in (0, 1):
        for stone in stones[who]:
            assume(region.has_liberty(region.chain(stones[who], stone), stones[0] | stones[1], who))
    assume(stones[0])
    target = region.chain(stones[0], draw(st.sampled_from(sorted(stones[0]))))
    return near, firm, stones, target


@settings(max_examples=60, deadline=None)
@given(regions(), st.booleans(), st.booleans())
def test_readings_agree_with_all_positions(drawn, attacker_first, pass_for_ko):
    near, firm, stones, target = drawn
    value, move, *_ = read_region(
        near, *stones, *firm, target, attacker_first=attacker_first, ko=None, limit=200_000, pass_for_ko=pass_for_ko
    )
    try:
        truth = Region(near, firm, target, pass_for_ko=pass_for_ko, limit=8_000).solve(
            *stones, attacker_first=attacker_first
        )
    except TooLarge:
        return
    assert value in (truth, UNKNOWN)  # how rare the latter is: the next test
    assert (move is not None) == (value == (CAPTURED if attacker_first else SAFE))


def test_hardly_a_region_stays_unknown():
    """Only where captures go round for more moves than the reading looks ahead."""
    rng, answers = random.Random(3), []
    while len(answers) < 4000:
        near = grid(*rng.choice([(2, 2), (3, 2), (4, 2), (5, 1), (2, 3), (7, 1), (3, 3)]))
        cells = [rng.choice("..XXO") for _ in near]
        firm = [set(rng.sample(range(len(near)), rng.randint(1, 3))) for _ in range(2)]
        stones = [{p for p, cell in enumerate(cells) if cell == letter} for letter in "XO"]
        region = Region(near, firm, (), pass_for_ko=False)
        if not stones[0] or not all(
            region.has_liberty(region.chain(stones[who], p), stones[0] | stones[1], who)
            for who in (0, 1)
            for p in stones[who]
        ):
            continue
        target = region.chain(stones[0], rng.choice(sorted(stones[0])))
        first = rng.random() < 0.5
        answers.append(read_region(near, *stones, *firm, target, attacker_first=first, ko=None, limit=200_000)[0])
    assert answers.count(UNKNOWN) <= 4 and answers.count(CAPTURED) > 400 < answers.count(SAFE)


OPTIONS = {"ko": None, "limit": 10_000}
BOX = grid(3, 2)


def test_the_middle_of_three_decides():
    first, second = (
        read_region(BOX, [3, 4, 5], [], [], [3, 4, 5], [3], attacker_first=attacker, **OPTIONS)
        for attacker in (True, False)
    )
    assert first[:2] == (CAPTURED, 1) and second[:2] == (SAFE, 1)
    assert read_region(BOX, [3, 4, 5], [], [], [3, 4, 5], [3], attacker_first=True, ko=None, limit=3)[0] == 0
    with pytest.raises(ValueError, match="65 points"):
        read_region([[]] * 65, [], [], [], [], [0], attacker_first=True, ko=None, limit=1)


@pytest.mark.parametrize(("shape", "cells", "firm_attacker"), [
    ((2, 3), "XXX.XX", set()),  # five stones are taken; the stone that took them is alone and without eyes
    ((3, 2), "XO.XXX", {4}),
    ((3, 2), "XXXX..", set()),
    ((2, 3), ".X.XXX", {3}),
])
def test_who_takes_four_must_hold_their_place(shape, cells, firm_attacker):
    near = grid(*shape)
    stones = [{p for p, cell in enumerate(cells) if cell == letter} for letter in "XO"]
    firm = [set(), firm_attacker]
    region = Region(near, firm, (), pass_for_ko=False)
    target = max((region.chain(stones[0], stone) for stone in stones[0]), key=len)
    for first in (True, False):
        value = read_region(near, *stones, *firm, target, attacker_first=first, ko=None, limit=200_000)[0]
        assert Region(near, firm, target, pass_for_ko=False).solve(*stones, attacker_first=first) == SAFE
        assert value in (SAFE, UNKNOWN)  # unknown where captures go round


def test_a_taken_ko_rests_until_its_loser_passes():
    """A row: the defender's stone at 1 is taken from 0; it may be taken back at once, after a move, or after a pass."""
    near = grid(4, 1)
    for pass_for_ko in (False, True):
        value = read_region(near, [1], [2], [0], [2], [1], attacker_first=True, pass_for_ko=pass_for_ko, **OPTIONS)[0]
        truth = Region(near, ([0], [2]), [1], pass_for_ko=pass_for_ko).solve([1], [2], attacker_first=True)
        assert value == truth


def test_a_price_that_is_too_high():
    """Three points without capturing: the attacker can take the stone at 3, but loses its four for it."""
    near = grid(3, 2)  # A9 B9 C9 / A8 B8 C8
    four, stone = [1, 2, 4, 5], [3]
    firm_defender, firm_attacker = [2, 4, 5], [3]  # White walls beside C9, B8 and C8, a Black one beside A8
    for first in (True, False):
        plain, dear = (
            read_region(near, stone, four, firm_defender, firm_attacker, stone, attacker_first=first, price=price,
                        **OPTIONS)[0]
            for price in ((), four)
        )  # fmt: skip
        assert plain == CAPTURED and dear == SAFE
