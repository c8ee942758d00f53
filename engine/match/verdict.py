"""Who won a finished game, from what the engines, the referee and our own count say.

The rule: a referee's score counts where one was asked and answered. Otherwise the engines' final_score counts if both
name the same winner; where their margins differ the smaller one is noted. Otherwise (they disagree, or one of them
cannot score) our own count decides: every stone lives but those inside the opponent's pass-alive area. Games where both
engines answered but named different winners are called disputed, whoever decided them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SCORE = re.compile(r"([BW])\+([0-9]+(?:[.,][0-9]+)?)", re.ASCII | re.IGNORECASE)
_DRAWS = {"0", "draw", "jigo"}


@dataclass(frozen=True)
class Verdict:
    """A score and where it comes from."""

    score: float  # Black's margin
    source: str  # "referee", "engines" or "rules"
    disputed: bool

    @property
    def text(self) -> str:
        """The score as SGF and GTP write it."""
        return format_score(self.score)


def parse_score(text: str) -> float | None:
    """Return Black's margin of a final_score reply, None if it names none."""
    text = text.strip()
    if text.lower() in _DRAWS:
        return 0.0
    match = _SCORE.match(text)
    if match is None:
        return None
    points = float(match[2].replace(",", "."))
    return points if match[1].upper() == "B" else -points


def format_score(score: float) -> str:
    """Return "B+3.5", "W+2" or "0"."""
    return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"


def decide(black: float | None, white: float | None, referee: float | None, own: float) -> Verdict:
    """Return the score that counts, from Black's margins as each side sees them (None: no answer)."""
    both = black is not None and white is not None
    agreed = both and _sign(black) == _sign(white)
    if referee is not None:
        return Verdict(referee, "referee", both and not agreed)
    if black is not None and white is not None and agreed:
        return Verdict(min(black, white, key=abs), "engines", False)
    return Verdict(own, "rules", both)


def _sign(score: float | None) -> int:
    return 0 if not score else 1 if score > 0 else -1
