"""The targets that a labelled position can carry: one table says of each how it is stored and how it turns.

A shard folder names the targets it holds; a kind of net (kinds.py) names those it learns from. To add a target, add a
line to TARGETS: writing, reading, mixing of folders and symmetries follow from it. All are in to_play's view.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

POLICY_STEPS = 16.0  # packed policies: 1 + 254 steps of 2**(-1/16) below the largest move; 0 = illegal or below
UNKNOWN_POINT = -128


@dataclass(frozen=True, slots=True)
class Target:
    """How one target is stored and what it becomes in a batch.

    `code` says both what is stored and how it turns under a symmetry of the board:
    "policy": [A] bytes of pack_policy, all 0 unknown → float32 [B, A] that adds up to 1 (or 0); turns as actions do.
    "points": [P] int8, 127 = 1, UNKNOWN_POINT unknown → float32 [B, P] in [-1, 1], NaN unknown; turns as points do.
    "classes": [P] uint8, 255 unknown → int64 [B, P], -1 unknown; turns as points do.
    "actions": [K] int16 actions, -1 unknown → int64 [B, K]; each action turns. K is the folder's `next_moves`.
    "action": one int16 action, -1 unknown → int64 [B]; turns.
    "number": one float16, NaN unknown → float32 [B].
    "sign": int8 1, -1 or 0 → float32 [B].
    """

    code: str
    doc: str


TARGETS: dict[str, Target] = {
    "policy": Target("policy", "the teacher's policy"),
    "ownership": Target("points", "the teacher's expected owner, 1 = certainly to_play's"),
    "value": Target("number", "the teacher's win - loss"),
    "no_result": Target("number", "the teacher's probability of no result"),
    "lead": Target("number", "the teacher's points ahead, komi included"),
    "score_mean": Target("number", "the teacher's expected final score, points"),
    "score_stdev": Target("number", "the teacher's standard deviation of the final score, points"),
    "played": Target("action", "the action that the record went on with"),
    "result": Target("sign", "who won the record: 1 to_play, -1 the other, 0 unknown"),
    "next": Target("actions", "the record's next K actions, to_play's first"),
    "final_score": Target("number", "points by which to_play won, komi included, under the sample's rules"),
    "final_ownership": Target("points", "owner of each point at the end of the record, 0 = neutral"),
    "search_policy": Target("policy", "visits of a search, divided by their sum (pi)"),
    "z": Target("number", "result of a self-play game: 1, 0, -1"),
    "territory": Target("points", "territory value g: 0 on living stones and dame, 1 on to_play's territory"),
    "point_class": Target("classes", "class of each point for the judgment net (see the kind that learns from it)"),
}
TEACHER_TARGETS = ("policy", "ownership", "value", "no_result", "lead", "score_mean", "score_stdev", "played", "result")
"""What a teacher's labels hold; in this order they are format 1's records."""
RECORD_TARGETS = ("next", "result", "final_score", "final_ownership")
"""What records alone can say."""

_STORED = {"policy": "u1", "points": "i1", "classes": "u1", "actions": "<i2", "action": "<i2", "number": "<f2"}


def field(name: str, size: int, next_moves: int) -> tuple[Any, ...]:
    """Return the field of a target in the structured record of a size x size board."""
    code, area = TARGETS[name].code, size * size
    lengths = {"policy": area + 1, "points": area, "classes": area, "actions": next_moves}
    kind = _STORED.get(code, "i1")
    return (name, kind, (lengths[code],)) if code in lengths else (name, kind)


def fill_unknown(records: NDArray[Any], names: Iterable[str]) -> None:
    """Write "unknown" into these targets of all records."""
    unknown = {"points": UNKNOWN_POINT, "classes": 255, "actions": -1, "action": -1, "number": np.nan}
    for name in names:
        records[name] = unknown.get(TARGETS[name].code, 0)


def decode(name: str, stored: NDArray[Any]) -> NDArray[Any]:
    """Return a target [B, ...] as training uses it (see Target), not yet turned."""
    code = TARGETS[name].code
    if code == "policy":
        return unpack_policy(stored)
    if code == "points":
        values = stored.astype(np.float32) / 127.0
        values[stored == UNKNOWN_POINT] = np.nan
        return values
    if code == "classes":
        return np.where(stored == 255, -1, stored.astype(np.int64))
    return stored.astype(np.int64 if code in ("action", "actions") else np.float32)


def turn(name: str, values: NDArray[Any], table: NDArray[np.int64]) -> NDArray[Any]:
    """Turn decoded values [B, ...] by a symmetry's table (old action → new action; engine.board.symmetry)."""
    code = TARGETS[name].code
    if code in ("points", "classes", "policy"):
        source = np.argsort(table)  # new action → old action; pass stays last
        return values[:, source[: values.shape[1]]]
    if code in ("action", "actions"):
        return np.where(values >= 0, table[values], -1)
    return values


def pack_policy(policy: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
    """Pack probabilities [..., A] into bytes: 255 - 16 * log2(max / p), rounded; 0 below 2**-15.9 of the largest.

    The relative error of one probability is at most 2.2 %. A row of zeros stays zeros: unknown.
    """
    top = policy.max(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.rint(255.0 + POLICY_STEPS * np.log2(policy / top))
    packed: NDArray[np.uint8] = np.where(policy > 0, np.maximum(steps, 0), 0).astype(np.uint8)
    return packed


_unpacked = np.where(np.arange(256) > 0, 2.0 ** ((np.arange(256) - 255.0) / POLICY_STEPS), 0.0).astype(np.float32)


def unpack_policy(packed: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return probabilities [..., A] that add up to one, or zeros where nothing is known."""
    policy = _unpacked[packed]
    policy /= np.maximum(policy.sum(axis=-1, keepdims=True), np.float32(1e-30))
    return policy


def pack_points(values: NDArray[np.floating[Any]]) -> NDArray[np.int8]:
    """Pack values in [-1, 1] a point; NaN becomes unknown."""
    packed: NDArray[np.int8] = np.where(np.isnan(values), UNKNOWN_POINT, np.rint(np.nan_to_num(values) * 127)).astype(
        np.int8
    )
    return packed
