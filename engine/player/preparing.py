"""Makes the nets ready for a board size beside the game, in a thread of its own.

A net is compiled for each board size, and on a CPU for several numbers of positions: up to seconds on a busy machine,
which no move of a byo-yomi has. So with a clock that begins as soon as the board size is known, and the judge is not
asked before it has ended.
"""

from __future__ import annotations

import logging
import threading
import time

from engine.board.position import Position
from engine.player.net import LoadedNet, NetSource
from engine.player.stop import StopToken

log = logging.getLogger(__name__)
Size = tuple[int, int]  # width, height

DELAY = 0.2
"""Seconds until a net that is not loaded yet is asked for: the first words of a session are to be answered at once."""
_LOOK = 0.05  # seconds between looks at whether a wait is still wanted


class Preparing:
    """Prepares one board size after the other, and of those that were wanted meanwhile the last.

    Args:
        net: where the evaluator and the judge's nets come from.
    """

    def __init__(self, net: NetSource) -> None:
        self._net = net
        self._change = threading.Condition()
        self._wanted: Size | None = None
        self._working: Size | None = None
        self._running = False
        self._done: dict[Size, float | None] = {}  # seconds of a judgment; None where it has to be tried
        self._nets = 0  # evaluators so far

    def want(self, width: int, height: int, *, wait_for: StopToken | None = None) -> None:
        """Begin to make the nets ready for boards of that size, unless that was done.

        Args:
            wait_for: wait until it is done, or this token is stopped.
        """
        size = width, height
        with self._change:
            if size not in self._done and size != self._working:
                self._wanted = size
                if not self._running:
                    self._running = True
                    threading.Thread(target=self._run, name="net-preparing").start()
            while wait_for is not None and not wait_for.stopped and size not in self._done and self._running:
                self._change.wait(_LOOK)

    def begun(self, width: int, height: int) -> bool:
        """Tell whether the nets are being made ready for that size, or are to be."""
        with self._change:
            return (width, height) in (self._wanted, self._working)

    def judging(self, width: int, height: int) -> float | None:
        """Return the seconds that the judge's nets took once they were ready for that size; None if they are not.

        They are made ready by whoever thinks, where they may not be touched by another thread.
        """
        with self._change:
            return self._done.get((width, height))

    def forget(self) -> None:
        """Say that the evaluator is another one now."""
        with self._change:
            self._nets += 1
            self._done.clear()
            self._wanted = self._wanted or self._working

    def _run(self) -> None:
        if not self._net.arrived:
            threading.Event().wait(DELAY)
        known = True
        while True:
            with self._change:
                self._working, self._wanted = self._wanted if known else None, None
                self._running = self._working is not None
                self._change.notify_all()
                if self._working is None:
                    return
                size, nets = self._working, self._nets
            known, seconds = self._prepare(*size)
            with self._change:
                if known and nets == self._nets:
                    self._done[size] = seconds

    def _prepare(self, width: int, height: int) -> tuple[bool, float | None]:
        """Return whether there is a net, and the seconds of a judgment by ready nets."""
        try:
            net = self._net.wait(StopToken())
        except Exception:  # whoever wants to think is told
            return False, None
        if net is None:
            return False, None
        try:
            return True, make_ready(net, width, height)
        except Exception:
            log.exception("the nets could not be made ready for %dx%d", width, height)
            return True, None


def make_ready(net: LoadedNet, width: int, height: int) -> float | None:
    """Make a net and the judge's nets ready for a board size, where that can be done beside a search.

    Return the seconds that the judge's nets then take; None if they are not ready.
    """
    prepare = getattr(net.evaluator, "prepare", None)
    if prepare is None or not net.evaluator.supports_size(width, height) or not prepare(width, height):
        return None
    opinions, board = net.opinions, Position(width, height)
    if opinions is None or not opinions.supports_size(width, height):
        return 0.0
    opinions.opinion(board)
    begin = time.monotonic()
    opinions.opinion(board)
    return time.monotonic() - begin
