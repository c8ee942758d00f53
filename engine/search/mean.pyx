"""How much each child counts in its parent's mean: visits, less what noise drew, more for the better moves.

A search visits moves to find out whether they are good. Once they are found to be bad, the visits they took say little
about the position, and a plain mean over visits is drawn down by them.

prune_noise: children by prior, highest first. One that is worse than the mean of those before it by a gap g keeps of
the weight beyond twice its share of the policy only exp(-g / scale).

favour_better: each weight is multiplied by (F(z) + 0.0001)^power, where z is the distance of the child's q from the
weighted mean in deviations 1 / sqrt(1.5 sqrt(weight)) of its mean, and F Student's distribution with three degrees of
freedom; then all are scaled back to the sum they had.

weight_of: an evaluation whose utility the net expects to be off by e counts coeff / (e^power + coeff / most).

Source of the ideas: KataGo (Wu), settings noisePruneUtilityScale, valueWeightExponent and useUncertainty.
"""

from libc.math cimport M_PI, atan, exp, pow, sqrt

cdef double LENIENT = 2.0       # shares of the policy that a move's visits may have whatever it is worth
cdef double PRECISION = 1.5     # of a mean over one visit: 1 / variance of the utility
cdef double LEAST = 0.0001      # chance to be the better move that is never gone


cdef double weight_of(const MeanParams* p, double error) noexcept nogil:
    return p.error_coeff / (pow(error, p.error_power) + p.error_coeff / p.most_weight)


cdef void prune_noise(double* weights, const double* q, const double* priors, int n, double scale) noexcept nogil:
    cdef double weight = 0.0, total = 0.0, mass = 0.0
    cdef double gap, share
    cdef int i
    for i in range(n):
        if weights[i] <= 0.0:
            continue
        if weight > 0.0 and mass > 0.0:
            gap = total / weight - q[i]
            share = LENIENT * weight * priors[i] / mass
            if gap > 0.0 and weights[i] > share:
                weights[i] = share + (weights[i] - share) * exp(-gap / scale)
        weight += weights[i]
        total += weights[i] * q[i]
        mass += priors[i]


cdef inline double student3(double x) noexcept nogil:
    """Return the chance of a value below x under Student's distribution with three degrees of freedom."""
    cdef double y = x / sqrt(3.0)
    return 0.5 + (y / (1.0 + y * y) + atan(y)) / M_PI


cdef void favour_better(double* weights, const double* q, int n, double power) noexcept nogil:
    cdef double weight = 0.0, total = 0.0, after = 0.0
    cdef double mean
    cdef int i
    for i in range(n):
        weight += weights[i]
        total += weights[i] * q[i]
    if weight <= 0.0:
        return
    mean = total / weight
    for i in range(n):
        if weights[i] > 0.0:
            weights[i] *= pow(student3((q[i] - mean) * sqrt(PRECISION * sqrt(weights[i]))) + LEAST, power)
            after += weights[i]
    for i in range(n):
        weights[i] *= weight / after


def weight_for_tests(double error, double coeff, double power, double most):
    """Return weight_of."""
    cdef MeanParams p
    p.error_coeff, p.error_power, p.most_weight = coeff, power, most
    return weight_of(&p, error)


def weights_for_tests(weights, q, priors, double prune_scale, double value_power):
    """Return the weights after both, each where its setting is not 0."""
    cdef double[626] w, values, p
    cdef int i
    for i in range(len(weights)):
        w[i], values[i], p[i] = weights[i], q[i], priors[i]
    if prune_scale != 0.0:
        prune_noise(&w[0], &values[0], &p[0], len(weights), prune_scale)
    if value_power != 0.0:
        favour_better(&w[0], &values[0], len(weights), value_power)
    return [w[i] for i in range(len(weights))]
