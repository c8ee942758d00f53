"""The node at the end of a walk. All return a WALK_ of walk.pxd."""

from engine.board.go cimport GoState

from .node cimport Node
from .walk cimport Context, Leaf

cdef int new_leaf(Context* x, Leaf* leaf, bint passed) noexcept nogil     # passed: its last move is a pass
cdef int open_leaf(Context* x, Leaf* leaf) noexcept nogil                 # known to be in the middle of a game
cdef int out_of_memory(Context* x, Leaf* leaf) noexcept nogil
cdef bint same_moves(const Node* node, const GoState* s) noexcept nogil  # the node's moves are those legal in the state
