"""KataGo's input versions 3 to 7 (docs/nets.md §2, §3); planes.pxd dispatches to them."""

from .go cimport GoState
from .ladder cimport LadderCache
from .plane_row cimport Row
from .planes cimport EncodeOptions

# row.out and globals_ are all zeros on entry.
cdef void encode_katago(
    int encoding, const GoState* s, int to_play, const EncodeOptions* options, LadderCache* cache,
    const Row* row, float* globals_) noexcept nogil
