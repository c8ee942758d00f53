"""The tree's figures as Python data."""

from .node cimport Node
from .walk cimport Context

cdef list collect_moves(Context* x, object params, object root_priors, bint ownership)   # MoveInfo, best first
cdef object collect_raw(Context* x)                                                      # RawNet
cdef tuple collect_ownership(Context* x)                                                 # [H, W] mean and stdev, or (None, None)
cdef str proof_name(int proof)
