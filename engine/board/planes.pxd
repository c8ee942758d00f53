"""Feature planes of every encoding, written straight into a batch row. Play and training encode with this alone."""

from .go cimport GoState
from .ladder cimport LadderCache

cdef enum:
    ENC_KATAGO_V3 = 3
    ENC_KATAGO_V4 = 4
    ENC_KATAGO_V5 = 5
    ENC_KATAGO_V6 = 6
    ENC_KATAGO_V7 = 7
    ENC_ALPHAGOZERO_17 = 17
    ENC_LEELAZERO_18 = 18
    ENC_DARKFOREST_25 = 25
    ENC_PATENT_17 = 117
    ENC_JUDGMENT_18 = 118
    ENC_SECOND = 256    # a pair is first + ENC_SECOND * second: planes and globals of one after those of the other

ctypedef struct EncodeOptions:
    int symmetry          # 0..7, applied to the planes; bits 1 = flip rows, 2 = flip columns, 4 = transpose
    int max_history       # moves of history shown, 0..5 (V3..V7); 0 also hides that a pass would end the game
    bint pass_alive_under_suicide  # the net's preferPassAliveUnderSuicideRules flag
    float draw_adjustment          # added to white's komi; 0 by default
    float playout_doubling_advantage

cdef void default_options(EncodeOptions* options) noexcept nogil
# "katago-v7" -> ENC_KATAGO_V7, "darkforest-25+katago-v7" -> the pair; ConfigError for an unknown name
cdef int encoding_code(str name) except -1
cdef int encoding_spatial(int encoding) noexcept nogil   # number of planes
cdef int encoding_global(int encoding) noexcept nogil    # number of global inputs
# Encode s with `to_play` to move. spatial: planes * H * W floats (NCHW row, row 0 = top row, Leela Zero's included),
# globals: encoding_global floats. Both are written whole (zeros included). With a transpose on a rectangle the planes
# are W x H: callers use it on squares only.
cdef void encode(
    int encoding, const GoState* s, int to_play, const EncodeOptions* options, LadderCache* cache,
    float* spatial, float* globals_) noexcept nogil
