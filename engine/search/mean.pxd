"""How much each child counts in its parent's mean. Figures alone: no tree, no rules."""

ctypedef struct MeanParams:
    double value_power         # 0: off
    double prune_scale         # 0: off
    double bias_share          # of a pattern's bias that is taken off (bias.pxd); 0: off
    bint plain                 # all three are off: a node's figures are sums over its visits

# Weights in and out: at first the edges' visits. q: parent's view; priors: highest first.
cdef void prune_noise(double* weights, const double* q, const double* priors, int n, double scale) noexcept nogil
cdef void favour_better(double* weights, const double* q, int n, double power) noexcept nogil
