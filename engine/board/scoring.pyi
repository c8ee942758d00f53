from typing import Any

import numpy as np
from numpy.typing import NDArray

from .position import Position

def pass_alive(position: Position, suicide: bool | None = None) -> NDArray[np.uint8]: ...
def area(position: Position, suicide: bool | None = None) -> NDArray[np.uint8]: ...
def independent_life(
    position: Position,
    suicide: bool | None = None,
    *,
    keep_territories: bool = False,
    keep_stones: bool = False,
) -> tuple[NDArray[np.uint8], int]: ...
def tromp_taylor(position: Position) -> tuple[NDArray[np.uint8], int]: ...
def dead_stones(position: Position, ownership: NDArray[np.floating[Any]]) -> NDArray[np.bool_]: ...
def territory(
    position: Position, dead: NDArray[np.bool_] | None = None, ownership: NDArray[Any] | None = None
) -> NDArray[np.uint8]: ...
def score(
    position: Position, dead: NDArray[np.bool_] | None = None, ownership: NDArray[Any] | None = None
) -> float: ...
