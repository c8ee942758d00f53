"""The eight symmetries of a board, on actions, policies and point maps. numpy only.

Bits of a symmetry: 1 = flip rows, 2 = flip columns, 4 = transpose. Planes are flipped first and then transposed
(docs/nets.md §2.6); `transform_*` do to a policy or a point map what encoding does to the planes, and with
`inverse=True` they bring what a net said of transformed planes back to the position's own orientation.
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)


@cache
def symmetry_table(width: int, height: int, symmetry: int) -> NDArray[np.int64]:
    """Return [A]: the action that each action becomes; pass stays. The array is shared and read-only.

    Args:
        width, height: of the board. A transposed rectangle is `height` wide and `width` high.
        symmetry: 0..7.

    Raises:
        ValueError: if the symmetry is none of the eight.
    """
    if not 0 <= symmetry <= 7:
        raise ValueError(f"symmetry must be in 0..7, not {symmetry}")
    cells = np.arange(width * height, dtype=np.int64)
    board = cells.reshape((width, height) if symmetry & 4 else (height, width))  # where each cell will stand
    if symmetry & 4:
        board = board.T
    if symmetry & 2:
        board = board[:, ::-1]
    if symmetry & 1:
        board = board[::-1]
    table = np.append(board.reshape(-1), width * height)
    table.flags.writeable = False
    return table


def inverse_symmetry(symmetry: int) -> int:
    """Return the symmetry that undoes one: the flips change places under a transpose."""
    if symmetry & 4:
        return 4 | ((symmetry & 1) << 1) | ((symmetry & 2) >> 1)
    return symmetry


def transform_policy(
    policy: NDArray[Scalar], width: int, height: int, symmetry: int, *, inverse: bool = False
) -> NDArray[Scalar]:
    """Move policy entries [..., A] as the planes move; `inverse` brings a net's answer back.

    Args:
        width, height: of the position, before any symmetry, in both directions.
    """
    table = symmetry_table(width, height, symmetry)
    if policy.shape[-1] != table.size:
        raise ValueError(f"a policy of {table.size} actions is needed, not of shape {policy.shape}")
    if inverse:
        return np.ascontiguousarray(policy[..., table])
    moved = np.empty_like(policy)
    moved[..., table] = policy
    return moved


def transform_ownership(
    ownership: NDArray[Scalar], width: int, height: int, symmetry: int, *, inverse: bool = False
) -> NDArray[Scalar]:
    """Move point values [..., P] (row-major) as the planes move; `inverse` brings a net's answer back."""
    table = symmetry_table(width, height, symmetry)[:-1]
    if ownership.shape[-1] != table.size:
        raise ValueError(f"a map of {table.size} points is needed, not of shape {ownership.shape}")
    if inverse:
        return np.ascontiguousarray(ownership[..., table])
    moved = np.empty_like(ownership)
    moved[..., table] = ownership
    return moved
