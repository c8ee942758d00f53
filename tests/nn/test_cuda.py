"""The evaluator on a real GPU against the CPU. Skipped where there is none."""

import dataclasses

import numpy as np
import pytest
import torch

from engine.nn.net import load_net
from engine.nn.net_evaluator import make_evaluator
from engine.nn.settings import NetSettings

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.mark.parametrize("key", ["b6", "b7kv", "b10"])
@pytest.mark.parametrize(("precision", "policy", "value"), [("float32", 1e-3, 1e-3), ("float16", 0.01, 0.005)])
def test_gpu_and_cpu_agree(net_file, key, precision, policy, value):
    net = load_net(net_file(key))
    cpu = make_evaluator(net, NetSettings(device="cpu", precision="float32"))
    gpu = make_evaluator(net, NetSettings(device="cuda:0", precision=precision))
    rng = np.random.default_rng(0)
    for rows in (1, 3, 8):
        spatial, globals_ = gpu.allocate(rows, 9, 9)
        spatial[:] = rng.integers(0, 2, spatial.shape)
        spatial[:, 0] = 1
        tickets = [gpu.submit(spatial, globals_, ownership=True) for _ in range(2)]
        wanted = cpu.evaluate(spatial, globals_, ownership=True)
        for ticket in tickets:
            found = gpu.result(ticket)
            chances = [np.exp(e.policy_logits - e.policy_logits.max(1, keepdims=True)) for e in (found, wanted)]
            a, b = (c / c.sum(1, keepdims=True) for c in chances)
            assert np.abs(a - b).max() < policy and np.abs(found.value - wanted.value).max() < value
            assert np.abs(found.ownership - wanted.ownership).max() < 0.02


def test_neighbours_change_nothing(net_file):
    gpu = make_evaluator(load_net(net_file("b6")), NetSettings(device="cuda:0"))
    spatial, globals_ = gpu.allocate(4, 19, 19)
    spatial[:, 0] = 1
    first = gpu.evaluate(spatial, globals_)
    spatial[1:] = 1 - spatial[1:]
    second = gpu.evaluate(spatial, globals_)
    for field in dataclasses.fields(first):
        if getattr(first, field.name) is not None:
            assert np.array_equal(getattr(first, field.name)[0], getattr(second, field.name)[0])
