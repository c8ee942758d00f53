"""Constants and small structs shared by everything compiled. No functions."""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    EMPTY = 0
    BLACK = 1
    WHITE = 2          # the other color is 3 - color
    WALL = 3

cdef enum:
    MIN_SIZE = 2
    MAX_SIZE = 25
    MAX_AREA = 625     # points on the largest board
    MAX_ACTIONS = 626  # the last action of a board, index area, is pass
    MAX_POINTS = 703   # padded board: (25+2) rows of 25+1, one more at the end
    BIT_WORDS = 11     # 64-bit words that hold MAX_POINTS bits
    PASS = 0           # point 0 is a wall, so it doubles as the pass move
    NO_POINT = -1
    PAST = 8           # positions kept for history planes: now and the 7 before

cdef enum:
    KO_SIMPLE = 0
    KO_POSITIONAL = 1
    KO_SITUATIONAL = 2

cdef enum:
    SCORING_AREA = 0
    SCORING_TERRITORY = 1

cdef enum:
    TAX_NONE = 0
    TAX_SEKI = 1
    TAX_ALL = 2

cdef enum:
    BONUS_ZERO = 0     # white handicap bonus: none, N, N - 1
    BONUS_N = 1
    BONUS_N_MINUS_1 = 2

ctypedef struct Rules:
    int ko
    int scoring
    int tax
    int white_handicap_bonus
    bint suicide            # multi-stone suicide is legal (a single stone's never is a move: it changes nothing)
    bint has_button
    bint friendly_pass_ok
