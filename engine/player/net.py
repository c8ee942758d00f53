"""The net as the player sees it: on its way, loaded, or failed. Loads in a thread of its own.

Nothing here knows what a net file is: the factory hands in the function that loads.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from engine.errors import EngineError, WeightsError
from engine.player.stop import StopToken

if TYPE_CHECKING:
    from engine.evaluator import Evaluator
    from engine.judge.types import OpinionSource

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoadedNet:
    """An evaluator and what is known of its net."""

    evaluator: Evaluator
    name: str
    trained_sizes: frozenset[tuple[int, int]] | None = None  # (width, height); None if unknown or all
    opinions: OpinionSource | None = None  # whose word the judge takes; None: the evaluator's
    warned_sizes: set[tuple[int, int]] = field(default_factory=set, compare=False)  # said that they were not trained


class NetSource(Protocol):
    """Where the player gets its net from."""

    @property
    def arrived(self) -> bool:
        """True if `wait` would not have to."""
        ...

    def wait(self, token: StopToken) -> LoadedNet | None:
        """Wait for the net. None if the token was stopped first. Raises WeightsError if loading failed."""
        ...

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether the net can evaluate boards of this size; while that is unknown, say yes."""
        ...


class ReadyNet:
    """A net that is there already."""

    def __init__(self, net: LoadedNet) -> None:
        self._net = net

    @property
    def arrived(self) -> bool:
        return True

    def wait(self, token: StopToken) -> LoadedNet | None:
        return self._net

    def supports_size(self, width: int, height: int) -> bool:
        return self._net.evaluator.supports_size(width, height)


class BackgroundNet:
    """A net that a thread loads.

    Args:
        load: loads it; runs in the thread.
        ask_sizes: the net might refuse board sizes, so wait for it before saying that one is supported.
    """

    def __init__(self, load: Callable[[], LoadedNet], *, ask_sizes: bool = False) -> None:
        self._load = load
        self._ask_sizes = ask_sizes
        self._wanted = threading.Event()
        self._done = threading.Event()
        self._net: LoadedNet | None = None
        self._error: Exception | None = None

    def start(self, on_failure: Callable[[Exception], None], delay: float = 0.2) -> None:
        """Begin to load.

        Args:
            on_failure: called from the thread with the error if loading fails.
            delay: seconds until then, unless the net is needed earlier. Importing a big library holds up every other
                thread, and the first words of a session are to be answered at once.
        """
        threading.Thread(target=self._run, args=(on_failure, delay), name="net-loader", daemon=True).start()

    @property
    def arrived(self) -> bool:
        return self._done.is_set()

    def wait(self, token: StopToken) -> LoadedNet | None:
        self._wanted.set()
        while not self._done.wait(0.02):
            if token.stopped:
                return None
        return self._result()

    def supports_size(self, width: int, height: int) -> bool:
        if self._ask_sizes:
            self._wanted.set()
            self._done.wait()
        return self._net is None or self._net.evaluator.supports_size(width, height)

    def _result(self) -> LoadedNet:
        if self._net is None:
            raise self._error if isinstance(self._error, EngineError) else WeightsError("the net could not be loaded")
        return self._net

    def _run(self, on_failure: Callable[[Exception], None], delay: float) -> None:
        self._wanted.wait(delay)
        try:
            self._net = self._load()
        except Exception as error:
            self._error = error
            self._done.set()
            on_failure(error)
        self._done.set()
