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
