from typing import Any

import numpy as np
from numpy.typing import NDArray

def influence_map(board: NDArray[Any], k: float, diagonal: float, strength: float) -> NDArray[np.float64]: ...
