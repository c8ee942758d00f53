"""How GoGui reads what analyze commands answer, written from its manual alone (chapter "Analyze Commands")."""

import re

ANALYZE_TYPES = {
    "none", "string", "hstring", "pstring", "hpstring", "bwboard", "cboard", "dboard", "sboard", "gfx", "plist",
    "eplist", "pspairs", "var", "varb", "varw", "varc", "varp", "varpo", "param",
}  # fmt: skip
POINT = re.compile(r"([A-HJ-Z])([0-9]{1,2})")
COLORS = {"black", "blue", "cyan", "green", "gray", "magenta", "pink", "red", "white", "yellow"}


def points_of(text, width, height):
    """Return the points (column, row) of a list split at any white space. Anything else fails."""
    found = []
    for word in text.split():
        match = POINT.fullmatch(word.upper())
        assert match, f"{word} is no point"
        column, row = "ABCDEFGHJKLMNOPQRSTUVWXYZ".index(match[1]), int(match[2])
        assert column < width and 1 <= row <= height, f"{word} is off the board"
        found.append((column, row))
    return found


def board_of(text, width, height):
    """Return the rows of words of a board, top row first."""
    rows = [line.split() for line in text.split("\n") if line.strip()]
    assert len(rows) == height and all(len(row) == width for row in rows), f"no board of {width}x{height}"
    return rows


def check_gfx(lines, width, height):
    """Check drawing commands, one a line."""
    for line in lines:
        word, _, rest = line.partition(" ")
        words = rest.split()
        if word in ("BLACK", "WHITE", "CIRCLE", "MARK", "SQUARE", "TRIANGLE"):
            assert points_of(rest, width, height)
        elif word == "COLOR":
            assert words[0] in COLORS or re.fullmatch(r"#[0-9a-f]{6}", words[0])
            assert points_of(" ".join(words[1:]), width, height)
        elif word in ("INFLUENCE", "LABEL"):
            assert words and len(words) % 2 == 0
            points_of(" ".join(words[::2]), width, height)
            if word == "INFLUENCE":
                assert all(-1 <= float(value) <= 1 for value in words[1::2])
        elif word == "VAR":
            assert words and len(words) % 2 == 0 and set(words[::2]) <= {"b", "w"}
            points_of(" ".join(w for w in words[1::2] if w != "PASS"), width, height)
        else:
            assert word == "TEXT" and rest, f"{line} draws nothing"
