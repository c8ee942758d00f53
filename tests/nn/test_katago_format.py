"""KataGo files of every version, written from raw records by the oracle, against the oracle's own forward pass."""

import dataclasses

import nn_oracle
import numpy as np
import pytest

from engine.errors import WeightsError
from engine.nn.metadata_row import profile_row
from engine.nn.net import load_net
from engine.nn.net_evaluator import make_evaluator
from engine.nn.settings import NetSettings

SETTINGS = NetSettings(device="cpu", precision="float32", threads=1, policy_optimism=0.3, human_profile="rank_3k")
CASES = [(version, {}) for version in range(3, 18)]
CASES += [
    (15, {"meta": True, "tip": "point"}),
    (16, {"tip": "spatial"}),
    (17, {"tip": "spatial", "policy_outputs": 4, "meta": True}),
    (17, {"tip": "point", "policy_outputs": 2}),
]


def inputs(net, height, width, seed):
    rng = np.random.default_rng(seed)
    planes, n_globals = net["inputs"]
    spatial = rng.integers(0, 2, (planes, height, width)).astype(np.float32)
    spatial[0] = 1
    globals_ = rng.normal(size=n_globals).astype(np.float32)
    return spatial, globals_


@pytest.mark.parametrize(("version", "options"), CASES)
def test_every_version_against_the_oracle(tmp_path, version, options):
    net = nn_oracle.random_net(version, seed=version, **options)
    binary, packed = bool(version % 2), version % 3 != 0
    path = tmp_path / f"net.{'bin' if binary else 'txt'}{'.gz' if packed else ''}"
    nn_oracle.write_net(net, path, binary=binary, packed=packed)
    loaded = load_net(path)
    assert loaded.description.version == version and loaded.description.name == "test-net"
    evaluator = make_evaluator(loaded, SETTINGS)
    for height, width in [(4, 3), (3, 3)] if options else [(3, 4)]:
        spatial, globals_ = inputs(net, height, width, seed=version)
        for ko, territory in [(0, 0), (1, 0), (1, 1)]:
            globals_[6], globals_[9] = ko, territory
            meta = profile_row("rank_3k", width, height) if options.get("meta") else None
            raw = nn_oracle.forward(net, spatial.astype(np.float64), globals_.astype(np.float64), meta)
            wanted = nn_oracle.postprocess(net, *raw, globals_, 0.3)
            found = evaluator.evaluate(spatial[None], globals_[None], ownership=True)
            for field in dataclasses.fields(found):
                value = getattr(found, field.name)
                assert (value is None) == (field.name not in wanted), field.name
                if value is not None:
                    np.testing.assert_allclose(value[0], wanted[field.name], rtol=2e-4, atol=2e-4, err_msg=field.name)


def test_binary_and_text_hold_the_same(tmp_path):
    net = nn_oracle.random_net(17, seed=3, tip="spatial")
    loaded = []
    for name, binary, packed in [("a.bin.gz", True, True), ("a.txt", False, False), ("odd.name", True, False)]:
        nn_oracle.write_net(net, tmp_path / name, binary=binary, packed=packed)
        loaded.append(load_net(tmp_path / name))
    for other in loaded[1:]:
        assert other.spec == loaded[0].spec
        for name, tensor in loaded[0].tensors.items():
            assert np.array_equal(tensor.numpy(), other.tensors[name].numpy()), name


def test_permuted_channels_change_nothing(tmp_path):
    """Permute the middle channels of a block and undo it in the next layer: catches swapped axes."""
    net = nn_oracle.random_net(8, seed=1)
    path = tmp_path / "net.bin"
    answers = []
    spatial, globals_ = inputs(net, 7, 7, 0)
    for turn in (False, True):
        if turn:
            parts = net["blocks"][0]["parts"]
            order = np.random.default_rng(0).permutation(parts[2]["conv"].shape[3])
            parts[2]["conv"] = parts[2]["conv"][..., order]
            for key in ("mean", "variance", "bias"):
                parts[3][key] = parts[3][key][order]
            parts[5]["conv"] = parts[5]["conv"][:, :, order]
        nn_oracle.write_net(net, path, packed=False)
        answers.append(make_evaluator(load_net(path), SETTINGS).evaluate(spatial[None], globals_[None]))
    assert np.allclose(answers[0].policy_logits, answers[1].policy_logits, atol=1e-5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.replace(b"test-net", b"test/net"), "not a KataGo net"),
        (lambda d: d.replace(b"test-net\n14", b"test-net\n18"), "version 18"),
        (lambda d: d.replace(b"test-net\n14", b"test-net\n2"), "version 2 "),
        (lambda d: d.replace(b"test-net\n14", b"test-net\nx"), "whole number"),
        (lambda d: d.replace(b"\n22 19\n", b"\n22 18\n"), "global inputs"),
        (lambda d: d.replace(b"trunk 3 8", b"trunk 3 9"), "channels"),
        (lambda d: d.replace(b"trunk 3 8", b"trunk 3 999999"), "trunk channels"),
        (lambda d: d.replace(b"trunk 3 8", b"trunk 0 8"), "number of blocks"),
        (lambda d: d.replace(b"trunk 3 8", b"trunk 4 8"), "kind of block"),
        (lambda d: d.replace(b"gpool_block", b"other_block"), "unknown kind of block"),
        (lambda d: d.replace(b"ACTIVATION_", b"ACTIVATION_X"), "unknown activation"),
        (lambda d: d + b"more", "follow the end"),
        (lambda d: d[:-300], "ends"),
        (lambda d: d[:40], "ends where"),
        (lambda d: b"", "ends where"),
        (lambda d: d.replace(b"@BIN@", b"@BIN@\x00\x00\x80\x7f", 1), "not finite"),
        (lambda d: d.replace(b"3 3 22 8 1 1\n", b"2 3 22 8 1 1\n"), "even kernel"),
        (lambda d: d.replace(b"3 3 22 8 1 1\n", b"3 3 22 8000 1 1\n"), "output channels"),
        (lambda d: d.replace(b"3 3 22 8 1 1\n", b"3 3 22 8 1 0\n"), "dilation"),
    ],
)
def test_damage_is_named(tmp_path, change, words):
    data = nn_oracle.file_bytes(nn_oracle.random_net(14, seed=2))
    path = tmp_path / "broken.bin"
    path.write_bytes(change(data))
    with pytest.raises(WeightsError, match=words) as caught:
        load_net(path)
    assert str(path) in str(caught.value)


def test_not_finite_and_negative_variance(tmp_path):
    path = tmp_path / "broken.txt"
    for key, value, words in [("mean", np.nan, "finite"), ("bias", np.inf, "finite"), ("variance", -9.0, "variance")]:
        net = nn_oracle.random_net(8)
        net["tip"][0][key][3] = value
        for binary in (True, False):
            nn_oracle.write_net(net, path, packed=False, binary=binary)
            with pytest.raises(WeightsError, match=words):
                load_net(path)


def test_reserved_numbers_are_refused(tmp_path):
    data = nn_oracle.file_bytes(nn_oracle.random_net(15))
    path = tmp_path / "future.bin"
    path.write_bytes(data.replace(b"\n0 0 0 0 0 0 0 0\n", b"\n0 0 0 0 1 0 0 0\n", 1))
    with pytest.raises(WeightsError, match="unknown here"):
        load_net(path)
