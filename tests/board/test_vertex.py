"""Vertices and colors in GTP's text."""

import pytest

from engine.board.vertex import format_color, format_vertex, parse_color, parse_vertex
from engine.errors import InvalidVertex

GOOD = [
    ("D4", 19, 19, 15 * 19 + 3),
    ("d4", 19, 19, 15 * 19 + 3),
    ("A19", 19, 19, 0),
    ("T1", 19, 19, 360),
    ("H8", 9, 9, 9 + 7),
    ("J9", 9, 9, 8),
    ("j1", 9, 9, 80),
    ("pass", 9, 9, 81),
    ("PASS", 19, 19, 361),
    (" C3 ", 5, 5, 2 * 5 + 2),
    ("Z25", 25, 25, 24),
    ("Z1", 25, 25, 624),
    ("C1", 3, 7, 6 * 3 + 2),
    ("(0,0)", 19, 19, 0),
    ("(18,0)", 19, 19, 18),
    ("(3,15)", 19, 19, 15 * 19 + 3),
    ("(0, 18)", 19, 19, 18 * 19),
    ("AA1", 40, 40, 39 * 40 + 25),
    ("ah40", 40, 40, 32),
    ("AJ40", 40, 40, 33),
    ("AZ1", 52, 1, 49),
    ("BA1", 52, 1, 50),
    ("d04", 19, 19, 15 * 19 + 3),
]


@pytest.mark.parametrize(("text", "width", "height", "action"), GOOD)
def test_parse(text, width, height, action):
    assert parse_vertex(text, width, height) == action


BAD = [
    "", "i5", "I1", "z9", "A0", "A20", "U1", "AA1", "4D", "D", "4", "D-4", "D4x", "D 4", "(19,0)", "(0,19)", "(-1,0)",
    "(1)", "passe", "resign", "D４", "Ｄ4", "AI1", "IA1", "D99999", "()", "(1,2", "é1", "A1\x00",
]


@pytest.mark.parametrize("text", BAD)
def test_parse_refuses(text):
    with pytest.raises(InvalidVertex):
        parse_vertex(text, 19, 19)


@pytest.mark.parametrize(("width", "height"), [(2, 2), (9, 9), (13, 7), (19, 19), (25, 25), (60, 60)])
def test_every_vertex_comes_back(width, height):
    texts = [format_vertex(action, width, height) for action in range(width * height + 1)]
    assert len(set(texts)) == len(texts)
    assert [parse_vertex(text.lower(), width, height) for text in texts] == list(range(width * height + 1))
    assert texts[-1] == "pass"
    assert not any("I" in text for text in texts)


@pytest.mark.parametrize("action", [-1, 82, 1000])
def test_format_refuses(action):
    with pytest.raises(InvalidVertex):
        format_vertex(action, 9, 9)


@pytest.mark.parametrize(("text", "color"), [
    ("b", 1), ("B", 1), ("black", 1), ("Black", 1), ("BLACK", 1), ("w", 2), ("W", 2), ("white", 2), (" White ", 2),
])
def test_colors(text, color):
    assert parse_color(text) == color
    assert format_color(color) == text.strip()[0].upper()


@pytest.mark.parametrize("text", ["", "x", "bl", "blackk", "1", "b w"])
def test_no_colors(text):
    with pytest.raises(ValueError):
        parse_color(text)
