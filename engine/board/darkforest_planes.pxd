"""DarkForest's 25 planes, written into a batch row. What they mean: docs/nets.md §8.2."""

from .go cimport GoState
from .plane_row cimport Row

cdef void encode_darkforest(const GoState* s, int to_play, const Row* row) noexcept nogil
