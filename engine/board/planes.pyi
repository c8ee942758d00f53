import numpy as np
from numpy.typing import NDArray

from .position import Position
from .symmetry import inverse_symmetry as inverse_symmetry
from .symmetry import symmetry_table as symmetry_table
from .symmetry import transform_ownership as transform_ownership
from .symmetry import transform_policy as transform_policy

ENCODINGS: dict[str, tuple[int, int]]  # name -> planes, global inputs

def encode_position(
    position: Position,
    encoding: str,
    *,
    to_play: int | None = None,
    symmetry: int = 0,
    max_history: int = 5,
    pass_alive_under_suicide: bool = False,
    draw_adjustment: float = 0.0,
    playout_doubling_advantage: float = 0.0,
    out_spatial: NDArray[np.float32] | None = None,
    out_globals: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Encode one position; returns spatial [C, H, W] and globals [G] (or the given outputs), float32.

    Args:
        encoding: a name in ENCODINGS, or two of them joined by "+": the planes and globals of one after the other's.
        to_play: the side to move, by default the position's own.
        symmetry: 0..7, bits 1 = flip rows, 2 = flip columns, 4 = transpose (then the planes are [C, W, H]).
        max_history: moves of history shown by KataGo's encodings, 0..5; 0 also hides that a pass would end the game.
            The other encodings always show all that they know.
        pass_alive_under_suicide: the net's flag; pass-alive areas as if multi-stone suicide were legal.
        draw_adjustment: points added to White's komi (drawEquivalentWinsForWhite - 0.5 where results are integers).
        playout_doubling_advantage: katago-v7 only.

    Raises:
        ConfigError: if the encoding is unknown.
        ValueError: if an output has the wrong type or size, or an argument is out of range.

    Source: docs/nets.md §2, §3, §5, §8.
    """

def encode_into(
    position: Position,
    encoding: str,
    spatial_row: NDArray[np.float32],
    globals_row: NDArray[np.float32],
    *,
    to_play: int | None = None,
    symmetry: int = 0,
    max_history: int = 5,
    pass_alive_under_suicide: bool = False,
    draw_adjustment: float = 0.0,
    playout_doubling_advantage: float = 0.0,
) -> None:
    """Encode one position into a batch row: C-contiguous float32 of C*H*W and G values, any shape, written whole."""

def read_ladders(position: Position) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]:
    """Return three [H, W] maps: stones that can be captured in a ladder now, and the moves that start a working ladder
    against Black's and against White's chains of two liberties."""

def clear_ladder_cache() -> None:
    """Forget this thread's ladder readings and set its counts to 0."""

def ladder_cache_counts() -> tuple[int, int]:
    """Return how many boards this thread found already read, and how many it had to read."""
