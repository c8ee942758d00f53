"""The Python face of a GoState, for compiled code that takes positions from Python."""

from .go cimport GoState

cdef class Position:
    cdef GoState* state       # owned; never NULL after __cinit__
    cdef readonly object rules
    cdef list _moves          # [(color, action)], since the set-up position
    cdef list _setup          # [(color, action)] stones of the set-up position
    cdef int _setup_to_play
    cdef int replay(self, int count) except -1
    cdef int start(self, list stones, int to_play) except -1
    cdef str reason_against(self, int point, int side)
    cdef int color_or_default(self, color) except -1
    cdef int point_at(self, action) except -1
