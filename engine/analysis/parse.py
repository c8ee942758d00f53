"""From the JSON object of a query to a Query. Whatever can be checked without a net is checked here, once."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

from engine import config
from engine.board.position import BLACK
from engine.board.rules import Rules, parse_rules
from engine.errors import ConfigError, EngineError, IllegalMove
from engine.player.settings import PlayerSettings
from engine.search.params import SearchParams
from engine.search.root import Limits, RootOptions

from . import fields
from .fields import FieldError
from .overrides import Overrides, read_overrides
from .query import Game, Query, Wanted
from .settings import VIEWS, AnalysisSettings

FLAGS = {
    "includeOwnership": "ownership",
    "includeOwnershipStdev": "ownership_stdev",
    "includeMovesOwnership": "moves_ownership",
    "includePolicy": "policy",
    "includePVVisits": "pv_visits",
    "includeJudgment": "judgment",
}
KEYS = frozenset(
    """
    id action moves initialStones initialPlayer rules whiteHandicapBonus komi boardXSize boardYSize analyzeTurns
    maxVisits priority priorities analysisPVLen reportDuringSearchEvery firstReportDuringSearchAfter avoidMoves
    allowMoves overrideSettings rootPolicyTemperature rootFpuReductionMax
    """.split()  # noqa: SIM905
) | frozenset(FLAGS)
MOST_PRIORITY = 1 << 40
MOST_SECONDS = 1e9
CACHE_A_VISIT = 4096  # bytes, enough on 25x25 without ownership
LEAST_INTERVAL = 0.01  # seconds between reports


@dataclasses.dataclass(frozen=True, slots=True)
class Defaults:
    """What holds where a query says nothing."""

    search: SearchParams
    player: PlayerSettings
    analysis: AnalysisSettings
    rules: Rules

    @classmethod
    def of(cls, search: SearchParams, player: PlayerSettings, analysis: AnalysisSettings) -> Defaults:
        """Return the defaults that settings give. Raises ConfigError."""
        return cls(search, player, analysis, parse_rules(player.rules))


def read_query(data: Mapping[str, Any], defaults: Defaults) -> Query:
    """Read a query. Raises FieldError."""
    number = data["id"]
    board = fields.size(data)
    overrides = _overrides(data)
    game = _game(data, board, defaults)
    turns = _turns(data, len(game.moves))
    query = Query(
        id=number,
        game=game,
        turns=turns,
        priorities=_priorities(data, len(turns)),
        limits=_limits(data, overrides, defaults),
        params=defaults.search,
        root=RootOptions(),
        wanted=_wanted(data, overrides, defaults),
        every=fields.number(data, "reportDuringSearchEvery", 0.0, MOST_SECONDS),
        first_after=fields.number(data, "firstReportDuringSearchAfter", 0.0, MOST_SECONDS),
    )
    if query.every is not None:
        query.every = max(query.every, LEAST_INTERVAL)
    query.params = _params(defaults.search, overrides, query.wanted, query.limits)
    query.root = _root(data, overrides, board, query.wanted)
    if defaults.analysis.warn_unused:
        query.warnings += [(key, "unknown key, passed over") for key in data if key not in KEYS]
        query.warnings += [("overrideSettings", f"no such setting here: {name}") for name in overrides.unknown]
    _check_moves(game, max(turns))
    return query


def _game(data: Mapping[str, Any], board: tuple[int, int], defaults: Defaults) -> Game:
    stones = fields.moves(data, "initialStones", board)
    moves = fields.moves(data, "moves", board)
    first = data.get("initialPlayer")
    to_play = (moves[0][0] if moves else BLACK) if first is None else fields.color(first, "initialPlayer")
    komi = fields.komi(data)
    if komi is None:
        komi = 7.0 if board == (9, 9) else 7.5
    return Game(*board, fields.rules(data, defaults.rules), komi, stones, moves, to_play)


def _turns(data: Mapping[str, Any], last: int) -> list[int]:
    values = data.get("analyzeTurns")
    if values is None:
        return [last]
    fine = isinstance(values, list) and all(type(turn) is int and 0 <= turn <= last for turn in values)
    if not fine or not values:
        raise FieldError("analyzeTurns", f"must be a list of turns from 0 to {last}, the number of moves")
    return list(dict.fromkeys(values))


def _priorities(data: Mapping[str, Any], count: int) -> list[int]:
    one = fields.whole(data, "priority", -MOST_PRIORITY, MOST_PRIORITY, 0)
    values = data.get("priorities")
    if values is None:
        return [one or 0] * count
    if not isinstance(values, list) or len(values) != count or not all(type(value) is int for value in values):
        raise FieldError("priorities", "must be a list of whole numbers, one for each of analyzeTurns")
    return [max(-MOST_PRIORITY, min(value, MOST_PRIORITY)) for value in values]


def _overrides(data: Mapping[str, Any]) -> Overrides:
    values = data.get("overrideSettings")
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise FieldError("overrideSettings", "must be an object")
    top = {key: data[key] for key in ("rootPolicyTemperature", "rootFpuReductionMax") if data.get(key) is not None}
    return read_overrides({**values, **top})


def _limits(data: Mapping[str, Any], overrides: Overrides, defaults: Defaults) -> Limits:
    visits = fields.whole(data, "maxVisits", 1, fields.MOST_VISITS)
    if visits is None:
        visits = _other(fields.whole, overrides, "visits", 1, fields.MOST_VISITS)
    if visits is None:
        visits = min(defaults.player.visits or defaults.analysis.visits, fields.MOST_VISITS)
    playouts = _other(fields.whole, overrides, "playouts", 1, fields.MOST_VISITS)
    seconds = _other(fields.number, overrides, "time", 0.0, MOST_SECONDS)
    return Limits(visits, playouts, defaults.player.time if seconds is None else seconds)


def _other(read: Any, overrides: Overrides, key: str, low: float, high: float) -> Any:
    try:
        return read(overrides.other, key, low, high)
    except FieldError as error:
        raise FieldError("overrideSettings", f"{key}: {error}") from None


def _wanted(data: Mapping[str, Any], overrides: Overrides, defaults: Defaults) -> Wanted:
    view = overrides.other.get("winrates_as", defaults.analysis.winrates_as)
    if not isinstance(view, str) or view.lower() not in VIEWS:
        raise FieldError("overrideSettings", "reportAnalysisWinratesAs must be BLACK, WHITE or SIDETOMOVE")
    length = fields.whole(data, "analysisPVLen", 0, 999)
    if length is None:
        length = _other(fields.whole, overrides, "pv_length", 0, 999)
    if length is None:
        length = defaults.analysis.pv_length
    return Wanted(view.lower(), length + 1, **{name: fields.flag(data, key) for key, name in FLAGS.items()})


@functools.lru_cache(64)
def _fitted(base: SearchParams, pv_length: int, cache: int) -> SearchParams:
    return dataclasses.replace(base, pv_length=pv_length, cache_memory=cache)


def _params(base: SearchParams, overrides: Overrides, wanted: Wanted, limits: Limits) -> SearchParams:
    """Return the settings of the search, with no more cache than its visits can fill: to clear it takes time."""
    assert limits.visits is not None
    wished = -(-min(limits.visits, limits.playouts or limits.visits) * CACHE_A_VISIT >> 20)
    params = _fitted(base, wanted.pv_length, min(base.cache_memory, wished if limits.visits > 1 else 0))
    for key, value in overrides.search.items():
        try:
            params = config.replace(params, key, value, section="search")
        except ConfigError as error:
            raise FieldError("overrideSettings", str(error)) from None
    return params


def _root(data: Mapping[str, Any], overrides: Overrides, board: tuple[int, int], wanted: Wanted) -> RootOptions:
    temperature = _other(fields.number, overrides, "policy_temperature", 0.01, 100.0)
    return RootOptions(
        avoid=fields.move_limits(data, "avoidMoves", board),
        allow=fields.move_limits(data, "allowMoves", board),
        policy_temperature=1.0 if temperature is None else temperature,
        ownership=wanted.ownership or wanted.ownership_stdev,
        moves_ownership=wanted.moves_ownership,
    )


def _check_moves(game: Game, last: int) -> None:
    """Play the game once. Raises FieldError in the words that clients look for; KataGo counts moves from 0."""
    try:
        game.start()
    except EngineError as error:
        raise FieldError("initialStones", f"Illegal stones: {error}") from None
    try:
        game.position(last)
    except IllegalMove as error:
        played = game._at.n_moves if game._at is not None else 0
        raise FieldError("moves", f"Illegal move {played}: {error.move} ({error.reason})") from None
