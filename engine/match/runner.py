"""Runs the games of a schedule, several at a time, and hands each finished game to the store.

Each worker thread has its own engines; only nets in this process are shared. An engine that cannot be started is tried
again; when it fails over and over the match ends, with all that was finished kept. Ctrl-C does the same.
"""

from __future__ import annotations

import functools
import logging
import queue
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine import sgf
from engine.errors import EngineError

from .engines import REFEREE, Engine, Slot, make_slot
from .game import CannotBegin, GameResult, GameSettings, MatchStopped
from .gtp_client import EngineFailed, GtpError
from .local import NetPool
from .play import play_game, set_up
from .running import Running
from .schedule import Game, Schedule
from .store import MatchStore

log = logging.getLogger(__name__)

MAX_RUNNING = 4  # engine processes that one worker keeps running
MAX_FAILURES = 3  # games in a row that a worker cannot begin before the match ends
RETRY_SECONDS = 2.0


@dataclass(frozen=True)
class Finished:
    """A game on its way from its worker to the store."""

    game: Game
    result: GameResult
    record: sgf.GameRecord
    stored: threading.Event


Done = queue.SimpleQueue[Finished | Exception | None]  # None: a worker has ended


@dataclass(frozen=True)
class Setting:
    """What all workers share."""

    engines: Mapping[str, Engine]
    referee: Engine | None
    game: GameSettings
    timeout: float
    logs: Path
    nets: NetPool


@dataclass
class Crew:
    """The engines of one worker, made when first needed."""

    setting: Setting
    number: int
    slots: dict[str, Slot] = field(default_factory=dict)
    closed: bool = False

    def slot(self, label: str) -> Slot:
        """Return the place of an engine or of the referee."""
        if label not in self.slots:
            setting = self.setting
            engine = setting.referee if label == REFEREE else setting.engines[label]
            assert engine is not None
            path = setting.logs / f"{label}-{self.number}.log"
            self.slots[label] = make_slot(engine, timeout=setting.timeout, log=path, nets=setting.nets)
            if self.closed:
                self.slots[label].abort()
        self.slots[label] = self.slots.pop(label)  # the one used last stands last
        return self.slots[label]

    def rest(self) -> None:
        """End the engines that have not played longest, should there be many."""
        for slot in list(self.slots.values())[:-MAX_RUNNING]:
            slot.drop()

    def abort(self) -> None:
        """End all engines at once; from any thread."""
        self.closed = True
        for slot in list(self.slots.values()):
            slot.abort()

    def close(self) -> None:
        """End all engines politely."""
        for slot in self.slots.values():
            slot.close()


def probe(setting: Setting) -> dict[str, str]:
    """Start every engine once and set a game up; return their names by label.

    Raises EngineError, which names it, if one cannot play such games: better now than as a lost match.
    """
    names = {}
    crew = Crew(setting, 0)
    try:
        for label in [*setting.engines, *([REFEREE] if setting.referee is not None else [])]:
            slot = crew.slot(label)
            try:
                set_up(slot, setting.game, referee=label == REFEREE)
            except (GtpError, EngineFailed) as error:
                slot.new_words()  # which writes them down
                raise EngineError(f"{label} cannot play such games: {error}{_where(setting.logs, label)}") from None
            if label != REFEREE and setting.game.visits is not None and "kata-set-param" not in slot.commands:
                log.warning("%s has no kata-set-param: --visits says nothing to it", label)
            names[label] = slot.name
            slot.close()
        return names
    except KeyboardInterrupt:
        crew.abort()
        raise
    finally:
        crew.close()


def _where(logs: Path, label: str) -> str:
    """Return where an engine's last words are; "" if it said nothing."""
    log = logs / f"{label}-0.log"
    return f" (see {log})" if log.exists() and log.stat().st_size else ""


def run_games(
    schedule: Schedule,
    openings: Sequence[list[int]],
    setting: Setting,
    store: MatchStore,
    *,
    jobs: int,
    progress: Callable[[dict[str, Any]], None],
    running: Running | None = None,
    tick: Callable[[], None] = lambda: None,
) -> None:
    """Play what the schedule hands out and store each game as it ends.

    Args:
        progress: told each game's line, from this thread.
        running: told which games are in progress.
        tick: called now and then, from this thread.

    Raises KeyboardInterrupt as it comes, with all engines ended, and EngineError if an engine cannot be started.
    """
    done: Done = queue.SimpleQueue()
    stop = threading.Event()
    crews = [Crew(setting, number) for number in range(min(jobs, max(schedule.remaining(), 1)))]
    shared = (schedule, openings, running or Running(), done, stop)
    threads = [threading.Thread(target=_work, args=(crew, *shared), daemon=True) for crew in crews]
    clock = time.process_time()
    try:
        with noted_interrupts() as interrupted:
            for thread in threads:
                thread.start()
            working = len(threads)
            while working:
                if interrupted.is_set():
                    raise KeyboardInterrupt
                tick()
                try:
                    item = done.get(timeout=0.2)
                except queue.Empty:
                    continue
                if item is None:
                    working -= 1
                elif isinstance(item, Exception):
                    raise item
                else:
                    used, clock = time.process_time() - clock, time.process_time()
                    text = _comment(item.game, item.result, setting.engines)
                    record = replace(item.record, comments={**item.record.comments, 0: text})
                    line = store.add(item.game, item.result, record, own_cpu=round(used, 2))
                    schedule.finished(item.game)
                    item.stored.set()
                    progress(line)
    except BaseException:
        stop.set()
        for crew in crews:
            crew.abort()
        raise
    finally:
        stop.set()
        for thread in threads:
            thread.join(5.0)
        for crew in crews:
            crew.close()


@contextmanager
def noted_interrupts() -> Iterator[threading.Event]:
    """Note Ctrl-C in an event while the block runs, so that no game is torn between disk and memory.

    In threads other than the main one, where signals do not arrive, the event is never set.
    """
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: interrupted.set())
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def _work(
    crew: Crew,
    schedule: Schedule,
    openings: Sequence[list[int]],
    running: Running,
    done: Done,
    stop: threading.Event,
) -> None:
    """Play games until there are no more; then, or at the first fault of ours, say so."""
    failures = 0
    try:
        while not stop.is_set() and (game := schedule.next()) is not None:
            referee = crew.slot(REFEREE) if crew.setting.referee is not None else None
            black, white = crew.slot(game.black), crew.slot(game.white)
            crew.rest()
            running.begin(game)
            try:
                result, record = play_game(
                    black,
                    white,
                    openings[game.opening],
                    crew.setting.game,
                    referee=referee,
                    stop=stop,
                    watch=functools.partial(running.moved, game),
                )
            except CannotBegin as error:
                schedule.give_back(game)
                failures += 1
                log.warning("game %d could not begin: %s", game.number, error)
                if failures >= MAX_FAILURES:
                    raise EngineError(f"{error} (so {failures} games in a row could not begin)") from None
                stop.wait(RETRY_SECONDS)
                continue
            finally:
                running.end(game)
            failures = 0
            finished = Finished(game, result, record, threading.Event())
            done.put(finished)
            while not finished.stored.wait(0.5) and not stop.is_set():  # the next game may depend on this one
                pass
        done.put(None)
    except MatchStopped:
        done.put(None)
    except Exception as error:  # a fault of ours, or an engine that is gone: end the match with it
        log.debug("worker ended: %s", traceback.format_exc())
        done.put(error)


def _comment(game: Game, result: GameResult, engines: Mapping[str, Engine]) -> str:
    """Return what the root of a game's SGF says about it."""
    text = f"Game {game.number}. Black: {engines[result.black].command}\nWhite: {engines[result.white].command}"
    text += f"\nEnded by: {result.reason}"
    return f"{text} ({result.detail})" if result.detail else text
