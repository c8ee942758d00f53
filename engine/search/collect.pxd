"""The tree's figures as Python data."""

from .walk cimport Context

# SearchResult; root_priors: [n_priors], as searched, 0 where a move is banned.
cdef object collect_result(Context* x, object params, object options, object root_priors, object stats)
cdef object stored_priors(Context* x)
cdef object banned_priors(Context* x, object by_action)
