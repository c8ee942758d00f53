"""Figures of a match, and the rule that scores finished games."""

import pytest

from engine.match.elo import elo, wilson
from engine.match.report import elo_text, format_report, summarise, summarise_pairing
from engine.match.schedule import points
from engine.match.sprt import Verdict
from engine.match.verdict import decide, format_score, parse_score


@pytest.mark.parametrize(
    ("score", "games", "low", "high"),
    [(50, 100, 0.4038, 0.5962), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662), (0, 0, 0, 1)],
)
def test_wilson(score, games, low, high):
    assert wilson(score, games) == pytest.approx((low, high), abs=1e-4)


def test_elo():
    assert elo(0.5) == 0 and elo(0.0) is None and elo(1.0) is None
    assert elo(0.75) == pytest.approx(190.85, abs=0.01)
    assert elo(0.25) == pytest.approx(-190.85, abs=0.01)


@pytest.mark.parametrize(
    ("text", "score"),
    [("B+3.5", 3.5), ("W+2", -2.0), (" w+0,5 ", -0.5), ("0", 0.0), ("Draw", 0.0), ("B+R", None), ("", None),
     ("W+12.5 (upper bound: 3)", -12.5), ("cannot score", None)],
)  # fmt: skip
def test_parse_score(text, score):
    assert parse_score(text) == score
    if score is not None:
        assert parse_score(format_score(score)) == score


@pytest.mark.parametrize(
    ("black", "white", "referee", "own", "verdict"),
    [
        (3.0, 3.0, None, -1.0, (3.0, "engines", False)),
        (3.0, 5.0, None, -1.0, (3.0, "engines", False)),
        (-5.0, -3.0, None, 1.0, (-3.0, "engines", False)),
        (3.0, -3.0, None, -1.0, (-1.0, "rules", True)),
        (0.0, 1.0, None, 2.0, (2.0, "rules", True)),
        (3.0, None, None, -1.0, (-1.0, "rules", False)),
        (None, None, None, -1.0, (-1.0, "rules", False)),
        (3.0, 3.0, -2.0, -1.0, (-2.0, "referee", False)),
        (3.0, -3.0, 2.0, -1.0, (2.0, "referee", True)),
    ],
)
def test_who_decides(black, white, referee, own, verdict):
    got = decide(black, white, referee, own)
    assert (got.score, got.source, got.disputed) == verdict


def game(number, black, winner, reason="score", **fields):
    return {"game": number, "black": black, "white": "B" if black == "A" else "A", "winner": winner, "reason": reason,
            "duplicate_of": None, "disputed": False, "moves": 10, "seconds": 1.0, **fields}  # fmt: skip


def test_summary_and_table():
    games = [
        game(0, "A", "A"),
        game(1, "B", None),
        game(2, "A", "B", "crash"),
        game(3, "B", "A", "illegal move", duplicate_of=1, disputed=True),
        game(4, "A", "A", "resign", cpu={"A": 1.5, "B": None}),
    ]
    summary = summarise_pairing(("A", "B"), games, [points(one, "A") for one in games])
    assert (summary["wins"], summary["draws"], summary["losses"], summary["score"]) == (3, 1, 1, 3.5)
    assert summary["as_black"]["wins"] == 2 and summary["as_white"]["score"] == 1.5
    assert summary["forfeits"] == {"A": {"crash": 1}, "B": {"illegal move": 1}}
    assert (summary["duplicates"], summary["disputed"]) == (1, 1)
    assert summary["pairs"] == {"1": 1, "1.5": 1} and summary["mean_cpu"] == {"A": 1.5, "B": None}
    engines = {label: {"name": "Mock 1", "command": "mock"} for label in "AB"}
    settings = {"width": 9, "height": 9, "komi": 7.0, "rules": "chinese"}
    table = format_report(summarise(engines, settings, [summary], games))
    assert "| 70.0 (30 to 93)" in table and "crash 1" in table and "warning" in table and "9x9, komi 7" in table
    assert "3-1-1" in table and "| A as White | 2" in table and max(map(len, table.splitlines())) <= 80
    nothing = summarise_pairing(("A", "B"), [], [])
    assert format_report(summarise(engines, settings, [nothing], []))


def test_a_report_says_no_more_than_there_is():
    games = [game(2 * i, "B", "B") for i in range(4)]  # A gives stones: it is always White
    undecided = Verdict(None, "SPRT +0..+30: LLR -1.00 [-2.94, 2.94]", -1.0, 4)
    summary = summarise_pairing(("A", "B"), games, [0.0] * 4, undecided)
    engines = {label: {"name": "Mock 1", "command": "mock"} for label in "AB"}
    settings = {"width": 9, "height": 9, "komi": 0.5, "rules": "chinese"}
    text = format_report(summarise(engines, settings, [summary], games))
    assert "as Black" not in text and "| 0-0-4" in text and "0.0 (0 to 49)" in text and "below -7" in text
    assert "2.94], undecided" in text


@pytest.mark.parametrize(
    ("value", "ends", "text"),
    [
        (12.4, (-30.2, 55.0), "+12 (-30 to +55)"),
        (None, (-30.2, 55.0), "-30 to +55"),
        (None, (None, 7.0), "below +7"),
        (None, (-7.0, None), "above -7"),
        (None, (None, None), "-"),
    ],
)
def test_elo_in_words(value, ends, text):
    assert elo_text(value, ends) == text
