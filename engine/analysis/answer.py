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
    head = _text({"id": number, "turnNumber": turn, "isDuringSearch": during})
    infos = ",".join(move_info(info, result, wanted, flip) for info in result.moves)
    parts = [head[:-1], f'"moveInfos":[{infos}]', f'"rootInfo":{_text(root_info(result, flip))}']
    if wanted.ownership and result.ownership is not None:
        parts.append(f'"ownership":{signed(result.ownership, flip)}')
    if wanted.ownership_stdev and result.ownership_stdev is not None:
        parts.append(f'"ownershipStdev":{signed(result.ownership_stdev, False)}')
    if wanted.policy and legal is not None:
        parts.append(f'"policy":{policy(result.raw.policy, legal)}')
    if judgment is not None:
        parts.append(f'"judgment":{_text(judgment)}')
    return ",".join(parts) + "}\n"


def move_info(info: MoveInfo, result: SearchResult, wanted: Wanted, flip: bool) -> str:
    """Return one entry of moveInfos."""
    names = vertices(info.pv[: wanted.pv_length], result)
    data: dict[str, Any] = {"move": names[0], "order": info.order, "visits": info.visits}
    data["edgeVisits"] = info.edge_visits
    if result.judged:
        data |= figures(info, flip)
        data["lcb"] = chance(info.lcb, flip)
        data["utilityLcb"] = signed_number(info.utility_lcb, flip)
        data["weight"] = info.weight
    data["prior"] = round(info.prior, 6)
    data["pv"] = names
    if wanted.pv_visits:
        data["pvVisits"] = info.pv_visits[: wanted.pv_length]
        data["pvEdgeVisits"] = info.pv_edge_visits[: wanted.pv_length]
    text = _text(data)
    if wanted.moves_ownership and info.ownership is not None:
        return f'{text[:-1]},"ownership":{signed(info.ownership, flip)}}}'
    return text


def root_info(result: SearchResult, flip: bool) -> dict[str, Any]:
    """Return rootInfo."""
    data: dict[str, Any] = {"currentPlayer": "B" if result.color == BLACK else "W", "visits": result.visits}
    if result.judged:
        data |= figures(result, flip)
        data["weight"] = float(result.visits)
        data["rawWinrate"] = chance(result.raw.winrate, flip)
        data["rawLead"] = signed_number(result.raw.lead, flip)
        data["rawScoreSelfplay"] = signed_number(result.raw.score_mean, flip)
        data["rawScoreSelfplayStdev"] = round(result.raw.score_stdev, 6)
    return data


def figures(found: MoveInfo | SearchResult, flip: bool) -> dict[str, float]:
    """Return what moves and the root have in common."""
    lead = signed_number(found.lead, flip)
    return {
        "winrate": chance(found.winrate, flip),
        "scoreLead": lead,
        "scoreMean": lead,
        "scoreSelfplay": signed_number(found.score_mean, flip),
        "scoreStdev": round(found.score_stdev, 6),
        "utility": signed_number(found.utility, flip),
    }


def chance(value: float, flip: bool) -> float:
    """Return a probability, or the other side's."""
    return round(1.0 - value if flip else value, 6)


def signed_number(value: float, flip: bool) -> float:
    """Return a number, or its opposite."""
    return round(-value if flip else value, 6) + 0.0  # no minus zero


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
