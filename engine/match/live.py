"""What is seen while a match runs, on standard error: a table that is redrawn on a terminal, else a line a game.

The table has a row a pairing, with the rule's state, and a bar with the time that is probably left.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Mapping
from typing import Any, TextIO

from .elo import elo_interval, wilson
from .schedule import Schedule
from .sprt import finished_pairs

MAX_ROWS = 20


class Live:
    """Shows a match.

    Args:
        schedule: where figures come from.
        stream: usually standard error.
        shown: what to call the engines, by label; those that are not in it by their labels.
    """

    def __init__(
        self, schedule: Schedule, stream: TextIO | None = None, shown: Mapping[str, str] | None = None
    ) -> None:
        self._schedule = schedule
        self._shown_names = shown or {}
        self._stream = stream if stream is not None else sys.stderr
        self._redraws = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._drawn = 0
        self._started = time.monotonic()
        self._games = 0
        if self._redraws and sys.platform == "win32":
            os.system("")  # makes the console understand escape sequences

    def game(self, line: Mapping[str, Any]) -> None:
        """Show that a game has ended; line as in games.jsonl."""
        self._games += 1
        number = self._schedule.game(line["game"]).pairing
        black, white = self._name(line["black"]), self._name(line["white"])
        last = f"game {line['game']}: {black} (Black) - {white} (White): {line['result']} ({line['reason']})"
        if self._redraws:
            self._draw([*map(self.row, self._shown()), f"{last}, {line['moves']} moves", self.bar()])
        else:
            self._write(f"{last}; {self.row(number)}; {self.bar()}\n")

    def row(self, pairing: int) -> str:
        """Return one pairing's figures."""
        scores = self._schedule.scores(pairing)
        done = [score for score in scores if score is not None]
        a, b = self._schedule.pairings[pairing]
        wins, draws = sum(score == 1 for score in done), sum(score == 0.5 for score in done)
        low, high = wilson(sum(done), len(done))
        text = f"{self._name(a)} - {self._name(b)}: {wins}-{len(done) - wins - draws}"
        text += f"-{draws}" if draws else ""
        if done:
            text += f" = {100 * sum(done) / len(done):.0f} % ({100 * low:.0f} to {100 * high:.0f})"
            ends = elo_interval(done, finished_pairs(scores))
            text += ", Elo " + " to ".join("?" if end is None else f"{end:+.0f}" for end in ends)
        verdict = self._schedule.verdict(pairing)
        return text if verdict is None else f"{text}, {verdict.text}"

    def bar(self) -> str:
        """Return how far the match is, and for how long it will probably last."""
        left = self._schedule.remaining()
        total = self._schedule.total
        done = sum(score is not None for i in range(len(self._schedule.pairings)) for score in self._schedule.scores(i))
        rest = (time.monotonic() - self._started) / self._games * left if self._games else 0.0
        filled = round(20 * (1 - left / total)) if total else 20
        bar = "#" * filled + "." * (20 - filled)
        return f"[{bar}] {done}/{total} games, {duration(rest)} left"

    def _name(self, label: str) -> str:
        return self._shown_names.get(label, label)

    def _shown(self) -> range:
        return range(min(len(self._schedule.pairings), MAX_ROWS))

    def _draw(self, rows: list[str]) -> None:
        width = shutil.get_terminal_size().columns - 1
        up = f"\x1b[{self._drawn}F" if self._drawn else ""
        self._write(up + "".join(f"\x1b[2K{row[:width]}\n" for row in rows))
        self._drawn = len(rows)

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._redraws = False


def duration(seconds: float) -> str:
    """Return seconds as 1:02:03."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
