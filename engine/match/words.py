"""What engines say of their moves, for the SGF: time, and where they tell, winrate, lead, visits and variation.

Engines with kata-genmove_analyze are asked for their moves by it, with reports so rare that none costs anything but the
last. Of the others the last lines on standard error are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

from .engines import Slot
from .gtp_client import EngineFailed

SELDOM = 100_000_000  # centiseconds between reports: only the one at the end comes
ANALYSIS = "kata-genmove_analyze"
MAX_LINES, MAX_WIDTH = 3, 160  # of standard error
FIGURES = {"visits", "winrate", "scoreLead", "scoreMean"}


@dataclass(frozen=True)
class Said:
    """A move, and what the engine says of it."""

    move: str
    text: str = ""


def ask_move(slot: Slot, letter: str, *, comments: bool = True) -> Said:
    """Have the engine move for "B" or "W". Raises GtpError and EngineFailed."""
    if not comments or ANALYSIS not in slot.commands:
        move = slot.send(f"genmove {letter}").strip()
        return Said(move, last_lines(slot.new_words()) if comments else "")
    reply = slot.send(f"{ANALYSIS} {letter} {SELDOM}")
    moves = [line[5:].strip() for line in reply.splitlines() if line.startswith("play ")]
    if not moves:
        raise EngineFailed("protocol", f"no move in the reply to {ANALYSIS}: {reply[:60]!r}")
    slot.new_words()
    reports = [line for line in reply.splitlines() if line.startswith("info ")]
    return Said(moves[-1], describe(reports[-1]) if reports else "")


def describe(line: str) -> str:
    """Return the first move's figures of an analysis line for people; "" if there are none."""
    words = line.split(" info ")[0].split()
    found = {}
    for i, word in enumerate(words[:-1]):
        if word in FIGURES and word not in found:
            found[word] = words[i + 1]
    try:
        parts = []
        if "winrate" in found:
            parts.append(f"winrate {100 * float(found['winrate']):.1f} %")
        lead = found.get("scoreLead", found.get("scoreMean"))
        if lead is not None:
            parts.append(f"lead {float(lead):+.1f}")
        if int(found.get("visits", "0")) > 0:  # the policy alone visits no move
            parts.append(f"{int(found['visits'])} visits on it")
    except ValueError:
        return ""
    if "pv" in words:
        variation = words[words.index("pv") + 1 :]
        moves = [word for word in variation if word == "pass" or (word[-1:].isdigit() and word[:1].isalpha())]
        parts.append(" ".join(moves[:8]))
    return ", ".join(part for part in parts if part)


def last_lines(text: str) -> str:
    """Return the last lines that hold words, shortened."""
    lines = [" ".join(line.split())[:MAX_WIDTH] for line in text.splitlines()]
    return "\n".join([line for line in lines if any(c.isalpha() for c in line)][-MAX_LINES:])
