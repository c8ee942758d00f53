"""Utility of an evaluation: the value and two bent views of the score (static and dynamic).

A score x counts as (2/pi) * atan(x / scale); the net's score is taken as a normal distribution, and the mean of the
bent score is summed at 17 points, half a standard deviation apart (good to 0.001 where the scale is above half of one).
Source of the shape: KataGo's paper (Wu 2019), on the score maximisation utility; the constants are settings.
"""

from libc.math cimport M_PI, atan

import numpy as np

cdef enum:
    QUADRATURE = 17

cdef double[QUADRATURE] points      # standard deviations from the mean
cdef double[QUADRATURE] weights


def _fill_tables():
    nodes = (np.arange(QUADRATURE) - QUADRATURE // 2) * 0.5
    masses = np.exp(-0.5 * nodes**2)
    for i in range(QUADRATURE):
        points[i] = nodes[i]
        weights[i] = masses[i] / masses.sum() * (2.0 / M_PI)


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


cdef double bent_slope(double mean, double stdev, double scale) noexcept nogil:
    """Return the derivative of `bent` by the mean."""
    cdef double total = 0.0
    cdef double x
    cdef int i
    if stdev <= 0.0:
        return scale / (scale * scale + mean * mean) * (2.0 / M_PI)
    for i in range(QUADRATURE):
        x = mean + stdev * points[i]
        total += weights[i] * scale / (scale * scale + x * x)
    return total


cdef double utility_slope(
    const UtilityParams* p, double score_mean, double score_stdev, int to_play
) noexcept nogil:
    """Return the derivative of utility_of by the score, the same for both sides."""
    cdef double center = p.center if to_play == p.root_color else -p.center
    return (p.static_weight * bent_slope(score_mean, score_stdev, p.static_scale)
            + p.dynamic_weight * bent_slope(score_mean - center, score_stdev, p.dynamic_scale))


def utility_for_tests(value, score_mean, score_stdev, weights_and_scales, center):
    """Return utility_of for the root color; weights: win, static, dynamic, and the scales of the two."""
    cdef UtilityParams p
    p.win_loss, p.static_weight, p.dynamic_weight, p.static_scale, p.dynamic_scale = weights_and_scales
    p.center = center
    p.root_color = 1
    return utility_of(&p, value, score_mean, score_stdev, 1)


def slope_for_tests(score_mean, score_stdev, weights_and_scales, center, color):
    """Return utility_slope for a color, where the root's is 1; the rest as above."""
    cdef UtilityParams p
    p.win_loss, p.static_weight, p.dynamic_weight, p.static_scale, p.dynamic_scale = weights_and_scales
    p.center = center
    p.root_color = 1
    return utility_slope(&p, score_mean, score_stdev, color)
