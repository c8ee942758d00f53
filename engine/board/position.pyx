"""`Position`: the Python face of a game in progress, over a GoState that it owns. Checks what Python hands in."""

from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

from .geometry cimport get_geometry
from .go cimport (
    GoState, go_breaks_superko, go_copy, go_free, go_handicap, go_init, go_is_legal, go_is_legal_simple, go_is_possible,
    go_legal_mask, go_list_liberties, go_play, go_setup, go_situation_key,
)
from .types cimport (
    MAX_SIZE, MIN_SIZE,
    BLACK as C_BLACK, EMPTY as C_EMPTY, KO_POSITIONAL, KO_SIMPLE, KO_SITUATIONAL, MAX_AREA, MAX_POINTS, NO_POINT, PASS,
    SCORING_AREA, SCORING_TERRITORY, TAX_ALL, TAX_NONE, TAX_SEKI, BONUS_N, BONUS_N_MINUS_1, BONUS_ZERO,
    WHITE as C_WHITE, Rules as CRules, int16_t, uint8_t,
)

from engine.board.rules import Rules, parse_rules
from engine.board.vertex import format_vertex
from engine.errors import ConfigError, EngineError, IllegalMove, UnsupportedBoardSize

MOST_KOMI = 10_000  # any score fits; where to stop asking is the caller's affair

BLACK = C_BLACK
WHITE = C_WHITE
EMPTY = C_EMPTY

_KO_CODES = {"SIMPLE": KO_SIMPLE, "POSITIONAL": KO_POSITIONAL, "SITUATIONAL": KO_SITUATIONAL}
_SCORING_CODES = {"AREA": SCORING_AREA, "TERRITORY": SCORING_TERRITORY}
_TAX_CODES = {"NONE": TAX_NONE, "SEKI": TAX_SEKI, "ALL": TAX_ALL}
_BONUS_CODES = {"0": BONUS_ZERO, "N": BONUS_N, "N-1": BONUS_N_MINUS_1}


cdef int fill_rules(CRules* out, rules) except -1:
    out.ko = _KO_CODES[rules.ko]
    out.scoring = _SCORING_CODES[rules.scoring]
    out.tax = _TAX_CODES[rules.tax]
    out.white_handicap_bonus = _BONUS_CODES[rules.white_handicap_bonus]
    out.suicide = rules.suicide
    out.has_button = rules.has_button
    out.friendly_pass_ok = rules.friendly_pass_ok
    return 0


cdef float finite(komi) except? -1:
    if not -MOST_KOMI <= komi <= MOST_KOMI:
        raise ConfigError(f"komi is {komi!r}, not a number of points between -{MOST_KOMI} and {MOST_KOMI}")
    return komi + 0.0  # no negative zero


cdef class Position:
    """A game position with the history that rules and encodings need.

    Actions are row-major from the top left, 0..W*H-1; W*H is pass. Colors are BLACK (1) and WHITE (2).

    Args:
        width, height: 2..25 points; height defaults to width.
        rules: a Rules, a name, or a JSON object as text.
        komi: points for White; 7 on 9x9 and 7.5 elsewhere when not given.

    Raises UnsupportedBoardSize, or ConfigError on unknown rules or a komi that is no number.
    """

    def __cinit__(self, *args, **kwargs):
        self.state = <GoState*>calloc(1, sizeof(GoState))
        if self.state == NULL:
            raise MemoryError()
        self.state.geo = get_geometry(2, 2)  # so that even a Position without __init__ has a board to look at
        self._moves = []
        self._setup = []

    def __init__(self, width=19, height=None, *, rules="chinese-ogs", komi=None):
        cdef CRules c_rules
        rows = width if height is None else height
        if not (MIN_SIZE <= width <= MAX_SIZE and MIN_SIZE <= rows <= MAX_SIZE):  # before it becomes a C int
            raise UnsupportedBoardSize(f"unsupported board size: {width}x{rows} (2x2 to 25x25)")
        rules = rules if isinstance(rules, Rules) else parse_rules(rules)
        if komi is None:
            komi = 7.0 if width == 9 and rows == 9 else 7.5
        fill_rules(&c_rules, rules)
        go_free(self.state)
        go_init(self.state, get_geometry(width, rows), &c_rules, finite(komi))
        self.rules = rules
        self._moves = []
        self._setup = []
        self._setup_to_play = C_BLACK

    def __dealloc__(self):
        if self.state != NULL:
            go_free(self.state)
            free(self.state)

    # ------------------------------------------------------------------------------------------------ what it is

    @property
    def width(self):
        return self.state.geo.width

    @property
    def height(self):
        return self.state.geo.height

    @property
    def area(self):
        return self.state.geo.area

    @property
    def komi(self):
        return round(self.state.komi, 3)  # kept in single precision

    @property
    def to_play(self):
        """The side to move by default: the other side than the last mover, unless set."""
        return self.state.to_play

    @to_play.setter
    def to_play(self, color):
        color = self.color_or_default(color)
        if self.state.n_moves == 0:
            self.start(self._setup, color)
        else:
            self.state.to_play = color

    @property
    def moves(self):
        return list(self._moves)

    @property
    def setup_stones(self):
        return list(self._setup)

    @property
    def n_moves(self):
        return self.state.n_moves

    @property
    def handicap(self):
        return go_handicap(self.state)

    @property
    def ended(self):
        return bool(self.state.ended)

    @property
    def hash(self):
        return self.state.hash

    @property
    def ko_action(self):
        """The action that simple ko forbids to the side just captured from, or None."""
        if self.state.ko_point == NO_POINT:
            return None
        return self.state.geo.action_of_point[self.state.ko_point]

    def situation_key(self, color=None):
        """Return a 64-bit key of stones, side to move, ko, passes and button."""
        return go_situation_key(self.state, self.color_or_default(color))

    def board(self):
        """Return the colors as a new uint8 array [H, W]."""
        cdef int action
        cdef const GoState* s = self.state
        out = np.empty((s.geo.height, s.geo.width), dtype=np.uint8)
        cdef uint8_t[:, ::1] view = out
        cdef uint8_t* cells = &view[0, 0]
        for action in range(s.geo.area):
            cells[action] = s.color[s.geo.point_of_action[action]]
        return out

    def color_at(self, action):
        return self.state.color[self.point_at(action)]

    def chain(self, action):
        """Return the actions of the chain at a stone, sorted; empty on an empty point."""
        cdef int point = self.point_at(action)
        cdef int stone = point
        cdef list out = []
        if self.state.color[point] != C_EMPTY:
            while True:
                out.append(self.state.geo.action_of_point[stone])
                stone = self.state.next[stone]
                if stone == point:
                    break
        return sorted(out)

    def liberties(self, action):
        """Return the liberties of the chain at a stone, sorted; empty on an empty point."""
        cdef int16_t[MAX_AREA] found
        cdef int point = self.point_at(action)
        cdef int i, count = 0
        if self.state.color[point] != C_EMPTY:
            count = go_list_liberties(self.state, point, found, MAX_AREA)
        return sorted([self.state.geo.action_of_point[found[i]] for i in range(count)])

    def prisoners(self, color):
        """Return how many stones of that color were captured since the set-up."""
        return self.state.prisoners[self.color_or_default(color)]

    # ------------------------------------------------------------------------------------------------ moves

    def is_legal(self, action, color=None):
        """Tell whether the rules in force allow the action. Off the board is not legal."""
        if not 0 <= action <= self.state.geo.area:
            return False
        return bool(go_is_legal(self.state, self.state.geo.point_of_action[action], self.color_or_default(color)))

    def breaks_superko(self, action, color=None):
        """Tell whether only the superko rule forbids the action."""
        cdef int side = self.color_or_default(color)
        cdef int point
        if not 0 <= action < self.state.geo.area:
            return False
        point = self.state.geo.point_of_action[action]
        return bool(go_is_legal_simple(self.state, point, side) and go_breaks_superko(self.state, point, side))

    def legal_mask(self, color=None):
        """Return 1 for every legal action, uint8 [A], A = W*H + 1, pass last."""
        out = np.empty(self.state.geo.area + 1, dtype=np.uint8)
        cdef uint8_t[::1] view = out
        go_legal_mask(self.state, self.color_or_default(color), &view[0])
        return out

    def play(self, action, color=None, *, allow_superko=False, tolerant=False):
        """Play and return the number of stones captured (own ones if suicide).

        Raises IllegalMove and leaves the position as it was. allow_superko forgives a breach of superko; tolerant
        forgives any ko and the suicide of several stones too: what remains illegal is impossible under all rules.
        """
        cdef int side = self.color_or_default(color)
        cdef int point = PASS
        cdef int captured
        cdef bint legal
        if action != self.state.geo.area:
            if not 0 <= action < self.state.geo.area:
                raise IllegalMove(str(action), "off board")
            point = self.state.geo.point_of_action[action]
            if tolerant:
                legal = go_is_possible(self.state, point, side)
            else:
                legal = go_is_legal_simple(self.state, point, side)
            if not legal:
                raise IllegalMove(format_vertex(action, self.width, self.height), self.reason_against(point, side))
            if not (allow_superko or tolerant) and go_breaks_superko(self.state, point, side):
                raise IllegalMove(format_vertex(action, self.width, self.height), "superko")
        captured = go_play(self.state, point, side)
        self._moves.append((side, int(action)))
        return captured

    cdef str reason_against(self, int point, int side):
        if self.state.color[point] != C_EMPTY:
            return "occupied"
        if point == self.state.ko_point and side == self.state.ko_color:
            return "ko"
        return "suicide"

    def undo(self):
        """Take the last move back; a side to play set by hand is forgotten. EngineError at the set-up position."""
        if not self._moves:
            raise EngineError("cannot undo")
        self._moves.pop()
        self.replay(len(self._moves))

    cdef int replay(self, int count) except -1:
        # Start anew from the set-up. A game of 400 moves takes about 0.05 ms, so no snapshots are kept.
        cdef int color, action
        self.start(self._setup, self._setup_to_play)
        for color, action in self._moves[:count]:
            go_play(self.state, self.state.geo.point_of_action[action], color)
        return 0

    # ------------------------------------------------------------------------------------------------ set-up

    def set_up(self, stones, to_play=None):
        """Start from these (color, action) stones, history empty, Black to move unless told otherwise.

        Raises IllegalMove if a point is named twice or a chain would have no liberty; the position stays as it was.
        """
        cdef list wanted = [(self.color_or_default(color), int(action)) for color, action in stones]
        cdef int side = C_BLACK if to_play is None else self.color_or_default(to_play)
        cdef Position trial
        cdef int point
        taken = set()
        for _, action in wanted:
            if not 0 <= action < self.state.geo.area:
                raise IllegalMove(str(action), "off board")
            if action in taken:
                raise IllegalMove(format_vertex(action, self.width, self.height), "occupied")
            taken.add(action)
        trial = Position(self.width, self.height, rules=self.rules, komi=self.komi)
        trial.start(wanted, side)
        for _, action in wanted:
            point = self.state.geo.point_of_action[action]
            if trial.state.chain[trial.state.head[point]].libs == 0:
                raise IllegalMove(format_vertex(action, self.width, self.height), "suicide")
        self._setup = wanted
        self._setup_to_play = side
        self._moves = []
        self.start(wanted, side)

    cdef int start(self, list stones, int to_play) except -1:
        cdef uint8_t[MAX_POINTS] colors
        cdef int color, action
        memcpy(colors, self.state.geo.empty_board, sizeof(colors))
        for color, action in stones:
            colors[self.state.geo.point_of_action[action]] = color
        self._setup_to_play = to_play
        return go_setup(self.state, colors, to_play)

    def clear(self):
        """Empty the board; size, rules and komi stay."""
        self.set_up([])

    def set_komi(self, komi):
        """Set the points that White gets. Raises ConfigError if it is no finite number."""
        self.state.komi = finite(komi)

    def set_rules(self, rules):
        """Go on under other rules; moves already made stand, and superko looks back at them under the new rule."""
        cdef int to_play = self.state.to_play
        rules = rules if isinstance(rules, Rules) else parse_rules(rules)
        fill_rules(&self.state.rules, rules)
        self.rules = rules
        self.replay(len(self._moves))
        self.state.to_play = to_play

    def copy(self):
        """Return a position of its own, history included."""
        cdef Position other = Position.__new__(Position)
        go_copy(other.state, self.state)
        other.rules = self.rules
        other._moves = list(self._moves)
        other._setup = list(self._setup)
        other._setup_to_play = self._setup_to_play
        return other

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    # ------------------------------------------------------------------------------------------------ checks

    cdef int color_or_default(self, color) except -1:
        if color is None:
            return self.state.to_play
        if color != C_BLACK and color != C_WHITE:
            raise ValueError(f"invalid color: {color!r} (1 is Black, 2 White)")
        return color

    cdef int point_at(self, action) except -1:
        if not 0 <= action < self.state.geo.area:
            raise IndexError(f"no point with action {action}")
        return self.state.geo.point_of_action[action]
