"""KataGo's own answers (`kata-raw-nn`, float32) on its four nets, through our planes, loader and evaluator."""

import pytest

from engine.nn.net import load_net
from engine.nn.net_evaluator import make_evaluator
from engine.nn.runtimes import openvino_missing
from engine.nn.settings import NetSettings

RUNTIMES = ["torch", "openvino"]
LIMITS = {
    "policy": 0.001,
    "winrate": 0.001,
    "no_result": 0.001,
    "lead": 0.02,
    "ownership": 0.002,
    "score_mean": 0.02,
    "score_square": 0.001,
    "var_time": 0.02,
    "value_error": 0.002,
    "score_error": 0.02,
}


def _check(judge, net_file, records, key, runtime):
    if runtime == "openvino" and openvino_missing():
        pytest.skip(openvino_missing())
    settings = NetSettings(precision="float32", device="cpu", threads=1, runtime=runtime)
    evaluator = make_evaluator(load_net(net_file(key)), settings)
    ours = judge(evaluator)
    for record in records:
        ours.compare(record)
    print(key, len(records), {name: f"{value:.2g}" for name, value in ours.worst.items()})
    assert {name: value for name, value in ours.worst.items() if not value <= LIMITS[name]} == {}


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(("key", "step"), [("b6", 20), ("b7tf", 8), ("b7kv", 8), ("b10", 20)])
def test_sample(judge, net_file, golden, key, step, runtime):
    _check(judge, net_file, golden(key)[::step], key, runtime)


@pytest.mark.slow
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("key", ["b6", "b7tf", "b7kv", "b10"])
def test_every_position(judge, net_file, golden, key, runtime):
    _check(judge, net_file, golden(key), key, runtime)
