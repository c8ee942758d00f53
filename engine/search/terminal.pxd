"""How a game that has ended counts: the score where the rules leave no question, else word that it must be judged."""

from libc.stdint cimport uint8_t

from engine.board.go cimport GoState

# Score of s after the final passes, black minus white minus komi. Returns 1 and fills owner[point] (BLACK, WHITE,
# EMPTY) if nothing is left to agree on; 0: the position has to be judged, score and owner mean nothing.
cdef bint settled_score(const GoState* s, float* score, uint8_t* owner) noexcept nogil
