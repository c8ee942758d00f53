"""What is seen while a match runs, on standard error: a table that is redrawn on a terminal, else a line a game.

The table has a row a pairing, with the rule's state, a row a game in progress, and a bar with the time that is probably
left. Without a terminal, a line says how far games are when none has ended for a minute.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from .elo import elo_interval, wilson
from .report import elo_text
from .running import Running, RunningGame
from .schedule import Game, Schedule
from .sprt import finished_pairs

MAX_ROWS = 20  # of pairings, on a terminal that has the room
REDRAW_SECONDS = 1.0
QUIET_SECONDS = 60.0  # without a line, where there is no terminal
MAX_TOLD = 4  # games in progress in one line


class Live:
    """Shows a match.

    Args:
        schedule: where figures come from.
        running: the games in progress, and the clock that counts.
        stream: usually standard error.
        shown: what to call the engines, by label; those that are not in it by their labels.
    """

    def __init__(
        self,
        schedule: Schedule,
        running: Running,
        stream: TextIO | None = None,
        shown: Mapping[str, str] | None = None,
    ) -> None:
        self._schedule, self._running = schedule, running
        self._shown_names = shown or {}
        self._stream = stream if stream is not None else sys.stderr
        self._redraws = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._drawn = 0
        self._started = self._said = running.clock()
        self._games = 0
        self._last = ""  # game that ended
        self._rows: dict[int, str] = {}  # by pairing; a long match's take a while, and change with its games alone
        if self._redraws and sys.platform == "win32":
            os.system("")  # makes the console understand escape sequences

    def game(self, line: Mapping[str, Any]) -> None:
        """Show that a game has ended; line as in games.jsonl."""
        self._games += 1
        game = self._schedule.game(line["game"])
        last = f"{self._title(game)}: {line['result']} ({line['reason']})"
        self._last = f"{last}, {line['moves']} moves"
        self._rows.pop(game.pairing, None)
        if self._redraws:
            self._draw()
        else:
            self._say(f"{last}; {self.row(game.pairing)}; {self.bar()}")

    def tick(self) -> None:
        """Show how far the games in progress are, if that has not been shown for a while."""
        quiet = self._running.clock() - self._said
        if self._redraws and (quiet >= REDRAW_SECONDS or not self._drawn):
            self._draw()
        elif not self._redraws and quiet >= QUIET_SECONDS:
            games = self._running.games()
            told = [self._progress(running) for running in games[:MAX_TOLD]]
            told += [f"and {len(games) - MAX_TOLD} more games"] if len(games) > MAX_TOLD else []
            self._say("; ".join([*told, self.bar()]))

    def row(self, pairing: int) -> str:
        """Return one pairing's figures, as they stood when its last game ended."""
        if pairing not in self._rows:
            self._rows[pairing] = self._figures(pairing)
        return self._rows[pairing]

    def _figures(self, pairing: int) -> str:
        scores = self._schedule.scores(pairing)
        done = [score for score in scores if score is not None]
        a, b = self._schedule.pairings[pairing]
        wins, draws = sum(score == 1 for score in done), sum(score == 0.5 for score in done)
        low, high = wilson(sum(done), len(done))
        text = f"{self._name(a)} - {self._name(b)}: {wins}-{draws}-{len(done) - wins - draws}"
        if done:
            text += f" = {100 * sum(done) / len(done):.0f} % ({100 * low:.0f} to {100 * high:.0f})"
            ends = elo_interval(done, finished_pairs(scores))
            text += f", Elo {elo_text(None, ends)}"
        verdict = self._schedule.verdict(pairing)
        return text if verdict is None else f"{text}, {verdict.text}"

    def bar(self) -> str:
        """Return how far the match is, and for how long it will probably last."""
        left = self._schedule.remaining()
        total = self._schedule.total
        done = sum(score is not None for i in range(len(self._schedule.pairings)) for score in self._schedule.scores(i))
        gone = self._running.clock() - self._started
        when = f"{duration(gone / self._games * left)} left" if self._games else f"{duration(gone)} gone"
        filled = round(20 * (1 - left / total)) if total else 20
        bar = "#" * filled + "." * (20 - filled)
        return f"[{bar}] {done}/{total} games, {when}"

    def _name(self, label: str) -> str:
        return self._shown_names.get(label, label)

    def _title(self, game: Game) -> str:
        return f"game {game.number}: {self._name(game.black)} (Black) - {self._name(game.white)} (White)"

    def _progress(self, running: RunningGame) -> str:
        gone = duration(self._running.clock() - running.begun)
        return f"{self._title(running.game)}: {running.moves} move{'' if running.moves == 1 else 's'}, {gone}"

    def _draw(self) -> None:
        """Draw the table anew, no higher than the terminal, whose upper rows could not be reached again."""
        width, height = shutil.get_terminal_size()
        room = max(height - 1 - bool(self._last) - 1, 2)
        games = [self._progress(running) for running in self._running.games()]
        pairings = len(self._schedule.pairings)
        for_games = max(room - min(pairings, MAX_ROWS), room // 3, 1)
        rows = _fitting(games, for_games, "games")
        shown = range(min(pairings, MAX_ROWS, room - len(rows)))
        rows = [*map(self.row, shown), *rows, *([self._last] if self._last else []), self.bar()]
        up = f"\x1b[{self._drawn}F" if self._drawn else ""
        self._write(up + "".join(f"\x1b[2K{row[: width - 1]}\n" for row in rows) + "\x1b[J")
        self._drawn = len(rows)
        self._said = self._running.clock()

    def _say(self, line: str) -> None:
        self._write(line + "\n")
        self._said = self._running.clock()

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._redraws = False


def _fitting(rows: list[str], room: int, what: str) -> list[str]:
    """Return the rows that fit, the last of them telling how many more there are."""
    return rows if len(rows) <= room else [*rows[: room - 1], f"and {len(rows) - room + 1} more {what}"]


def duration(seconds: float) -> str:
    """Return seconds as 1:02:03."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
