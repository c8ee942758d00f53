"""Writes answers: one JSON object a line, keys and figures as KataGo's clients read them.

Figures come in the view of the side that searched and leave in the view that was asked for. A net that judges nothing
gives priors and visits alone: winrates and scores are left out rather than made up.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.board.position import BLACK, WHITE
from engine.board.vertex import format_vertex
from engine.search.result import FloatArray, MoveInfo, SearchResult

from .query import Wanted

SIDES = {"black": BLACK, "white": WHITE}
SCALE = 10_000  # ownership is written with four decimals
_FOUR_DECIMALS = [f"{i / SCALE:g}" for i in range(-SCALE, SCALE + 1)]


def line(data: dict[str, Any]) -> str:
    """Return an object as one line."""
    return _text(data) + "\n"


def _text(data: dict[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"))


def error(text: str, *, field: str | None = None, number: Any = None, turn: int | None = None) -> str:
    """Return an error as one line."""
    data: dict[str, Any] = {"error": text}
    if field is not None:
        data["field"] = field
    if number is not None:
        data["id"] = number
    if turn is not None:
        data["turnNumber"] = turn
    return line(data)


def warning(text: str, field: str, number: str) -> str:
    """Return a warning as one line."""
    return line({"warning": text, "field": field, "id": number})


def no_results(number: str, turn: int) -> str:
    """Return the answer for a position that was never looked at."""
    return line({"id": number, "turnNumber": turn, "isDuringSearch": False, "noResults": True})


def result_line(
    number: str,
    turn: int,
    result: SearchResult,
    wanted: Wanted,
    *,
    during: bool,
    legal: NDArray[np.uint8] | None = None,
    judgment: dict[str, Any] | None = None,
) -> str:
    """Return what a search found, as one line.

    Args:
        during: more will follow.
        legal: [A], which actions are legal; needed where the policy is wanted.
        judgment: as `keisei judge --json` has it, where wanted.
    """
    flip = wanted.view != "sidetomove" and SIDES[wanted.view] != result.color
    shown = [info for info in result.moves if info.visits or not result.judged]  # none at the first visit, as KataGo
    infos = ",".join(move_info(info, result, wanted, flip) for info in shown)
    parts = [
        f'{{"id":{json.dumps(number)},"turnNumber":{turn},"isDuringSearch":{"true" if during else "false"}',
        f'"moveInfos":[{infos}]',
        f'"rootInfo":{root_info(result, flip)}',
    ]
    if wanted.ownership and result.ownership is not None:
        parts.append(f'"ownership":{signed(result.ownership, flip)}')
    if wanted.ownership_stdev and result.ownership_stdev is not None:
        parts.append(f'"ownershipStdev":{signed(result.ownership_stdev, False)}')
    if wanted.policy and legal is not None:
        parts.append(f'"policy":{policy(result.raw.policy, legal)}')
    if judgment is not None:
        parts.append(f'"judgment":{_text(judgment)}')
    return ",".join(parts) + "}\n"


# Perf: these are put together by hand: with json.dumps of dictionaries an answer of one visit took 0.17 ms, not 0.06.


def move_info(info: MoveInfo, result: SearchResult, wanted: Wanted, flip: bool) -> str:
    """Return one entry of moveInfos."""
    names = [f'"{name}"' for name in vertices(info.pv[: wanted.pv_length], result)]
    parts = [f'{{"move":{names[0]},"order":{info.order},"visits":{info.visits},"edgeVisits":{info.edge_visits}']
    if result.judged:
        bound = -info.utility_lcb if flip else info.utility_lcb
        parts.append(
            f'{figures(info, flip)},"lcb":{1.0 - info.lcb if flip else info.lcb:.6f},"utilityLcb":{bound:.6f},'
            f'"weight":{info.weight:.1f}'
        )
    parts.append(f'"prior":{info.prior:.6f},"pv":[{",".join(names)}]')
    if wanted.pv_visits:
        parts.append(f'"pvVisits":{_whole(info.pv_visits[: wanted.pv_length])}')
        parts.append(f'"pvEdgeVisits":{_whole(info.pv_edge_visits[: wanted.pv_length])}')
    if wanted.moves_ownership and info.ownership is not None:
        parts.append(f'"ownership":{signed(info.ownership, flip)}')
    return ",".join(parts) + "}"


def root_info(result: SearchResult, flip: bool) -> str:
    """Return rootInfo."""
    text = f'{{"currentPlayer":"{"B" if result.color == BLACK else "W"}","visits":{result.visits}'
    if not result.judged:
        return text + "}"
    raw, sign = result.raw, -1.0 if flip else 1.0
    return (
        f'{text},{figures(result, flip)},"weight":{result.visits:.1f},'
        f'"rawWinrate":{1.0 - raw.winrate if flip else raw.winrate:.6f},"rawLead":{sign * raw.lead:.6f},'
        f'"rawScoreSelfplay":{sign * raw.score_mean:.6f},"rawScoreSelfplayStdev":{raw.score_stdev:.6f}}}'
    )


def figures(found: MoveInfo | SearchResult, flip: bool) -> str:
    """Return what moves and the root have in common."""
    sign = -1.0 if flip else 1.0
    lead = f"{sign * found.lead:.6f}"
    return (
        f'"winrate":{1.0 - found.winrate if flip else found.winrate:.6f},"scoreLead":{lead},"scoreMean":{lead},'
        f'"scoreSelfplay":{sign * found.score_mean:.6f},"scoreStdev":{found.score_stdev:.6f},'
        f'"utility":{sign * found.utility:.6f}'
    )


def _whole(values: Sequence[int]) -> str:
    return "[" + ",".join(map(str, values)) + "]"


def vertices(actions: Sequence[int], result: SearchResult) -> list[str]:
    """Return actions as vertices."""
    return [format_vertex(action, result.width, result.height) for action in actions]


def signed(values: FloatArray, flip: bool) -> str:
    """Return a map in [-1, 1] as a JSON list, row by row from the top left."""
    whole = np.rint(np.clip(values.ravel(), -1.0, 1.0) * (-SCALE if flip else SCALE)).astype(np.int32) + SCALE
    return "[" + ",".join(map(_FOUR_DECIMALS.__getitem__, whole.tolist())) + "]"


def policy(values: FloatArray, legal: NDArray[np.uint8]) -> str:
    """Return the net's policy as a JSON list, pass last, -1 for what is illegal."""
    pairs = zip(values.tolist(), legal.tolist(), strict=True)
    return "[" + ",".join(f"{value:.6g}" if allowed else "-1" for value, allowed in pairs) + "]"
