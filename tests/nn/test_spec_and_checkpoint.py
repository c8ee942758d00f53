"""Specs, modules for training and evaluation, folding, and our own file format."""

import copy
import json
import pickle

import pytest
import safetensors.torch
import torch

from engine.errors import WeightsError
from engine.nn import checkpoint
from engine.nn.new_spec import new_net_spec
from engine.nn.policy_value import build_module, fold_for_export, load_tensors
from engine.nn.spec import parameter_count
from engine.nn.spec_check import check_spec


def _trained(spec, seed=0):
    torch.manual_seed(seed)
    module = build_module(spec, trainable=True).train()
    with torch.no_grad():
        for _ in range(3):
            module(torch.randn(4, 22, 7, 9), torch.randn(4, 19))
    return module.eval()


@pytest.fixture(scope="module")
def small():
    spec = new_net_spec(blocks=3, channels=16, gpool_channels=8, name="small", act="mish")
    return spec, _trained(spec)


def test_trained_and_folded_agree(small):
    spec, module = small
    inputs = torch.randn(2, 22, 9, 9), torch.randn(2, 19)
    folded = load_tensors(build_module(spec), fold_for_export(module))
    again = load_tensors(build_module(spec, trainable=True), fold_for_export(module)).eval()
    with torch.no_grad():
        for other in (folded, again):
            for a, b in zip(module(*inputs), other(*inputs), strict=True):
                assert torch.allclose(a, b, atol=2e-5)
    assert not any(p.requires_grad for p in folded.parameters())
    assert all(p.requires_grad for p in again.parameters())


def test_gradients_reach_every_weight(small):
    spec, _ = small
    module = build_module(spec, trainable=True).train()
    sum(out.square().mean() for out in module(torch.randn(4, 22, 9, 9), torch.randn(4, 19))).backward()
    assert all(p.grad is not None and bool(p.grad.abs().sum() > 0) for p in module.parameters())


def test_parameter_count_is_close(small):
    spec = new_net_spec(blocks=6, channels=96)
    real = sum(p.numel() for p in build_module(spec).parameters())
    assert 0.95 * real < parameter_count(spec) <= real


def test_checkpoint_round_trip(small, tmp_path):
    spec, module = small
    tensors = fold_for_export(module)
    path = tmp_path / "net.safetensors"
    checkpoint.save(path, spec, tensors, {"sizes": [[19, 19]]})
    first = path.read_bytes()
    found_spec, found, metadata = checkpoint.load(path)
    assert found_spec == spec and metadata == {"sizes": [[19, 19]]}
    assert all(torch.equal(found[name], tensors[name]) for name in tensors)
    checkpoint.save(path, spec, dict(reversed(tensors.items())), {"sizes": [[19, 19]]})
    assert path.read_bytes() == first


def test_checkpoint_refuses(small, tmp_path):
    spec, module = small
    path = tmp_path / "net.safetensors"
    tensors = fold_for_export(module)
    safetensors.torch.save_file(tensors, str(path))
    with pytest.raises(WeightsError, match="not a Keisei net"):
        checkpoint.load(path)
    for header, words in [
        ({"format": 1, "spec": spec, "metadata": [1]}, "metadata"),
        ({"format": 2, "spec": spec, "metadata": {}}, "format"),
        ({"format": 1, "metadata": {}}, "description"),
    ]:
        safetensors.torch.save_file(tensors, str(path), metadata={checkpoint.KEY: json.dumps(header)})
        with pytest.raises(WeightsError, match=words):
            checkpoint.load(path)
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(WeightsError, match="damaged"):
        checkpoint.load(path)
    for change, words in [
        (lambda t: t.pop("tip_norm.scale"), "missing"),
        (lambda t: t.update(extra=torch.zeros(1)), "unknown tensor"),
        (lambda t: t.update({"tip_norm.scale": torch.zeros(3)}), "shape"),
        (lambda t: t.update({"tip_norm.scale": torch.full((16,), float("nan"))}), "finite"),
    ]:
        broken = dict(tensors)
        change(broken)
        with pytest.raises(WeightsError, match=words):
            checkpoint.save(path, spec, broken)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.pop("policy"), "policy"),
        (lambda s: s.update(channels=10**9), "channels"),
        (lambda s: s.update(channels=True), "channels"),
        (lambda s: s.update(encoding="chess"), "encoding"),
        (lambda s: s.update(family="other"), "kind of net"),
        (lambda s: s.update(blocks=[]), "blocks"),
        (lambda s: s.update(blocks=s["blocks"] * 300), "blocks"),
        (lambda s: s["blocks"][0].update(kind="exec"), "unknown kind"),
        (lambda s: s["blocks"][0].update(acts=["tanh", "relu"]), "activation"),
        (lambda s: s["blocks"][0]["convs"][0].update(kernel=[2, 2]), "even kernel"),
        (lambda s: s["blocks"][0]["convs"][0].update(kernel=3), "malformed"),
        (lambda s: s.update(version=99), "version"),
        (lambda s: s["multipliers"].update(lead=float("nan")), "lead"),
        (lambda s: s["value"].update(score=["points"]), "score"),
        (lambda s: s.update(channels=8192, blocks=[{**s["blocks"][0], "mid": 8192}] * 9), "parameters"),
    ],
)
def test_bad_specs_are_refused(change, words):
    spec = copy.deepcopy(new_net_spec(blocks=3, channels=16))
    change(spec)
    with pytest.raises(WeightsError, match=words):
        check_spec(spec)
