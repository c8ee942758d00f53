"""What a net's file must hold, worked out from its spec: the same as the modules have, for every kind of net."""

import numpy as np
import pytest

from engine.errors import WeightsError
from engine.nn.judgment import judgment_spec
from engine.nn.kstep import new_kstep_spec
from engine.nn.new_spec import conv_spec, new_alphagozero_spec, new_net_spec
from engine.nn.policy_value import build_module
from engine.nn.shapes import array_shapes, check_arrays
from engine.nn.spec import SCORE_OUTPUTS

ATTENTION = {"kind": "attention", "heads": 4, "kv_heads": 2, "q_dim": 8, "v_dim": 6, "eps": 1e-6}
ORDINARY = {"kind": "ordinary", "mid": 10, "acts": ["relu"] * 2, "convs": [conv_spec(), conv_spec(1)]}
BLOCKS = [
    ORDINARY,
    {"kind": "gpool", "regular": 9, "gpool": 5, "acts": ["mish"] * 3, "convs": [conv_spec(n) for n in (3, 5, 3)]},
    {"kind": "nested", "mid": 7, "acts": ["relu"] * 2, "convs": [conv_spec(1)] * 2, "blocks": [{**ORDINARY, "mid": 6}]},
    {**ATTENTION, "rope": None},
    {**ATTENTION, "rope": {"kind": "fixed", "theta": 100.0}},
    {**ATTENTION, "rope": {"kind": "learnable"}},
    {"kind": "ffn", "hidden": 20, "gated": True, "eps": 1e-6},
    {"kind": "ffn", "hidden": 20, "gated": False, "eps": 1e-6},
]
PLAIN = new_net_spec(blocks=2, channels=16)
LARGE = {
    **PLAIN,
    "version": 16,
    "blocks": BLOCKS,
    "input": {"kernel": [3, 5], "dilation": [1, 1]},
    "meta": {"inputs": 192, "hidden": [11, 12], "acts": ["relu"] * 2},
    "tip": {"norm": "rmsnorm", "act": "silu", "eps": 1e-6, "spatial": True},
    "policy": {
        **PLAIN["policy"], "outputs": ["policy", "optimistic", "q_winloss", "q_score"],
        "pass": {"hidden": 13, "act": "relu"},
    },
    "value": {**PLAIN["value"], "score": list(SCORE_OUTPUTS)},
}  # fmt: skip
SPECS = {
    "plain": PLAIN,
    "everything": LARGE,
    "no globals": new_net_spec(blocks=1, channels=8, encoding="alphagozero-17"),
    "judgment": judgment_spec(blocks=2, channels=16, gpool_every=2),
    "alphago-zero": new_alphagozero_spec(size=9, blocks=2, channels=8, value_hidden=5, value_channels=2),
    "k-step": new_kstep_spec(channels=12, layers=4, first_channels=10),
    "leela-zero": {
        "family": "leela-zero", "name": "lz", "encoding": "leelazero-18", "version": 1, "channels": 8, "blocks": 2,
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", SPECS)
def test_shapes_are_those_of_the_module(kind):
    spec = SPECS[kind]
    wanted = {name: tuple(tensor.shape) for name, tensor in build_module(spec).state_dict().items()}
    assert array_shapes(spec) == wanted


def test_what_is_wrong_is_named():
    good = {name: np.zeros(shape, np.float32) for name, shape in array_shapes(PLAIN).items()}
    check_arrays(PLAIN, good)
    name = "value_head.v2.weight"
    for change, words in (
        ({name: None}, f"{name} is missing"),
        ({name: np.zeros((2, 3), np.float32)}, rf"{name} has shape \[2, 3\] instead of \[64, 96\]"),
        ({name: np.full((64, 96), np.nan, np.float32)}, f"{name} holds a value that is not finite"),
        ({"extra": np.zeros(1, np.float32)}, "unknown tensor extra"),
    ):
        arrays = {key: value for key, value in {**good, **change}.items() if value is not None}
        with pytest.raises(WeightsError, match=words):
            check_arrays(PLAIN, arrays)
