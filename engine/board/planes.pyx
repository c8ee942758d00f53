"""Feature planes and global inputs of every encoding (NETFORMATS.md §2, §3, §5, §8): KataGo V3..V7, AlphaGo Zero, Leela Zero.

Compiled code calls `encode` with a ladder cache of its thread and writes straight into a batch row; Python calls
`encode_position` or `encode_into`. All planes have row 0 at the top; a Leela Zero net, whose rows count from the bottom,
flips rows on entry and exit itself.
"""

import difflib
import threading

import cython
import numpy as np

from libc.math cimport floor
from libc.string cimport memcpy, memset

from .bits cimport lowest_bit
from .geometry cimport Geometry, get_geometry
from .go cimport (
    go_breaks_superko, go_count_liberties, go_is_legal_simple, go_pass_ends,
)
from .ladder cimport (
    LadderReading, ladder_cache_clear, ladder_cache_free, ladder_cache_new, ladder_find, ladder_read,
)
from .position cimport Position
from .scoring cimport full_area, independent_life_area, pass_alive_area, white_bonus
from .types cimport (
    BIT_WORDS, BLACK, EMPTY, KO_POSITIONAL, KO_SIMPLE, MAX_POINTS, NO_POINT, PASS, SCORING_AREA, SCORING_TERRITORY,
    TAX_ALL, TAX_NONE, WHITE, int16_t, uint8_t, uint64_t,
)
from .zobrist cimport zobrist_stone

from engine.board.symmetry import inverse_symmetry, symmetry_table, transform_ownership, transform_policy
from engine.errors import ConfigError

__all__ = [
    "ENCODINGS", "clear_ladder_cache", "encode_into", "encode_position", "inverse_symmetry", "read_ladders",
    "symmetry_table", "transform_ownership", "transform_policy",
]

CODES = {
    "katago-v3": ENC_KATAGO_V3,
    "katago-v4": ENC_KATAGO_V4,
    "katago-v5": ENC_KATAGO_V5,
    "katago-v6": ENC_KATAGO_V6,
    "katago-v7": ENC_KATAGO_V7,
    "alphagozero-17": ENC_ALPHAGOZERO_17,
    "leelazero-18": ENC_LEELAZERO_18,
}
ENCODINGS = {name: (encoding_spatial(code), encoding_global(code)) for name, code in CODES.items()}

ctypedef struct Row:
    # Where the planes of one position go.
    float* out
    const int16_t* cell     # action -> cell, the symmetry's
    const Geometry* geo


cdef int encoding_code(str name) except -1:
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
    if encoding == ENC_KATAGO_V5:
        return 13
    if encoding == ENC_ALPHAGOZERO_17:
        return 17
    if encoding == ENC_LEELAZERO_18:
        return 18
    return 22


cdef int encoding_global(int encoding) noexcept nogil:
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
    row.out = spatial
    row.geo = s.geo
    row.cell = &s.geo.symmetry[options.symmetry & 7][0]
    memset(spatial, 0, encoding_spatial(encoding) * s.geo.area * sizeof(float))
    if encoding == ENC_ALPHAGOZERO_17 or encoding == ENC_LEELAZERO_18:
        encode_zero(encoding, s, to_play, &row)
        return
    memset(globals_, 0, encoding_global(encoding) * sizeof(float))
    encode_katago(encoding, s, to_play, options, cache, &row, globals_)


# ---- writing planes --------------------------------------------------------------------------------------------------

cdef inline void mark(const Row* row, int plane, int point) noexcept nogil:
    row.out[plane * row.geo.area + row.cell[row.geo.action_of_point[point]]] = 1


cdef inline void fill(const Row* row, int plane) noexcept nogil:
    cdef int i
    for i in range(row.geo.area):
        row.out[plane * row.geo.area + i] = 1


cdef void mark_bits(const Row* row, int plane, const uint64_t* bits) noexcept nogil:
    cdef int word
    cdef uint64_t rest
    for word in range(BIT_WORDS):
        rest = bits[word]
        while rest != 0:
            mark(row, plane, 64 * word + lowest_bit(rest))
            rest &= rest - 1


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


# ---- KataGo ----------------------------------------------------------------------------------------------------------

cdef void encode_katago(
        int encoding, const GoState* s, int to_play, const EncodeOptions* options, LadderCache* cache,
        const Row* row, float* globals_) noexcept nogil:
    cdef bint small = encoding == ENC_KATAGO_V5   # no liberties, ladders and areas
    cdef bint hidden = pass_is_friendly(s)
    cdef int shown = 0 if hidden else history_shown(s, to_play, options.max_history)
    cdef int i, move
    fill(row, 0)
    mark_stones(s, to_play, row, not small)
    mark_bans(s, to_play, row, 3 if small else 6)
    for i in range(shown):
        move = s.recent_move[(s.n_moves - 1 - i) & 7]
        if move == PASS:
            globals_[i] = 1
        else:
            mark(row, (6 if small else 9) + i, move)
    if not small:
        mark_ladders(s, to_play, shown, cache, row)
        mark_areas(encoding, s, to_play, options, row)
    write_globals(
        encoding, s, to_play, not hidden and options.max_history > 0 and go_pass_ends(s), options, globals_)


cdef bint pass_is_friendly(const GoState* s) noexcept nogil:
    # After one pass under friendlyPassOk the net must not take the next pass for the end: KataGo hides the history then.
    return (
        s.rules.friendly_pass_ok and s.rules.scoring == SCORING_AREA and s.n_passes == 1 and go_pass_ends(s))


cdef int history_shown(const GoState* s, int to_play, int most) noexcept nogil:
    # Moves back from now whose colors alternate, the opponent's first. After two passes only the last one is shown.
    cdef int count = 0
    if most > 5:
        most = 5
    if s.n_passes >= 2 and most > 1:
        most = 1
    while count < most and count < s.n_moves:
        if s.recent_color[(s.n_moves - 1 - count) & 7] != (to_play if count & 1 else 3 - to_play):
            break
        count += 1
    return count


cdef void mark_stones(const GoState* s, int to_play, const Row* row, bint liberties) noexcept nogil:
    cdef uint8_t count[MAX_POINTS]   # by head; 0 = not counted yet
    cdef int action, point, head
    if liberties:
        memset(count, 0, s.geo.n_points)
    for action in range(s.geo.area):
        point = s.geo.point_of_action[action]
        if s.color[point] == EMPTY:
            continue
        mark(row, 1 if s.color[point] == to_play else 2, point)
        if liberties:
            head = s.head[point]
            if count[head] == 0:
                count[head] = go_count_liberties(s, point, 4)
            if count[head] < 4:
                mark(row, 2 + count[head], point)


cdef void mark_bans(const GoState* s, int to_play, const Row* row, int plane) noexcept nogil:
    # The simple ko and what superko forbids to the side to move.
    cdef int action, point
    if s.ko_point != NO_POINT and s.ko_color == to_play:
        mark(row, plane, s.ko_point)
    if s.rules.ko == KO_SIMPLE:
        return
    for action in range(s.geo.area):
        point = s.geo.point_of_action[action]
        if s.color[point] == EMPTY and go_breaks_superko(s, point, to_play) and go_is_legal_simple(s, point, to_play):
            mark(row, plane, point)


cdef void mark_areas(
        int encoding, const GoState* s, int to_play, const EncodeOptions* options, const Row* row) noexcept nogil:
    cdef uint8_t area[MAX_POINTS]
    cdef bint suicide = s.rules.suicide or options.pass_alive_under_suicide
    cdef int action, point
    if encoding == ENC_KATAGO_V4:
        pass_alive_area(s, suicide, area)
    elif encoding == ENC_KATAGO_V3 or (s.rules.scoring == SCORING_AREA and s.rules.tax == TAX_NONE):
        full_area(s, suicide, area)
    elif s.rules.scoring == SCORING_AREA:
        independent_life_area(s, suicide, False, True, area)
    else:
        return
    for action in range(s.geo.area):
        point = s.geo.point_of_action[action]
        if area[point] != EMPTY:
            mark(row, 18 if area[point] == to_play else 19, point)


# ---- ladders, now and on the boards before -----------------------------------------------------------------------------

cdef void mark_ladders(const GoState* s, int to_play, int shown, LadderCache* cache, const Row* row) noexcept nogil:
    cdef const LadderReading* reading
    cdef uint64_t hash = s.hash
    cdef uint8_t colors[MAX_POINTS]
    cdef int ago, ko
    reading = ladder_read(cache, s.geo, s.color, hash, s.ko_point, 3 - to_play)
    mark_bits(row, 14, reading.in_ladder)
    mark_bits(row, 17, reading.works[2 - to_play])
    for ago in range(1, 3):
        if ago <= shown and ago < s.n_past:
            hash ^= hash_change(s, ago)
            ko = past_ko(s, ago)
            reading = ladder_find(cache, s.geo, hash, ko, EMPTY)
            if reading == NULL:
                past_colors(s, ago, colors)
                reading = ladder_read(cache, s.geo, colors, hash, ko, EMPTY)
        mark_bits(row, 14 + ago, reading.in_ladder)


cdef uint64_t hash_change(const GoState* s, int ago) noexcept nogil:
    # Keys of the stones by which the position `ago` plies ago differs from the next one.
    cdef int older = (s.past_now - ago) & 7, newer = (s.past_now - ago + 1) & 7
    cdef int side, word, point
    cdef uint64_t rest, change = 0
    for side in range(2):
        for word in range(BIT_WORDS):
            rest = s.past[older][side][word] ^ s.past[newer][side][word]
            while rest != 0:
                point = 64 * word + lowest_bit(rest)
                change ^= zobrist_stone[point][side + 1]
                rest &= rest - 1
    return change


cdef inline bint stands(const GoState* s, int slot, int color, int point) noexcept nogil:
    return (s.past[slot][color - 1][point >> 6] >> (point & 63)) & 1


cdef int past_ko(const GoState* s, int ago) noexcept nogil:
    # The simple-ko point of the position `ago` (1..6) plies ago: its last move, a lone stone with one liberty, had taken one stone.
    cdef int slot = (s.past_now - ago) & 7, before = (s.past_now - ago - 1) & 7
    cdef int move, color, word, taken = NO_POINT, near, i
    cdef uint64_t gone
    cdef int around[4]
    if ago + 1 >= s.n_past or ago >= s.n_moves:
        return NO_POINT
    move = s.recent_move[(s.n_moves - 1 - ago) & 7]
    color = s.recent_color[(s.n_moves - 1 - ago) & 7]
    if move == PASS or not stands(s, slot, color, move):
        return NO_POINT
    for word in range(BIT_WORDS):
        gone = s.past[before][2 - color][word] & ~s.past[slot][2 - color][word]
        if gone == 0:
            continue
        if taken != NO_POINT or gone & (gone - 1) != 0:
            return NO_POINT
        taken = 64 * word + lowest_bit(gone)
    if taken == NO_POINT:
        return NO_POINT
    around[0] = move - s.geo.stride
    around[1] = move - 1
    around[2] = move + 1
    around[3] = move + s.geo.stride
    for i in range(4):
        near = around[i]
        if near != taken and s.geo.action_of_point[near] >= 0 and near != PASS and not stands(s, slot, 3 - color, near):
            return NO_POINT
    return taken


cdef void past_colors(const GoState* s, int ago, uint8_t* colors) noexcept nogil:
    cdef int slot = (s.past_now - ago) & 7
    cdef int side, word
    cdef uint64_t rest
    memcpy(colors, s.geo.empty_board, s.geo.n_points)
    for side in range(2):
        for word in range(BIT_WORDS):
            rest = s.past[slot][side][word]
            while rest != 0:
                colors[64 * word + lowest_bit(rest)] = side + 1
                rest &= rest - 1


# ---- globals -----------------------------------------------------------------------------------------------------------

cdef double self_komi(const GoState* s, int to_play, double draw_adjustment) noexcept nogil:
    # White's points beside the area on the board, from the view of to_play. Under territory scoring every stone that a
    # side placed counts for the other, so that the area difference turns into a territory difference.
    cdef double white = white_bonus(s) + draw_adjustment
    if s.rules.scoring == SCORING_TERRITORY:
        white += s.setup_stones[BLACK] - s.setup_stones[WHITE] + s.placed[BLACK] - s.placed[WHITE]
    return white if to_play == WHITE else -white


cdef double parity_wave(double komi, int area) noexcept nogil:
    # Distance-like triangle wave of period 2 from the largest komi <= komi with the parity of the area.
    cdef double rest
    if area & 1:
        komi -= 1
    rest = komi - 2 * floor(komi / 2)
    if rest < 0.5:
        return rest
    if rest < 1.5:
        return 1 - rest
    return rest - 2


cdef void write_globals(
        int encoding, const GoState* s, int to_play, bint pass_ends, const EncodeOptions* options, float* g) noexcept nogil:
    cdef int area = s.geo.area
    cdef double bound = area + (20 if encoding == ENC_KATAGO_V7 else 1)
    cdef double komi = self_komi(s, to_play, options.draw_adjustment)
    cdef float wave = 0
    if komi > bound:
        komi = bound
    elif komi < -bound:
        komi = -bound
    if s.rules.scoring == SCORING_AREA:
        wave = parity_wave(komi, area)
    g[5] = komi / (20 if encoding >= ENC_KATAGO_V6 else 15)
    if s.rules.ko != KO_SIMPLE:
        g[6] = 1
        g[7] = 0.5 if s.rules.ko == KO_POSITIONAL else -0.5
    g[8] = s.rules.suicide
    g[9] = s.rules.scoring == SCORING_TERRITORY
    if encoding == ENC_KATAGO_V5:
        return
    if encoding < ENC_KATAGO_V5:
        g[12] = pass_ends
        g[13] = wave
        return
    g[10] = s.rules.tax != TAX_NONE
    g[11] = s.rules.tax == TAX_ALL
    g[14] = pass_ends
    if encoding == ENC_KATAGO_V6:
        g[15] = wave
        return
    g[15] = options.playout_doubling_advantage != 0
    g[16] = 0.5 * options.playout_doubling_advantage
    g[17] = s.rules.has_button and not s.button_taken
    g[18] = wave


# ---- Python ------------------------------------------------------------------------------------------------------------

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
    planes, n_globals = ENCODINGS[encoding] if encoding in ENCODINGS else (encoding_code(encoding), 0)
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


def clear_ladder_cache():
    """Forget this thread's ladder readings."""
    ladder_cache_clear(thread_cache().cache)
