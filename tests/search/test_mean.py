"""How children count in a mean, worked out by hand, and the table of the net's biases against a dict."""

import math
import random

import pytest
from engine.search.bias import table_for_tests
from engine.search.mean import weights_for_tests


def test_what_is_no_worse_keeps_its_weight():
    assert weights_for_tests([10, 90], [0.1, 0.3], [0.9, 0.1], 0.15, 0) == [10, 90]


def test_what_is_worse_keeps_twice_its_share_and_a_part_of_the_rest():
    # The second child may have 2 * 40 * 0.1 / 0.8 = 10 visits whatever it is worth; of the other 20, exp(-0.3 / 0.15).
    assert weights_for_tests([40, 30], [0.2, -0.1], [0.8, 0.1], 0.15, 0) == pytest.approx(
        [40, 10 + 20 * math.exp(-2)])


def test_children_before_count_as_they_were_pruned():
    first = 10 + 20 * math.exp(-2)
    mean = (40 * 0.2 - first * 0.1) / (40 + first)
    fair = 2 * (40 + first) * 0.05 / 0.9
    third = fair + (20 - fair) * math.exp(-(mean + 0.5) / 0.15)
    assert weights_for_tests([40, 30, 20], [0.2, -0.1, -0.5], [0.8, 0.1, 0.05], 0.15, 0) == pytest.approx(
        [40, first, third])


def test_the_better_move_counts_more_and_the_sum_stays():
    # Student's distribution with 3 degrees of freedom has quantiles 0.765 (75 %) and 1.638 (90 %).
    # Means of 16 visits have a deviation of 1 / sqrt(1.5 * 4).
    apart = 0.7648923 * 2 / math.sqrt(6)
    better, worse = weights_for_tests([16, 16], [apart, 0.0], [0.5, 0.5], 0, 1.0)
    assert better == pytest.approx(32 * 0.7501 / 1.0002, abs=1e-4)
    assert worse == pytest.approx(32 * 0.2501 / 1.0002, abs=1e-4)


def test_nothing_and_one_child():
    assert weights_for_tests([], [], [], 0.15, 0.25) == []
    assert weights_for_tests([7], [-0.9], [0.01], 0.15, 0.25) == pytest.approx([7])
    assert weights_for_tests([0, 0], [0, 0], [0.5, 0.5], 0.15, 0.25) == [0, 0]


def test_the_table_is_a_dict():
    rng = random.Random(1)
    known, steps, expected = {}, [], []
    numbers = {}
    for _ in range(5000):
        if rng.random() < 0.002 and known:
            stay = {numbers[key] for key in known if rng.random() < 0.6}
            steps.append(("keep", stay))
            kept = [key for key in sorted(known, key=numbers.get) if numbers[key] in stay]
            renumbered = {key: i for i, key in enumerate(kept, 1)}
            expected.append({numbers[key]: renumbered[key] for key in kept})
            known, numbers = {key: known[key] for key in kept}, renumbered
            continue
        if rng.random() < 0.01:
            steps.append(("fade", 0.5))
            expected.append(None)
            known = {key: [error / 2, weight / 2] for key, (error, weight) in known.items()}
        key = rng.choice([rng.getrandbits(64), rng.randrange(1, 300) << 40])
        if key not in known:
            known[key], numbers[key] = [0.0, 0.0], len(numbers) + 1
        steps.append(("number", key))
        expected.append(numbers[key])
        error, weight = rng.uniform(-1, 1), rng.uniform(0, 5)
        steps.append(("add", numbers[key], error, weight))
        expected.append(None)
        known[key][0] += error * weight
        known[key][1] += weight
        steps.append(("mean", numbers[key]))
        total, weights = known[key]
        expected.append(pytest.approx(total / weights) if weights >= 0.001 else 0.0)
    assert table_for_tests(steps, 1 << 30) == expected
    assert len(known) > 200


def test_a_full_table_says_so_and_keeps_what_it_has():
    steps = [("number", key) for key in range(1, 400)] + [("number", 7), ("bytes",)]
    *numbers, again, held = table_for_tests(steps, 10000)
    assert again == 7
    assert numbers[:255] == list(range(1, 256)) and set(numbers[255:]) == {0}
    assert 0 < held <= 10000


def test_no_table_means_no_bias():
    assert table_for_tests([("mean", 0), ("bytes",)], 1 << 20) == [0.0, 0]
