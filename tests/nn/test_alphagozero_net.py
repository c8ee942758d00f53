"""AlphaGo Zero's kind of net: against a slow forward pass, as a file, in the evaluator, and its limits."""

import numpy as np
import pytest
import torch

from engine.board.planes import encode_position
from engine.board.position import Position
from engine.errors import UnsupportedBoardSize, WeightsError
from engine.nn import NetSettings, checkpoint, load_net, make_evaluator
from engine.nn.new_spec import new_alphagozero_spec
from engine.nn.policy_value import build_module, fold_for_export
from engine.nn.spec import parameter_count
from engine.nn.spec_check import check_spec


def trained(size=5, blocks=2, channels=6, encoding="alphagozero-17"):
    """A small net whose norms have statistics, in evaluation mode."""
    torch.manual_seed(3)
    net = build_module(
        new_alphagozero_spec(size=size, blocks=blocks, channels=channels, value_hidden=8, encoding=encoding),
        trainable=True,
    )
    with torch.no_grad():
        for name, tensor in net.state_dict().items():
            if name.endswith(("running_var", "norm.weight")):
                tensor.uniform_(0.5, 2.0)
            elif name.endswith(("running_mean", "norm.bias", "out.bias", "hidden.bias")):
                tensor.normal_()
            elif name.endswith("out.weight"):
                tensor.mul_(5.0)
    return net.eval()


def positions(size=5):
    position = Position(size, rules="tromp-taylor")
    rng = np.random.default_rng(0)
    spatial = []
    for _ in range(9):
        spatial.append(encode_position(position, "alphagozero-17")[0])
        position.play(int(rng.choice(np.flatnonzero(position.legal_mask()))))
    return np.stack(spatial)


def slow_forward(state, spatial, blocks):
    """The paper's net, loop by loop, float64; state as a trained module names it."""
    state = {name: tensor.double().numpy() for name, tensor in state.items()}

    def conv_norm(x, name):
        weight = state[f"{name}.conv.weight"]
        pad = weight.shape[-1] // 2
        padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad)))
        height, width = x.shape[1:]
        y = np.zeros((len(weight), height, width))
        for row in range(height):
            for column in range(width):
                patch = padded[:, row : row + weight.shape[2], column : column + weight.shape[3]]
                y[:, row, column] = (weight * patch).sum(axis=(1, 2, 3))
        mean, var = state[f"{name}.norm.running_mean"], state[f"{name}.norm.running_var"]
        y = (y - mean[:, None, None]) / np.sqrt(var + 1e-5)[:, None, None]
        return y * state[f"{name}.norm.weight"][:, None, None] + state[f"{name}.norm.bias"][:, None, None]

    def full(x, name):
        return state[f"{name}.weight"] @ x + state[f"{name}.bias"]

    def relu(x):
        return np.maximum(x, 0)

    x = relu(conv_norm(spatial.astype(np.float64), "input"))
    for i in range(blocks):
        x = relu(x + conv_norm(relu(conv_norm(x, f"blocks.{i}.first")), f"blocks.{i}.second"))
    policy = full(relu(conv_norm(x, "policy_conv")).ravel(), "policy_out")
    value = full(relu(full(relu(conv_norm(x, "value_conv")).ravel(), "value_hidden")), "value_out")
    return policy, float(np.tanh(value[0]))


def saved(net, path):
    checkpoint.save(path, net.spec, fold_for_export(net), {"name": "zero", "sizes": [net.spec["size"]]})
    return load_net(path)


def test_a_trained_net_as_a_file_computes_what_the_paper_says(tmp_path):
    net, spatial = trained(), positions()
    loaded = saved(net, tmp_path / "zero.safetensors")
    assert (loaded.description.format, loaded.description.blocks, loaded.spec["family"]) == (
        "keisei",
        2,
        "alphago-zero",
    )
    evaluator = make_evaluator(loaded, NetSettings(device="cpu", precision="float32", threads=1))
    evaluation = evaluator.evaluate(spatial, np.zeros((len(spatial), 0), np.float32), ownership=True)
    assert evaluation.ownership is None and evaluation.score_mean is None and not evaluation.no_result.any()
    for row, planes in enumerate(spatial):
        policy, value = slow_forward(net.state_dict(), planes, 2)
        np.testing.assert_allclose(evaluation.policy_logits[row], policy, rtol=1e-4, atol=1e-4)
        assert evaluation.value[row] == pytest.approx(value, abs=1e-5)
    assert np.ptp(evaluation.value) > 0.01
    unfused = loaded.module()(torch.from_numpy(spatial), torch.zeros(len(spatial), 0))
    np.testing.assert_allclose(unfused.policy[:, 0].numpy(), evaluation.policy_logits, rtol=1e-4, atol=1e-4)


def test_a_net_plays_its_own_board_size_alone(tmp_path):
    loaded = saved(trained(), tmp_path / "zero.safetensors")
    assert loaded.supports_size(5, 5) and not loaded.supports_size(9, 9)
    with pytest.raises(UnsupportedBoardSize):
        make_evaluator(loaded, NetSettings(device="cpu")).warm_up(9, 9)


def test_the_paper_s_net_has_the_paper_s_size():
    spec = new_alphagozero_spec()
    with torch.device("meta"):
        count = sum(p.numel() for p in build_module(spec).parameters())
    assert 22_000_000 < parameter_count(spec) < count < 1.05 * parameter_count(spec) < 25_000_000


@pytest.mark.parametrize(
    "change",
    [{"size": [0, 5]}, {"size": [5]}, {"blocks": -1}, {"encoding": "katago-v7"}, {"channels": 1 << 20},
     {"policy_channels": 0}, {"version": 2}, {"value_hidden": 1.5}],
)  # fmt: skip
def test_a_bad_description_is_refused(change):
    with pytest.raises(WeightsError):
        check_spec({**new_alphagozero_spec(size=5, blocks=1, channels=4), **change})
