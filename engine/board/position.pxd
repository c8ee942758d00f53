"""The Python face of a GoState, for compiled code that takes positions from Python."""

from .go cimport GoState

cdef class Position:
    cdef GoState* state       # owned; never NULL after __cinit__
    cdef readonly object rules
    cdef list _moves          # [(color, action)], since the set-up position
    cdef list _setup          # [(color, action)] stones of the set-up position
