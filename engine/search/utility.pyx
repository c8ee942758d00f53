"""Utility of an evaluation: the value and two bent views of the score (static and dynamic).

A score x counts as (2/pi) * atan(x / scale); the net's score is taken as a normal distribution and the mean of the bent
score is summed by Gauss-Hermite quadrature with 7 points. Source of the shape: KataGo's paper (Wu 2019), section on the
score maximisation utility; the constants are parameters.
"""

from libc.math cimport M_PI, M_SQRT2, atan, sqrt

import numpy as np

cdef enum:
    QUADRATURE = 7

cdef double[QUADRATURE] points
cdef double[QUADRATURE] weights


def _fill_tables():
    nodes, masses = np.polynomial.hermite.hermgauss(QUADRATURE)
    for i in range(QUADRATURE):
        points[i] = nodes[i] * M_SQRT2
        weights[i] = masses[i] / sqrt(M_PI) * (2.0 / M_PI)


_fill_tables()


cdef double bent(double mean, double stdev, double scale) noexcept nogil:
    """Return E[(2/pi) atan(X / scale)] for X normal."""
    cdef double total = 0.0
    cdef int i
    if stdev <= 0.0:
        return atan(mean / scale) * (2.0 / M_PI)
    for i in range(QUADRATURE):
        total += weights[i] * atan((mean + stdev * points[i]) / scale)
    return total


cdef double utility_of(
    const UtilityParams* p, double value, double score_mean, double score_stdev, int to_play
) noexcept nogil:
    """Return the utility for to_play of an evaluation in to_play's view."""
    cdef double utility = p.win_loss * value
    cdef double center = p.center if to_play == p.root_color else -p.center
    if p.static_weight != 0.0:
        utility += p.static_weight * bent(score_mean, score_stdev, p.static_scale)
    if p.dynamic_weight != 0.0:
        utility += p.dynamic_weight * bent(score_mean - center, score_stdev, p.dynamic_scale)
    return utility


def utility_for_tests(value, score_mean, score_stdev, weights_and_scales, center):
    """Return utility_of for the root color; weights: win, static, dynamic, and the scales of the two."""
    cdef UtilityParams p
    p.win_loss, p.static_weight, p.dynamic_weight, p.static_scale, p.dynamic_scale = weights_and_scales
    p.center = center
    p.root_color = 1
    return utility_of(&p, value, score_mean, score_stdev, 1)
