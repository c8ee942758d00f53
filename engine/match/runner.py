"""Runs the games of a match on one or several pairs of engines, and hands each finished game to the store.

Games come in pairs that share an opening, with the colors swapped: A is Black in games 0, 2, 4, …. Each worker thread
has its own engines. Ctrl-C ends all engines; what was finished is kept.
"""

from __future__ import annotations

import logging
import queue
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine import sgf

from .gtp_client import EngineSlot
from .play import GameResult, GameSettings, MatchStopped, play_game, set_up
from .store import MatchStore

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Commands:
    """The command lines of a match."""

    a: str
    b: str
    referee: str | None = None


@dataclass
class Crew:
    """The engines of one worker."""

    a: EngineSlot
    b: EngineSlot
    referee: EngineSlot | None

    @classmethod
    def hire(cls, commands: Commands, timeout: float, logs: Path, number: int) -> Crew:
        """Make the slots; nothing starts yet."""

        def slot(label: str, command: str) -> EngineSlot:
            return EngineSlot(label, command, timeout, logs / f"{label}-{number}.log")

        referee = None if commands.referee is None else slot("referee", commands.referee)
        return cls(slot("A", commands.a), slot("B", commands.b), referee)

    @property
    def slots(self) -> list[EngineSlot]:
        """The slots that there are."""
        return [slot for slot in (self.a, self.b, self.referee) if slot is not None]


def probe(commands: Commands, settings: GameSettings, timeout: float, logs: Path) -> dict[str, str]:
    """Start every engine once and set a game up; return their names by label.

    Raises GtpError or EngineFailed if one cannot play such games: better now than as a lost match.
    """
    crew = Crew.hire(commands, timeout, logs, 0)
    try:
        for slot in crew.slots:
            set_up(slot, settings if slot is not crew.referee else replace(settings, seconds=None, visits=None))
            if slot is not crew.referee and settings.visits is not None and "kata-set-param" not in slot.commands:
                log.warning("%s has no kata-set-param: --visits says nothing to it", slot.label)
        return {slot.label: slot.name for slot in crew.slots}
    finally:
        for slot in crew.slots:
            slot.close()


def run_games(
    numbers: Sequence[int],
    openings: Sequence[list[int]],
    commands: Commands,
    settings: GameSettings,
    store: MatchStore,
    *,
    timeout: float,
    parallel: int,
    progress: Callable[[dict[str, Any]], None],
) -> None:
    """Play these games and store each as it ends. Raises KeyboardInterrupt as it comes, with all engines ended."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in numbers:
        waiting.put(number)
    done: queue.SimpleQueue[tuple[int, GameResult, sgf.GameRecord] | Exception | None] = queue.SimpleQueue()
    stop = threading.Event()
    logs = store.folder / "logs"
    crews = [Crew.hire(commands, timeout, logs, i) for i in range(min(parallel, len(numbers)))]

    def work(crew: Crew) -> None:
        try:
            while not stop.is_set():
                try:
                    number = waiting.get_nowait()
                except queue.Empty:
                    break
                black, white = (crew.a, crew.b) if number % 2 == 0 else (crew.b, crew.a)
                opening = openings[number // 2]
                result, record = play_game(black, white, opening, settings, referee=crew.referee, stop=stop)
                done.put((number, result, record))
            done.put(None)
        except MatchStopped:
            done.put(None)
        except Exception as error:  # a fault of ours: end the match with it
            log.debug("worker ended: %s", traceback.format_exc())
            done.put(error)

    threads = [threading.Thread(target=work, args=(crew,), daemon=True) for crew in crews]
    try:
        for thread in threads:
            thread.start()
        running = len(threads)
        while running:
            try:
                item = done.get(timeout=0.2)  # a short wait, so that Ctrl-C gets through everywhere
            except queue.Empty:
                continue
            if item is None:
                running -= 1
            elif isinstance(item, Exception):
                raise item
            else:
                number, result, record = item
                record = replace(record, comments={0: _comment(number, result, commands)})
                progress(store.add(number, number // 2, result, record))
    except BaseException:
        stop.set()
        for crew in crews:
            for slot in crew.slots:
                slot.abort()
        raise
    finally:
        stop.set()
        for thread in threads:
            thread.join(5.0)
        for crew in crews:
            for slot in crew.slots:
                slot.close()


def _comment(number: int, result: GameResult, commands: Commands) -> str:
    """Return what the root of a game's SGF says about it."""
    black, white = (commands.a, commands.b) if result.black == "A" else (commands.b, commands.a)
    text = f"Game {number}. Black: {black}\nWhite: {white}\nEnded by: {result.reason}"
    return f"{text} ({result.detail})" if result.detail else text
