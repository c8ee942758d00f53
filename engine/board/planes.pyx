"""Feature planes and global inputs of every encoding (docs/nets.md): the dispatch, and those that only show boards.

Compiled code calls `encode` with a ladder cache of its thread and writes straight into a batch row; Python calls
`encode_position` or `encode_into`. All planes have row 0 at the top; a Leela Zero net, whose rows count from the
bottom, flips rows on entry and exit itself.
"""

import difflib
import threading

import cython
import numpy as np

from libc.string cimport memset

from .darkforest_planes cimport encode_darkforest
from .katago_planes cimport encode_katago
from .ladder cimport LadderReading, ladder_cache_clear, ladder_cache_free, ladder_cache_new, ladder_read
from .plane_row cimport Row, fill, mark_bits
from .position cimport Position
from .types cimport BLACK, WHITE

from engine.board.symmetry import inverse_symmetry, symmetry_table, transform_ownership, transform_policy
from engine.errors import ConfigError

__all__ = [
    "ENCODINGS", "clear_ladder_cache", "encode_into", "encode_position", "inverse_symmetry",
    "ladder_cache_counts", "read_ladders", "symmetry_table", "transform_ownership", "transform_policy",
]

CODES = {
    "katago-v3": ENC_KATAGO_V3,
    "katago-v4": ENC_KATAGO_V4,
    "katago-v5": ENC_KATAGO_V5,
    "katago-v6": ENC_KATAGO_V6,
    "katago-v7": ENC_KATAGO_V7,
    "alphagozero-17": ENC_ALPHAGOZERO_17,
    "leelazero-18": ENC_LEELAZERO_18,
    "darkforest-25": ENC_DARKFOREST_25,
    "patent-17": ENC_PATENT_17,
    "judgment-18": ENC_JUDGMENT_18,
}
ENCODINGS = {name: (encoding_spatial(code), encoding_global(code)) for name, code in CODES.items()}

cdef int encoding_code(str name) except -1:
    if "+" in name:
        first, _, second = name.partition("+")
        return single_code(first) + <int>ENC_SECOND * single_code(second)
    return single_code(name)


cdef int single_code(str name) except -1:
    code = CODES.get(name)
    if code is None:
        near = difflib.get_close_matches(str(name), CODES, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ConfigError(f"unknown encoding: {name!r}{hint}")
    return code


cdef void default_options(EncodeOptions* options) noexcept nogil:
    options.symmetry = 0
    options.max_history = 5
    options.pass_alive_under_suicide = False
    options.draw_adjustment = 0
    options.playout_doubling_advantage = 0


cdef int encoding_spatial(int encoding) noexcept nogil:
    if encoding >= ENC_SECOND:
        return encoding_spatial(encoding % ENC_SECOND) + encoding_spatial(encoding // ENC_SECOND)
    if encoding == ENC_KATAGO_V5:
        return 13
    if encoding == ENC_ALPHAGOZERO_17 or encoding == ENC_PATENT_17:
        return 17
    if encoding == ENC_LEELAZERO_18 or encoding == ENC_JUDGMENT_18:
        return 18
    if encoding == ENC_DARKFOREST_25:
        return 25
    return 22


cdef int encoding_global(int encoding) noexcept nogil:
    if encoding >= ENC_SECOND:
        return encoding_global(encoding % ENC_SECOND) + encoding_global(encoding // ENC_SECOND)
    if encoding == ENC_KATAGO_V7:
        return 19
    if encoding == ENC_KATAGO_V6:
        return 16
    if encoding == ENC_KATAGO_V5:
        return 12
    if encoding == ENC_KATAGO_V3 or encoding == ENC_KATAGO_V4:
        return 14
    return 0


cdef void encode(
        int encoding, const GoState* s, int to_play, const EncodeOptions* options, LadderCache* cache,
        float* spatial, float* globals_) noexcept nogil:
    cdef Row row
    cdef int first
    if encoding >= ENC_SECOND:
        first = encoding % ENC_SECOND
        encode(first, s, to_play, options, cache, spatial, globals_)
        encode(
            encoding // ENC_SECOND, s, to_play, options, cache,
            spatial + encoding_spatial(first) * s.geo.area, globals_ + encoding_global(first))
        return
    row.out = spatial
    row.geo = s.geo
    row.cell = &s.geo.symmetry[options.symmetry & 7][0]
    memset(spatial, 0, encoding_spatial(encoding) * s.geo.area * sizeof(float))
    if encoding == ENC_ALPHAGOZERO_17 or encoding == ENC_LEELAZERO_18:
        encode_zero(encoding, s, to_play, &row)
        return
    if encoding == ENC_PATENT_17 or encoding == ENC_JUDGMENT_18:
        encode_patent(encoding, s, to_play, &row)
        return
    if encoding == ENC_DARKFOREST_25:
        encode_darkforest(s, to_play, &row)
        return
    memset(globals_, 0, encoding_global(encoding) * sizeof(float))
    encode_katago(encoding, s, to_play, options, cache, &row, globals_)


cdef void encode_zero(int encoding, const GoState* s, int to_play, const Row* row) noexcept nogil:
    # AlphaGo Zero and Leela Zero: eight positions of each side, then who is to move. No globals.
    cdef int i, slot
    for i in range(min(8, s.n_past)):
        slot = (s.past_now - i) & 7
        mark_bits(row, i, s.past[slot][to_play - 1])
        mark_bits(row, 8 + i, s.past[slot][2 - to_play])
    if to_play == BLACK:
        fill(row, 16)
    elif encoding == ENC_LEELAZERO_18:
        fill(row, 17)


cdef void encode_patent(int encoding, const GoState* s, int to_play, const Row* row) noexcept nogil:
    # Eight positions of Black and of White, whoever is to move; then who that is.
    cdef int i, slot
    for i in range(min(8, s.n_past)):
        slot = (s.past_now - i) & 7
        mark_bits(row, i, s.past[slot][0])
        mark_bits(row, 8 + i, s.past[slot][1])
    if to_play == BLACK:
        fill(row, 16)
    elif encoding == ENC_JUDGMENT_18:
        fill(row, 17)


# ---- Python ----------------------------------------------------------------------------------------------------------

@cython.final
cdef class CacheOwner:
    cdef LadderCache* cache

    def __cinit__(self):
        self.cache = ladder_cache_new()

    def __dealloc__(self):
        ladder_cache_free(self.cache)


_of_thread = threading.local()


cdef CacheOwner thread_cache():
    try:
        return <CacheOwner>_of_thread.cache
    except AttributeError:
        _of_thread.cache = CacheOwner()
        return <CacheOwner>_of_thread.cache


def encode_position(
    position, encoding, *, to_play=None, symmetry=0, max_history=5, pass_alive_under_suicide=False, draw_adjustment=0.0,
    playout_doubling_advantage=0.0, out_spatial=None, out_globals=None,
):
    """Encode one position; see planes.pyi."""
    code = encoding_code(encoding)
    planes, n_globals = encoding_spatial(code), encoding_global(code)
    height, width = position.height, position.width
    if symmetry & 4:
        height, width = width, height
    spatial = np.empty((planes, height, width), dtype=np.float32) if out_spatial is None else out_spatial
    globals_ = np.empty(n_globals, dtype=np.float32) if out_globals is None else out_globals
    encode_into(
        position, encoding, spatial, globals_, to_play=to_play, symmetry=symmetry, max_history=max_history,
        pass_alive_under_suicide=pass_alive_under_suicide, draw_adjustment=draw_adjustment,
        playout_doubling_advantage=playout_doubling_advantage)
    return spatial, globals_


def encode_into(
    Position position, str encoding, spatial_row, globals_row, *, to_play=None, int symmetry=0, int max_history=5,
    bint pass_alive_under_suicide=False, float draw_adjustment=0, float playout_doubling_advantage=0,
):
    """Encode one position into a row of a batch; see planes.pyi."""
    cdef EncodeOptions options
    cdef int code = encoding_code(encoding)
    cdef int side = position.state.to_play if to_play is None else to_play
    cdef float[::1] spatial = flat(spatial_row, encoding_spatial(code) * position.state.geo.area, "spatial")
    cdef float[::1] globals_ = flat(globals_row, encoding_global(code), "globals")
    cdef CacheOwner owner = thread_cache()
    cdef float none = 0
    if side != BLACK and side != WHITE:
        raise ValueError(f"to_play must be 1 (Black) or 2 (White), not {to_play!r}")
    if symmetry < 0 or symmetry > 7:
        raise ValueError(f"symmetry must be in 0..7, not {symmetry}")
    options.symmetry = symmetry
    options.max_history = max_history
    options.pass_alive_under_suicide = pass_alive_under_suicide
    options.draw_adjustment = draw_adjustment
    options.playout_doubling_advantage = playout_doubling_advantage
    with nogil:
        encode(
            code, position.state, side, &options, owner.cache, &spatial[0],
            &globals_[0] if globals_.shape[0] > 0 else &none)


cdef object flat(array, Py_ssize_t size, str name):
    # The array as one dimension without a copy.
    if array.dtype != np.float32 or not array.flags.c_contiguous or array.size != size:
        raise ValueError(
            f"{name}: a C-contiguous float32 array of {size} values is needed, "
            f"not {array.dtype} of shape {tuple(array.shape)}")
    return array.reshape(-1)


def read_ladders(Position position):
    """Read all ladders of a position; see planes.pyi."""
    cdef CacheOwner owner = thread_cache()
    cdef const LadderReading* reading
    cdef Row row
    cdef int target
    cdef float[:, ::1] out = np.zeros((3, position.state.geo.area), dtype=np.float32)
    row.out = &out[0, 0]
    row.geo = position.state.geo
    row.cell = &position.state.geo.symmetry[0][0]
    for target in range(1, 3):
        reading = ladder_read(
            owner.cache, position.state.geo, position.state.color, position.state.hash, position.state.ko_point, target)
        mark_bits(&row, target, reading.works[target - 1])
        mark_bits(&row, 0, reading.in_ladder)
    boards = np.asarray(out).reshape(3, position.height, position.width).astype(np.uint8)
    return boards[0], boards[1], boards[2]


def ladder_cache_counts():
    """Count this thread's readings; see planes.pyi."""
    cdef CacheOwner owner = thread_cache()
    return owner.cache.hits, owner.cache.misses


def clear_ladder_cache():
    """Forget this thread's ladder readings."""
    ladder_cache_clear(thread_cache().cache)
