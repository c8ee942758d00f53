"""How the planes of an encoding are stored: bits by default, and what encodings with other values declare here.

A record keeps what the play code made, exactly: packing raises where a value does not fit its declaration, so an
encoding that changes cannot be stored wrongly. Planes that are the same in every position of a size are not stored
but made again, by the play code, from an empty board.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError

Levels = Callable[[], NDArray[np.float32]]


class ShardError(EngineError):
    """A folder of labelled positions that is missing, damaged or of another kind."""


@dataclass(frozen=True, slots=True)
class PlaneCodes:
    """The planes of an encoding that are not stored as bits."""

    constant: tuple[int, ...] = ()  # the same in every position of a size: not stored
    levels: dict[int, Levels] = field(default_factory=dict)  # plane -> its possible values, at most 256: a byte a point
    exact: tuple[int, ...] = ()  # anything: float32, four bytes a point


@cache
def ages() -> NDArray[np.float32]:
    """Return 0 and the values exp(-0.1 t) that DarkForest's planes of stones' ages take (board/darkforest_planes)."""
    return np.array([0.0] + [math.exp(-0.1 * t) for t in range(161)], np.float32)


PLANE_CODES: dict[str, PlaneCodes] = {
    "darkforest-25": PlaneCodes(constant=(12, 13, *range(16, 25)), levels={10: ages, 11: ages}),
}


def codes_of(encoding: str) -> PlaneCodes:
    """Return how the planes of an encoding are stored."""
    return PLANE_CODES.get(encoding, PlaneCodes())


def bit_planes(encoding: str, spatial: int) -> list[int]:
    """Return the planes that are stored as bits, in order."""
    codes = codes_of(encoding)
    other = {*codes.constant, *codes.levels, *codes.exact}
    return [plane for plane in range(spatial) if plane not in other]


def plane_fields(encoding: str, spatial: int, size: int) -> list[tuple[Any, ...]]:
    """Return the fields of a record that hold planes: `planes` (bits), `levels` and `exact` where there are any."""
    codes, area = codes_of(encoding), size * size
    fields: list[tuple[Any, ...]] = [("planes", "u1", ((len(bit_planes(encoding, spatial)) * area + 7) // 8,))]
    if codes.levels:
        fields.append(("levels", "u1", (len(codes.levels), area)))
    if codes.exact:
        fields.append(("exact", "<f4", (len(codes.exact), area)))
    return fields


@cache
def constant_planes(encoding: str, size: int) -> NDArray[np.float32]:
    """Return the constant planes [n, P] of a board size."""
    from engine.board.planes import encode_position
    from engine.board.position import Position

    spatial, _ = encode_position(Position(size), encoding)
    return spatial[list(codes_of(encoding).constant)].reshape(-1, size * size)


def store_planes(records: NDArray[Any], encoding: str, planes: NDArray[np.float32]) -> None:
    """Write planes [B, C, H, W] into records [B].

    Raises:
        ShardError: a value is none that the encoding is declared to take; nothing is rounded.
    """
    codes, size = codes_of(encoding), planes.shape[-1]
    flat = planes.reshape(*planes.shape[:2], -1)
    binary = flat[:, bit_planes(encoding, planes.shape[1])]
    bits = binary != 0
    if not np.array_equal(bits, binary):
        raise ShardError(f"{encoding}: a plane that is not all 0 or 1 (declare it in engine/train/plane_store.py)")
    records["planes"] = np.packbits(bits.reshape(len(flat), -1), axis=1)
    if codes.constant and not (flat[:, list(codes.constant)] == constant_planes(encoding, size)).all():
        raise ShardError(f"{encoding}: a constant plane is not what an empty board has")
    for number, (plane, values) in enumerate(codes.levels.items()):
        order = np.argsort(values())
        found = order[np.searchsorted(values(), flat[:, plane], sorter=order).clip(max=len(order) - 1)]
        if not np.array_equal(values()[found], flat[:, plane]):
            raise ShardError(f"{encoding}: plane {plane} holds a value that is none of its levels")
        records["levels"][:, number] = found
    if codes.exact:
        records["exact"] = flat[:, list(codes.exact)]


def load_planes(records: NDArray[Any], encoding: str, spatial: int, size: int) -> NDArray[Any]:
    """Return planes [B, C, P]: uint8 where all are bits, else float32; exactly what was stored."""
    codes, area = codes_of(encoding), size * size
    stored = bit_planes(encoding, spatial)
    packed = np.ascontiguousarray(records["planes"])
    bits = np.unpackbits(packed, axis=1, count=len(stored) * area).reshape(len(records), len(stored), area)
    if len(stored) == spatial:
        return bits
    planes = np.empty((len(records), spatial, area), np.float32)
    planes[:, stored] = bits
    if codes.constant:
        planes[:, list(codes.constant)] = constant_planes(encoding, size)
    for number, (plane, values) in enumerate(codes.levels.items()):
        planes[:, plane] = values()[records["levels"][:, number]]
    if codes.exact:
        planes[:, list(codes.exact)] = records["exact"]
    return planes
