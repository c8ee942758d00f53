"""Handicap: GTP's fixed table on every size, and free handicap of any number on any board."""

import pytest

from engine.board.handicap import fixed_handicap, free_handicap, max_fixed_handicap, max_free_handicap
from engine.board.position import BLACK, WHITE, Position
from engine.board.vertex import format_vertex
from engine.errors import EngineError

FIXED = [
    (19, 2, "Q16 D4"),
    (19, 3, "D16 Q16 D4"),
    (19, 4, "D16 Q16 D4 Q4"),
    (19, 5, "D16 Q16 K10 D4 Q4"),
    (19, 6, "D16 Q16 D10 Q10 D4 Q4"),
    (19, 7, "D16 Q16 D10 K10 Q10 D4 Q4"),
    (19, 8, "D16 K16 Q16 D10 Q10 D4 K4 Q4"),
    (19, 9, "D16 K16 Q16 D10 K10 Q10 D4 K4 Q4"),
    (13, 2, "K10 D4"),
    (13, 9, "D10 G10 K10 D7 G7 K7 D4 G4 K4"),
    (11, 9, "C9 F9 J9 C6 F6 J6 C3 F3 J3"),
    (9, 2, "G7 C3"),
    (9, 5, "C7 G7 E5 C3 G3"),
    (9, 9, "C7 E7 G7 C5 E5 G5 C3 E3 G3"),
    (7, 4, "C5 E5 C3 E3"),
    (8, 4, "C6 F6 C3 F3"),
    (12, 4, "C10 K10 C3 K3"),
    (14, 4, "D11 L11 D4 L4"),
    (18, 2, "P15 D4"),
    (25, 9, "D22 N22 W22 D13 N13 W13 D4 N4 W4"),
    (21, 5, "D18 S18 L11 D4 S4"),
]


@pytest.mark.parametrize(("size", "n", "vertices"), FIXED)
def test_fixed_table(size, n, vertices):
    assert [format_vertex(action, size, size) for action in fixed_handicap(n, size, size)] == vertices.split()


def test_fixed_limits():
    for size in range(2, 26):
        most = 0 if size < 7 else 4 if size % 2 == 0 or size == 7 else 9
        assert max_fixed_handicap(size, size) == most
        for n in range(2, most + 1):
            assert len(set(fixed_handicap(n, size, size))) == n
        for n in (-1, 0, 1, most + 1, 10, 100):
            with pytest.raises(EngineError):
                fixed_handicap(n, size, size)


def test_fixed_on_rectangles():
    assert max_fixed_handicap(19, 13) == 9
    assert max_fixed_handicap(19, 12) == 4
    assert max_fixed_handicap(19, 7) == 4
    assert max_fixed_handicap(19, 6) == 0
    assert [format_vertex(a, 19, 9) for a in fixed_handicap(4, 19, 9)] == ["D7", "Q7", "D3", "Q3"]


@pytest.mark.parametrize(("width", "height"), [(2, 2), (2, 3), (3, 3), (5, 5), (6, 4), (7, 7), (8, 8), (9, 5)])
def test_free_handicap_of_any_number(width, height):
    for n in range(1, max_free_handicap(width, height) + 1):
        actions = free_handicap(n, width, height)
        assert len(actions) == len(set(actions)) == n
        assert all(0 <= action < width * height for action in actions)
        position = Position(width, height)
        position.set_up([(BLACK, action) for action in actions], WHITE)  # every chain has a liberty
    for n in (0, -1, width * height):
        with pytest.raises(EngineError):
            free_handicap(n, width, height)


@pytest.mark.parametrize("n", [9, 13, 17, 25, 50])
def test_free_handicap_on_19x19_keeps_off_the_edge(n):
    actions = free_handicap(n, 19, 19)
    assert len(set(actions)) == n
    assert set(fixed_handicap(9, 19, 19)) <= set(actions)
    assert all(min(a % 19, 18 - a % 19, a // 19, 18 - a // 19) >= 2 for a in actions)


def test_free_handicap_starts_from_the_fixed_points():
    for n in range(2, 10):
        assert free_handicap(n, 19, 19) == fixed_handicap(n, 19, 19)
    assert free_handicap(1, 9, 9) == [40]
