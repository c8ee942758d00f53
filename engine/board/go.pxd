"""The state of a game of Go and the free nogil functions on it. Everything compiled above (scoring, ladder, planes,
search) calls these names; only go.pyx knows how chains are kept.

Color arguments are BLACK or WHITE; points are padded (types.pxd); PASS is a legal move for every function here that
takes a move, unless said otherwise.
"""

from .geometry cimport Geometry
from .types cimport (
    BIT_WORDS, MAX_POINTS, PAST, Rules, int16_t, int32_t, uint8_t, uint32_t, uint64_t,
)

ctypedef struct Chain:
    # Pseudo-liberties: an empty point counts once for each stone of the chain beside it.
    # Invariant: in atari iff libs * libs_sumsq == libs_sum * libs_sum and libs > 0.
    int32_t libs
    uint32_t libs_sum
    uint64_t libs_sumsq
    uint64_t hash            # xor of the stones' keys
    int32_t size

ctypedef struct GoState:
    const Geometry* geo
    Rules rules
    float komi

    uint8_t color[MAX_POINTS]
    int16_t head[MAX_POINTS]        # stone -> its chain's index into `chain` (a point of the chain)
    int16_t next[MAX_POINTS]        # stone -> next stone of its chain, circular
    Chain chain[MAX_POINTS]         # valid where head[p] == p
    int32_t placed_at[MAX_POINTS]   # stone -> n_moves just after it was played, 0 if it was set up

    int to_play                     # side to move by default: the other color of the last move's; see go_play
    int ko_point                    # simple ko: point that ko_color may not play, else NO_POINT
    int ko_color                    # the side just captured from; the other side may play there
    int n_passes                    # passes in a row at the end, not counting the one that took the button
    bint ended                      # two passes in a row (or by the button rule); play goes on regardless
    int n_moves                     # moves and passes since the set-up position
    bint button_taken               # button rules: a pass has taken the button
    int button_color                # who took it, else EMPTY

    # Counts by color (index BLACK, WHITE).
    int32_t prisoners[3]            # stones OF that color captured so far (suicide included)
    int32_t stones[3]               # on the board
    int32_t placed[3]               # board moves made by that color, passes excluded
    int32_t setup_stones[3]         # on the set-up position before the first move
    int handicap                    # stones that count for the handicap bonus: see go_handicap

    uint64_t hash                   # xor of the keys of all stones on the board
    # Last moves, a ring: move i ago (0 = last) is at (n_moves - 1 - i) & 7, valid while i < min(n_moves, 8).
    int16_t recent_move[8]
    uint8_t recent_color[8]
    # Positions i plies ago (0 = now) as bit sets over padded points; a ring, (past_now - i) & 7, valid for i < n_past.
    uint64_t past[PAST][2][BIT_WORDS]   # [slot][0 = black, 1 = white][word]
    int past_now
    int n_past

    # Superko: keys of every position since the set-up, the present one included. Owned; grown as needed.
    uint64_t* keys
    int32_t n_keys
    int32_t cap_keys
    bint scratch                    # from go_copy_board: moves record neither keys nor past nor superko
    uint64_t bloom[64]              # 4096 bits; a miss says that no earlier key equals
    uint64_t ever[BIT_WORDS]        # points that held a stone at any time since the set-up: elsewhere no move repeats

# Life time. A GoState starts zeroed (calloc or memset) or from go_init, which takes raw memory (go_free a live one
# first, or start it anew with go_setup); go_free releases the keys.
cdef int go_init(GoState* s, const Geometry* geo, const Rules* rules, float komi) except -1 nogil
cdef void go_free(GoState* s) noexcept nogil
# Keys too; dst, zeroed or live, keeps its own buffer.
cdef int go_copy(GoState* dst, const GoState* src) except -1 nogil
# The present position only: no keys, no superko; the ko point stays.
cdef int go_copy_board(GoState* dst, const GoState* src) except -1 nogil
# colors by padded point: a new set-up position without history.
cdef int go_setup(GoState* s, const uint8_t* colors, int to_play) except -1 nogil

# Moves.
# Ko, superko and suicide under s.rules.
cdef bint go_is_legal(const GoState* s, int point, int color) noexcept nogil
cdef bint go_is_legal_simple(const GoState* s, int point, int color) noexcept nogil    # the same without superko
# Under some rules: an empty point, no single-stone suicide.
cdef bint go_is_possible(const GoState* s, int point, int color) noexcept nogil
cdef bint go_breaks_superko(const GoState* s, int point, int color) noexcept nogil     # point is otherwise legal
# mask[action], area + 1 bytes; returns the count, pass included.
cdef int go_legal_mask(const GoState* s, int color, uint8_t* mask) noexcept nogil
# go_is_possible must hold; returns the stones captured (one's own, if suicide).
cdef int go_play(GoState* s, int point, int color) except -1 nogil
cdef bint go_pass_ends(const GoState* s) noexcept nogil                                # a pass now would end the game
cdef uint64_t go_hash_after(const GoState* s, int point, int color) noexcept nogil     # s.hash after that legal move

# Chains.
cdef int go_count_liberties(const GoState* s, int point, int stop_at) noexcept nogil   # exact, up to stop_at
cdef int go_list_liberties(const GoState* s, int point, int16_t* out, int stop_at) noexcept nogil
cdef bint go_in_atari(const GoState* s, int point) noexcept nogil
# The one liberty of a chain in atari.
cdef int go_atari_liberty(const GoState* s, int point) noexcept nogil

# What else encodings and the search key read.
# Black set-up stones and free opening moves, as KataGo counts them.
cdef int go_handicap(const GoState* s) noexcept nogil
cdef bint go_repeats(const GoState* s) noexcept nogil          # the present situation key stands earlier in keys
# Position, to_play, ko and pass state: for transposition and cache keys.
cdef uint64_t go_situation_key(const GoState* s, int to_play) noexcept nogil
