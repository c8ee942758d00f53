"""Reads the fields of a query, one function a kind of value. A wrong value is a FieldError that names its field."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from typing import Any

from engine.board.rules import Rules, parse_rules
from engine.board.vertex import format_vertex, parse_vertex
from engine.errors import ConfigError, EngineError
from engine.search.root import MoveLimit

from .query import Move

MOST_VISITS = 1 << 30  # the search counts in 32 bits
MOST_KOMI = 150
COLORS = {"b": 1, "black": 1, "w": 2, "white": 2}


class FieldError(Exception):
    """A value that cannot be used. Args: the field of the query, what is wrong with it."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


def whole(data: Mapping[str, Any], key: str, low: int, high: int, default: int | None = None) -> int | None:
    """Return a whole number, or the default where there is none; more than high becomes high."""
    value = data.get(key)
    if value is None:
        return default
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise FieldError(key, f"must be a whole number from {low} on")
    return min(value, high)


def number(data: Mapping[str, Any], key: str, low: float, high: float) -> float | None:
    """Return a number, None where there is none; more than high becomes high."""
    value = data.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < low:
        raise FieldError(key, f"must be a number from {low:g} on")
    return min(float(value), high)


def flag(data: Mapping[str, Any], key: str) -> bool:
    """Return true or false, false where there is nothing."""
    value = data.get(key)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise FieldError(key, "must be true or false")


def color(value: Any, key: str) -> int:
    """Return BLACK or WHITE."""
    found = COLORS.get(value.lower()) if isinstance(value, str) else None
    if found is None:
        raise FieldError(key, "must be B or W")
    return found


def size(data: Mapping[str, Any]) -> tuple[int, int]:
    """Return width and height: those named, the other the same, 19x19 if none is."""
    across, down = (whole(data, key, 2, 1 << 20) for key in ("boardXSize", "boardYSize"))
    width, height = across or down or 19, down or across or 19
    for key, value in (("boardXSize", width), ("boardYSize", height)):
        if value > 25:
            raise FieldError(key, "must be a whole number from 2 to 25")
    return width, height


def komi(data: Mapping[str, Any]) -> float | None:
    """Return the komi, a multiple of a half."""
    value = data.get("komi")
    if value is None:
        return None
    fine = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST_KOMI
    if not fine or not float(2 * value).is_integer():
        raise FieldError("komi", f"must be a whole number or half of one, from -{MOST_KOMI} to {MOST_KOMI}")
    return float(value)


def rules(data: Mapping[str, Any], default: Rules) -> Rules:
    """Return the rules: a name, or an object with some of KataGo's keys; and the bonus that stands outside."""
    value, found = data.get("rules"), default
    if isinstance(value, (str, dict)):
        try:
            found = _rules(value if isinstance(value, str) else json.dumps(value))
        except ConfigError as error:
            raise FieldError("rules", str(error).removeprefix("rules: ")) from None
    elif value is not None:
        raise FieldError("rules", "must be a name or an object")
    bonus = data.get("whiteHandicapBonus")
    if bonus is None:
        return found
    try:
        return found.with_value("whiteHandicapBonus", str(bonus))
    except ConfigError as error:
        raise FieldError("whiteHandicapBonus", str(error).removeprefix("rules: ")) from None


@functools.lru_cache(64)
def _rules(text: str) -> Rules:
    return parse_rules(text)


@functools.lru_cache(64)
def _known_moves(width: int, height: int) -> dict[str, dict[str, Move]]:
    """Return color → vertex as it is usually written → the move."""
    names = [format_vertex(action, width, height) for action in range(width * height + 1)]
    return {
        letter: {name: (number, action) for action, name in enumerate(names)} for letter, number in (("B", 1), ("W", 2))
    }


def moves(data: Mapping[str, Any], key: str, board: tuple[int, int]) -> list[Move]:
    """Return [[color, vertex], …] as moves."""
    values = data.get(key)
    if values is None:
        return []
    if not isinstance(values, list):
        raise FieldError(key, 'must be a list of pairs such as ["B", "D4"]')
    known = _known_moves(*board)
    try:
        return [known[player][vertex] for player, vertex in values]
    except (KeyError, TypeError, ValueError):
        return [_move(value, key, board) for value in values]  # written otherwise, or wrong


def _move(value: Any, key: str, board: tuple[int, int]) -> Move:
    if not (isinstance(value, list) and len(value) == 2 and all(isinstance(word, str) for word in value)):
        raise FieldError(key, f'not a pair such as ["B", "D4"]: {json.dumps(value)[:80]}')
    return color(value[0], key), vertex(value[1], key, board)


def vertex(value: Any, key: str, board: tuple[int, int]) -> int:
    """Return the action of a vertex."""
    try:
        if isinstance(value, str):
            return parse_vertex(value, *board)
    except EngineError:
        pass
    raise FieldError(key, f"no point of a {board[0]}x{board[1]} board: {json.dumps(value)[:80]}")


def move_limits(data: Mapping[str, Any], key: str, board: tuple[int, int]) -> tuple[MoveLimit, ...]:
    """Return [{player, moves, untilDepth}, …]; entries for the same player and depth are one."""
    values = data.get(key)
    if values is None:
        return ()
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise FieldError(key, "must be a list of objects with player, moves and untilDepth")
    found: dict[tuple[int, int], set[int]] = {}
    for value in values:
        player = color(value.get("player"), key)
        depth = value.get("untilDepth")
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
            raise FieldError(key, "untilDepth must be a whole number from 1 on")
        named = value.get("moves")
        if not isinstance(named, list):
            raise FieldError(key, "moves must be a list of points")
        for unknown in value.keys() - {"player", "moves", "untilDepth"}:
            raise FieldError(key, f"unknown key {unknown[:40]}")
        actions = {vertex(word, key, board) for word in named}
        place = player, min(depth, 1 << 20)
        found.setdefault(place, set()).update(actions)
    if len(found) > 8:
        raise FieldError(key, "too many different depths")
    return tuple(MoveLimit(player, tuple(sorted(actions)), depth) for (player, depth), actions in found.items())
