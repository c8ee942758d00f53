"""The utility against plain numerical integration."""

import numpy as np
import pytest
from engine.search.utility import utility_for_tests


def bent(mean, stdev, scale):
    x = np.linspace(mean - 10 * stdev, mean + 10 * stdev, 200_001)
    density = np.exp(-0.5 * ((x - mean) / stdev) ** 2)
    return float((np.arctan(x / scale) * density).sum() / density.sum() * 2 / np.pi)


@pytest.mark.parametrize("mean", [-40.0, -3.5, 0.0, 0.5, 12.0])
@pytest.mark.parametrize("stdev", [2.0, 10.0, 25.0])
@pytest.mark.parametrize("center", [0.0, 8.0])
def test_the_quadrature_is_close(mean, stdev, center):
    weights = (1.0, 0.1, 0.3, 38.0, 14.25)
    expected = 0.4 + 0.1 * bent(mean, stdev, 38.0) + 0.3 * bent(mean - center, stdev, 14.25)
    assert utility_for_tests(0.4, mean, stdev, weights, center) == pytest.approx(expected, abs=2e-3)


def test_a_sure_score_and_symmetry():
    weights = (1.0, 0.5, 0.0, 38.0, 14.25)
    assert utility_for_tests(0.0, 38.0, 0.0, weights, 0.0) == pytest.approx(0.25)
    mirrored = -utility_for_tests(-0.3, -9.0, 5.0, weights, 0.0)
    assert utility_for_tests(0.3, 9.0, 5.0, weights, 0.0) == pytest.approx(mirrored)
