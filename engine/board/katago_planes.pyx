"""KataGo's inputs, versions 3 to 7: stones, liberties, bans, history, ladders, areas and the globals.

Source: docs/nets.md §2, §3; that page also says what was checked against KataGo's own answers. There is no encore play,
so the encore's planes and globals stay zero.
"""

from libc.math cimport floor
from libc.string cimport memset

from .go cimport go_breaks_superko, go_count_liberties, go_is_legal_simple, go_pass_ends
from .ladder cimport LadderReading, ladder_find, ladder_read
from .past cimport hash_change, past_colors, past_ko
from .plane_row cimport fill, mark, mark_bits
from .planes cimport ENC_KATAGO_V3, ENC_KATAGO_V4, ENC_KATAGO_V5, ENC_KATAGO_V6, ENC_KATAGO_V7
from .scoring cimport full_area, independent_life_area, pass_alive_area, white_bonus
from .types cimport (
    BLACK, EMPTY, KO_POSITIONAL, KO_SIMPLE, MAX_POINTS, NO_POINT, PASS, SCORING_AREA, SCORING_TERRITORY, TAX_ALL,
    TAX_NONE, WHITE, uint8_t, uint64_t,
)


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
    # After one pass under friendlyPassOk the net must not take the next pass for the end: the history is hidden.
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


# ---- ladders, now and on the boards before ---------------------------------------------------------------------------

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


# ---- globals ---------------------------------------------------------------------------------------------------------

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
        int encoding, const GoState* s, int to_play, bint pass_ends, const EncodeOptions* options,
        float* g) noexcept nogil:
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
