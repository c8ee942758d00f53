"""How much each child counts in its parent's mean. Figures alone: no tree, no rules."""

ctypedef struct MeanParams:
    double value_power         # 0: off
    double prune_scale         # 0: off
    double bias_share          # of a pattern's bias that is taken off (bias.pxd); 0: off
    bint uncertainty           # evaluations count by how sure the net is; the three settings of weight_of
    double error_coeff
    double error_power
    double most_weight
    bint plain                 # all are off: a node's figures are sums over its visits

# How much an evaluation counts whose utility is off by so much: most_weight for none.
cdef double weight_of(const MeanParams* p, double error) noexcept nogil
# Weights in and out: at first the edges' visits, each times the mean weight of the child's. q: parent's view; priors:
# highest first.
cdef void prune_noise(double* weights, const double* q, const double* priors, int n, double scale) noexcept nogil
cdef void favour_better(double* weights, const double* q, int n, double power) noexcept nogil
