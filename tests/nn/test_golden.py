"""KataGo's own answers (`kata-raw-nn`, float32) on its four nets, through our planes, loader and evaluator."""

import pytest

from engine.nn.net import load_net
from engine.nn.settings import NetSettings
from engine.nn.torch_evaluator import make_evaluator

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


def _check(judge, net_file, records, key):
    evaluator = make_evaluator(load_net(net_file(key)), NetSettings(precision="float32", device="cpu", threads=1))
    ours = judge(evaluator)
    for record in records:
        ours.compare(record)
    print(key, len(records), {name: f"{value:.2g}" for name, value in ours.worst.items()})
    assert {name: value for name, value in ours.worst.items() if not value <= LIMITS[name]} == {}


@pytest.mark.parametrize(("key", "step"), [("b6", 20), ("b7tf", 8), ("b7kv", 8), ("b10", 20)])
def test_sample(judge, net_file, golden, key, step):
    _check(judge, net_file, golden(key)[::step], key)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["b6", "b7tf", "b7kv", "b10"])
def test_every_position(judge, net_file, golden, key):
    _check(judge, net_file, golden(key), key)
