"""Arguments of the analysis commands, in all the forms that clients send."""

from __future__ import annotations

import pytest

from engine.gtp.analysis_options import AnalysisOptions, parse
from engine.gtp.protocol import GtpError

BLACK, WHITE = 1, 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("10", {"interval": 0.1}),
        ("b 50", {"color": BLACK, "interval": 0.5}),
        ("White 100", {"color": WHITE, "interval": 1.0}),
        ("interval 1", {"interval": 0.01}),
        ("B interval 20", {"color": BLACK, "interval": 0.2}),
        ("w ownership true", {"color": WHITE, "flags": frozenset({"ownership"})}),
        ("10.5", {"interval": 0.105}),
        ("0", {"interval": 0.01}),
        ("2147483647", {"interval": 21474836.47}),
        ("1 pvVisits true", {"interval": 0.01, "flags": frozenset({"pvVisits"})}),
        ("10 ownership true ownership false", {"interval": 0.1}),
        ("interval 1 minmoves 30", {"interval": 0.01, "min_moves": 30}),
        ("b 1 maxmoves 3", {"color": BLACK, "interval": 0.01, "max_moves": 3}),
        ("1 allow B D4 1", {"interval": 0.01, "allow": {BLACK: {15 * 19 + 3: 1}}}),
        (
            "10 avoid b C3,d4 2 avoid w pass 1",
            {"interval": 0.1, "avoid": {BLACK: {16 * 19 + 2: 2, 15 * 19 + 3: 2}, WHITE: {361: 1}}},
        ),
        ("avoid b C3 1 avoid b C3 9", {"avoid": {BLACK: {16 * 19 + 2: 9}}}),
        (
            "b interval 20 ownership true ownershipStdev true minmoves 5 pvVisits true pvEdgeVisits true "
            "movesOwnership true rootInfo true",
            {
                "color": BLACK,
                "interval": 0.2,
                "min_moves": 5,
                "flags": frozenset(
                    {"ownership", "ownershipStdev", "pvVisits", "pvEdgeVisits", "movesOwnership", "rootInfo"}
                ),
            },
        ),
    ],
)
def test_accepted(text, expected):
    assert parse(text.split(), 19, 19) == AnalysisOptions(**expected)


@pytest.mark.parametrize(
    "text",
    [
        "x 10", "10 nonsense", "10 nonsense true", "10 ownership", "10 ownership maybe", "interval", "interval x", "-5",
        "nan", "10 minmoves -1", "10 minmoves", "allow b D4", "allow b D4 0", "allow x D4 1", "allow b Z99 1",
        "allow b i5 1", "allow b D4 1 allow b E5 1", "allow b D4 1 avoid b E5 1", "10 20", "b w 10", "1,5",
    ],
)  # fmt: skip
def test_refused(text):
    with pytest.raises(GtpError, match="syntax error"):
        parse(text.split(), 19, 19)
