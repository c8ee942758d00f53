"""Takes lines apart: queries, actions, and what is neither; runs in the thread that reads, so errors come at once."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Protocol

from . import answer
from .fields import FieldError
from .parse import Defaults, read_query
from .query import Query

log = logging.getLogger(__name__)

MAX_LINE = 64 << 20  # bytes
GTP = re.compile(
    r"\s*\d*\s*(name|version|protocol_version|list_commands|known_command|boardsize|rectangular_boardsize|clear_board"
    r"|komi|play|genmove|undo|quit|showboard|stop|time_settings|time_left|fixed_handicap|place_free_handicap"
    r"|set_free_handicap|final_score|final_status_list|loadsgf|(lz|kata|kgs|gogui|gomill)-[a-z_-]+)(\s.*)?",
    re.ASCII | re.DOTALL,
)
ACTIONS = ("query_version", "query_models", "clear_cache", "terminate", "terminate_all")
WRONG_MODE = "this line is GTP, but this is the JSON analysis engine; for GTP start `keisei gtp`"


class Searches(Protocol):
    """What answers queries (Scheduler)."""

    def submit(self, query: Query) -> None: ...
    def terminate(self, number: str | None, turns: frozenset[int] | None = None) -> None: ...
    def clear(self) -> None: ...
    def call(self, action: Callable[[], None]) -> None: ...
    @property
    def waiting(self) -> int: ...


class Refusal(Exception):
    """A line that cannot be used. Args: what is wrong, the field, the id."""

    def __init__(self, text: str, field: str | None = None, number: Any = None) -> None:
        super().__init__(text)
        self.field, self.number = field, number


class Reader:
    """Does what lines ask for.

    Args:
        searches: answers queries.
        put: takes lines of answer; does not wait.
        defaults: what holds where a query says nothing.
        models: tells about the nets, once they are loaded.
    """

    KEPT_POSITIONS = 200  # of queries that wait; the others are played again when their turn comes

    def __init__(
        self,
        searches: Searches,
        put: Callable[[str], None],
        defaults: Defaults,
        models: Callable[[], list[dict[str, Any]]],
    ) -> None:
        self._searches, self._put, self._defaults, self._models = searches, put, defaults, models
        self._told_mode = False

    def line(self, data: bytes) -> None:
        """Act on one line, without its LF. Raises ClosedOutput."""
        if not data.strip():
            return
        try:
            self._act(self._object(data))
        except Refusal as refusal:
            self._put(answer.error(str(refusal), field=refusal.field, number=refusal.number))

    def _object(self, data: bytes) -> dict[str, Any]:
        """Return the JSON object of a line."""
        if len(data) > MAX_LINE:
            raise Refusal(f"Could not parse input line as json request: longer than {MAX_LINE >> 20} MiB")
        text = data.decode("utf-8-sig", errors="replace")
        if not text.lstrip().startswith("{") and GTP.fullmatch(text):
            if not self._told_mode:
                self._told_mode = True
                log.warning(WRONG_MODE)
            raise Refusal(f"Could not parse input line as json request: {WRONG_MODE}")
        try:
            value = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise Refusal(f"Could not parse input line as json request: {_short(error)}: {text[:80].strip()}") from None
        if not isinstance(value, dict):
            raise Refusal("Could not parse input line as json request: it is no object")
        return value

    def _act(self, data: dict[str, Any]) -> None:
        number = data.get("id")
        if not isinstance(number, str):
            raise Refusal("'id' must be there and be a text", "id", number if isinstance(number, int) else None)
        if data.get("action") is not None:
            self._action(data, number)
            return
        try:
            query = read_query(data, self._defaults)
        except FieldError as error:
            text = str(error) if str(error).startswith("Illegal") else f"{error.field}: {error}"
            raise Refusal(text, error.field, number) from None
        for field, text in query.warnings:
            self._put(answer.warning(text, field, number))
        if self._searches.waiting > self.KEPT_POSITIONS:
            query.game.forget()
        self._searches.submit(query)

    def _action(self, data: Mapping[str, Any], number: str) -> None:
        action = data["action"]
        if action not in ACTIONS:
            raise Refusal(f"'action' must be one of {', '.join(ACTIONS)}", "action", number)
        if action == "query_version":
            self._put(answer.line({"action": action, "id": number, "version": self._defaults.analysis.version,
                                   "git_hash": f"keisei-{_version()}"}))  # fmt: skip
        elif action == "query_models":
            self._searches.call(
                lambda: self._put(answer.line({"action": action, "id": number, "models": self._models()}))
            )
        elif action == "clear_cache":
            self._searches.call(self._searches.clear)
            self._put(answer.line({"action": action, "id": number}))
        else:
            self._terminate(data, number, action)

    def _terminate(self, data: Mapping[str, Any], number: str, action: str) -> None:
        reply: dict[str, Any] = {"action": action, "id": number}
        target = None
        if action == "terminate":
            target = data.get("terminateId")
            if not isinstance(target, str):
                raise Refusal("terminateId: must be there and be a text", "terminateId", number)
            reply["terminateId"] = target
        turns = data.get("turnNumbers")
        if turns is not None:
            if not isinstance(turns, list) or not all(type(turn) is int for turn in turns):
                raise Refusal("turnNumbers: must be a list of whole numbers", "turnNumbers", number)
            reply["turnNumbers"] = turns
        self._put(answer.line(reply))
        self._searches.terminate(target, None if turns is None else frozenset(turns))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _short(error: BaseException) -> str:
    return "too deep" if isinstance(error, RecursionError) else str(error)[:200]


def _version() -> str:
    from engine import __version__

    return __version__
