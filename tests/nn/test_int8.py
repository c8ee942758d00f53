"""Nets in eight bits: the graph, the check that may refuse them, the plan's file, and changing over between games."""

import dataclasses
import json
import logging
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from engine.errors import ConfigError
from engine.nn import checkpoint, int8, runtimes
from engine.nn.cpu_choice import quantizer_command
from engine.nn.int8 import Figures, Plan
from engine.nn.net import load_net
from engine.nn.net_evaluator import make_evaluator
from engine.nn.new_spec import new_net_spec
from engine.nn.policy_value import build_module, fold_for_export
from engine.nn.settings import NetSettings

GOOD = Figures(500, 0.97, 0.004, 0.006, 0.3, 1.8)

needs_openvino = pytest.mark.skipif(bool(runtimes.openvino_missing()), reason=str(runtimes.openvino_missing()))


@pytest.fixture
def net(tmp_path):
    torch.manual_seed(8)
    spec = new_net_spec(blocks=3, channels=32, gpool_channels=8, name="tiny")
    module = build_module(spec, trainable=True).train()
    with torch.no_grad():
        for _ in range(4):
            module(torch.randn(8, 22, 7, 7), torch.randn(8, 19))
    (tmp_path / "nets").mkdir()
    path = tmp_path / "nets" / "tiny.safetensors"
    checkpoint.save(path, spec, fold_for_export(module), {"sizes": [[5, 5], [7, 7]]})
    return load_net(path)


@pytest.fixture(autouse=True)
def caches(tmp_path, monkeypatch):
    """The user's cache folder is one of the test's."""
    monkeypatch.setattr(int8, "cache_folder", lambda: tmp_path / "cache")


@pytest.fixture
def small(monkeypatch):
    """Quantizing takes few positions."""
    from engine.nn import quantize

    monkeypatch.setattr(quantize, "SIZES", (7, 5))
    monkeypatch.setattr(quantize, "SPEED_SECONDS", 0.01)
    return quantize


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"top1": 0.949}, "same best move in 94.9% (needs 95%)"),
        ({"kl": 0.01}, "KL 0.0100 (below 0.01)"),
        ({"kl": float("nan")}, "KL nan (below 0.01)"),
        ({"winrate": 0.02}, "winrate differs by 0.0200 (below 0.01)"),
        ({"lead": 0.5}, "lead differs by 0.50 (below 0.5)"),
        ({"speed": 1.1}, "1.10 times as fast (needs 1.15)"),
        ({"top1": 0.5, "lead": 2.0}, "same best move in 50.0% (needs 95%); lead differs by 2.00 (below 0.5)"),
    ],
)
def test_refusal(change, said):
    figures = dataclasses.replace(GOOD, **change)
    assert figures.refusal() == said
    assert Plan(figures).accepted == (not said)


def test_a_plan_beside_the_net(tmp_path):
    net = tmp_path / "a.bin.gz"
    plan = Plan(GOOD, {"blocks.0.conv1": (0.0, (3.5, 0.0)), "blocks.0.conv2": (-0.25, (7.125,))})
    assert int8.read(net, "k") is None
    assert int8.write(net, "k", plan) == tmp_path / "a.bin.gz.k.int8.json"
    assert int8.read(net, "k") == plan and int8.read(net, "other") is None
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin.gz.k.int8.json"], "nothing else is left"


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    """Root may write anywhere, so the folder is one that does not exist and cannot be made."""
    (tmp_path / "file").write_text("")
    net = tmp_path / "file" / "a.bin.gz"
    plan = Plan(GOOD, {"blocks.0.conv1": (0.0, (3.5, 1.0))})
    assert int8.write(net, "k", plan) == tmp_path / "cache" / "a.bin.gz.k.int8.json"
    assert int8.read(net, "k") == plan
    monkeypatch.setattr(int8, "cache_folder", lambda: tmp_path / "file" / "cache")
    assert int8.write(net, "k", plan) is None and int8.read(net, "k") is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"ranges": {}}', '{"ranges": 3, "figures": {}}', "[" * 50_000, "\x00\xff", "3"]
    + [
        json.dumps({"figures": dataclasses.asdict(GOOD), "ranges": ranges})
        for ranges in (
            {"a": [1]},
            {"a": ["x", [2]]},
            {"a": [0, 1]},
            {"a": [0, []]},
            {"a": [0, [1, -1]]},
            {"a": [float("nan"), [1]]},
            {"a": [0, [1, float("nan")]]},
            {"a": [0, [float("inf")]]},
        )
    ]
    + [json.dumps({"figures": {**dataclasses.asdict(GOOD), "more": 1}, "ranges": {}})],
)
def test_a_damaged_plan_is_none(tmp_path, text, caplog):
    net = tmp_path / "a.bin.gz"
    int8.places(net, "k")[0].write_text(text, encoding="latin-1")
    assert int8.read(net, "k") is None
    assert "damaged" in caplog.text


WRITE_OFTEN = """
import sys
from pathlib import Path
from engine.nn import int8
from engine.nn.int8 import Figures, Plan
for i in range(50):
    ranges = {"blocks." + sys.argv[2]: (0.0, (float(i + 1),))}
    int8.write(Path(sys.argv[1]) / "a.bin.gz", "k", Plan(Figures(500, 0.97, 0.004, 0.006, 0.3, 1.8), ranges))
"""


def test_two_processes_at_once(tmp_path):
    """Whoever reads finds one of the plans, whole."""
    command, environment = [sys.executable, "-P", "-c", WRITE_OFTEN, str(tmp_path)], quantizer_command("")[1]
    writers = [subprocess.Popen([*command, str(number)], env=environment) for number in range(2)]
    while any(writer.poll() is None for writer in writers):
        if int8.places(tmp_path / "a.bin.gz", "k")[0].exists():
            plan = int8.read(tmp_path / "a.bin.gz", "k")
            assert plan is not None and len(plan.ranges) == 1
    assert [writer.wait() for writer in writers] == [0, 0]
    last = int8.read(tmp_path / "a.bin.gz", "k")  # a slow machine may see nothing in between
    assert last is not None and len(last.ranges) == 1
    assert len(list(tmp_path.glob("*.json"))) == 1 and not list(tmp_path.glob(".a.bin*"))


def test_keys_differ():
    keys = {int8.key(*each) for each in (("a", "1", "x"), ("b", "1", "x"), ("a", "2", "x"), ("a", "1", "y"))}
    assert len(keys) == 4


@needs_openvino
def test_rounding_is_what_it_says():
    from engine.nn.openvino_layers import rounded, rounded_weight
    from engine.nn.openvino_ops import core, ops, ov

    def run(make, values):
        x = ops.parameter(list(values.shape), np.float32)
        options = {"INFERENCE_PRECISION_HINT": "f32"}
        return core().compile_model(ov.Model([make(x)], [x], "m"), "CPU", options)(values)[0]

    values = np.linspace(-3, 12, 1001, dtype=np.float32)[None, None, :, None]
    found = run(lambda x: rounded(x, 0.0, [10.0]), values)
    np.testing.assert_allclose(found, np.clip(np.round(values / 10 * 255), 0, 255) / 255 * 10, atol=0.021)
    assert len(np.unique(found)) == 256
    found = run(lambda x: rounded(x, -1.0, [10.0]), values)  # one scale for both sides: -10.08 to 10
    assert np.abs(found - values.clip(-10.1, 10.0)).max() < 10 / 127 / 2 + 1e-4 and 0.0 in found
    both = np.concatenate([values, values / 4], axis=1)  # the second channel stays at a quarter: twice as large now
    found = run(lambda x: rounded(x, 0.0, [10.0, 2.5]), both)
    np.testing.assert_allclose(found[:, 0], both[:, 0].clip(0, 10), atol=0.021)
    np.testing.assert_allclose(found[:, 1], 2 * both[:, 1].clip(0, 5), atol=0.021)
    weight = np.random.default_rng(0).normal(size=(4, 3, 3, 3)) * np.array([1, 10, 0, 0.1])[:, None, None, None]
    model = ov.Model([rounded_weight(weight, "w")], [], "m")
    found = core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})({})[0]
    most = np.abs(weight).max(axis=(1, 2, 3), keepdims=True)
    assert (np.abs(found - weight) <= most / 254 * 1.01).all() and (np.abs(found - weight).max() > 0)


@needs_openvino
def test_scaled_channels_make_the_same_sum():
    """Channels that stay small lose little in eight bits; a plan of another width is none."""
    from engine.nn.openvino_layers import Layers
    from engine.nn.openvino_ops import core, ops, ov

    rng = np.random.default_rng(3)
    values = np.abs(rng.normal(size=(2, 3, 5, 5))).astype(np.float32) * np.array([10, 0.1, 0])[:, None, None]
    weight = rng.normal(size=(4, 3, 3, 3)) / np.array([10, 0.1, 1])[:, None, None]

    def run(layers):
        x = ops.parameter(list(values.shape), np.float32)
        model = ov.Model([layers.convolve(x, weight, None, (1, 1), "blocks.0.conv1")], [x], "m")
        return core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(values)[0]

    peaks = tuple(map(float, values.max(axis=(0, 2, 3))))
    exact, rough = run(Layers()), run(Layers({"blocks.0.conv1": (0.0, peaks)}))
    even = run(Layers({"blocks.0.conv1": (0.0, (max(peaks),) * 3)}))  # one scale for all channels
    assert 0 < np.abs(rough - exact).mean() < np.abs(even - exact).mean() / 3
    assert (run(Layers({"blocks.0.conv1": (0.0, (1.0, 1.0))})) == exact).all()


@needs_openvino
def test_quantize_and_play(net, small, caplog):
    """The whole way: the plan is made once, then read; eight bits are near float32 on every board size."""
    plan = small.quantize(net)
    layers = [f"blocks.{i}.{name}" for i in (0, 1) for name in ("conv1", "conv2")]
    assert set(plan.ranges) == {*layers, *(f"blocks.2.{n}" for n in ("conv_gpool", "conv_regular", "conv2"))}
    assert all(low == 0 < max(peaks) for low, peaks in plan.ranges.values()), "inputs come from ReLU"
    assert plan.ranges["blocks.2.conv_gpool"] == plan.ranges["blocks.2.conv_regular"]
    assert plan.figures.positions > 40 and plan.figures.top1 > 0.5 and 0 < plan.figures.kl < 0.1

    plan = Plan(dataclasses.replace(plan.figures, top1=1.0, speed=2.0), plan.ranges)  # tiny: no speed to be had
    int8.write(small.Path(net.description.file), small.plan_name(net), plan)
    evaluator = make_evaluator(net, NetSettings(device="cpu", threads=1), playing=True)
    assert evaluator.precision == "int8" and evaluator.name == "tiny on cpu, 1 threads, OpenVINO, int8"
    exact = make_evaluator(net, NetSettings(device="cpu", threads=1, precision="float32"))
    for size in (5, 7, 9):
        spatial, globals_ = evaluator.allocate(3, size, size)
        spatial[:] = np.random.default_rng(size).integers(0, 2, spatial.shape)
        a, b = (e.evaluate(spatial, globals_).policy_logits for e in (evaluator, exact))
        assert 0 < np.abs(a - b).max() < 0.2


@needs_openvino
def test_a_refused_plan(net, small, caplog):
    plan = Plan(dataclasses.replace(GOOD, top1=0.9), {"blocks.0.conv1": (0.0, (1.0,) * 32)})
    int8.write(small.Path(net.description.file), small.plan_name(net), plan)
    with caplog.at_level(logging.INFO):
        evaluator = make_evaluator(net, NetSettings(device="cpu", threads=1), playing=True)
        evaluator.improve()
    assert evaluator.precision in ("bfloat16", "float32")
    assert "in eight bits, same best move in 90.0% (needs 95%)" in caplog.text


@needs_openvino
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_only_where_it_may(net, small, precision):
    """Eight bits are for playing, by auto or int8; who labels, measures or judges gets the plain precision."""
    plan = Plan(GOOD, {"blocks.0.conv1": (0.0, (1.0,) * 32)})
    int8.write(small.Path(net.description.file), small.plan_name(net), plan)
    assert make_evaluator(net, NetSettings(device="cpu", threads=1, precision=precision)).precision == precision
    assert make_evaluator(net, NetSettings(device="cpu", threads=1, runtime="torch"), playing=True).precision != "int8"
    assert make_evaluator(net, NetSettings(device="cpu", threads=1)).precision != "int8", "labels are to be exact"
    assert make_evaluator(net, NetSettings(device="cpu", threads=1), playing=True).precision == "int8"
    with pytest.raises(ConfigError, match="int8 needs OpenVINO"):
        make_evaluator(net, NetSettings(device="cpu", precision="int8", runtime="torch"))


@needs_openvino
def test_changing_over_between_games(net, small, monkeypatch):
    """A game goes on in the precision that it began with; batches under way come to their end."""
    from engine.nn import cpu_choice

    plan = Plan(GOOD, {f"blocks.0.conv{i}": (0.0, (9.0,) * 32) for i in (1, 2)})

    def quantizer(self):
        int8.write(self._file, small.plan_name(net), plan)

    monkeypatch.setattr(cpu_choice.CpuChoice, "_run_quantizer", quantizer)
    monkeypatch.setattr(cpu_choice, "PATIENCE", 0.01)
    evaluator = make_evaluator(net, NetSettings(device="cpu", threads=1), playing=True)
    before = evaluator.precision
    arrays = evaluator.allocate(1, 7, 7)
    arrays[0][:] = np.random.default_rng(1).integers(0, 2, arrays[0].shape)
    first = evaluator.evaluate(*arrays).policy_logits
    evaluator.between_games()
    evaluator.improve()
    assert evaluator._cpu._ready.wait(60)
    assert evaluator.precision == before and np.array_equal(evaluator.evaluate(*arrays).policy_logits, first)
    ticket = evaluator.submit(*arrays)
    evaluator.between_games()
    assert evaluator.precision == "int8" and evaluator.name.endswith("int8")
    assert np.array_equal(evaluator.result(ticket).policy_logits, first)
    assert not np.array_equal(evaluator.evaluate(*arrays).policy_logits, first)
    evaluator.between_games()
    evaluator.close()


@needs_openvino
def test_the_quantizer_ends_with_its_parent(net):
    """A killed engine leaves no process behind: its end of the pipe is closed with it."""
    command, environment = quantizer_command(net.description.file, "--watch")
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment)
    time.sleep(0.5)
    process.stdin.close()
    assert process.wait(60) in (0, 3)


@needs_openvino
def test_a_transformer_stays_as_it_is(net_file):
    from engine.nn.quantize import suits

    assert not suits(load_net(net_file("b7tf"))) and suits(load_net(net_file("b6")))


@needs_openvino
def test_a_quantizer_that_fails_says_why(net, monkeypatch, caplog):
    from engine.nn import cpu_choice

    monkeypatch.setattr(cpu_choice, "PATIENCE", 0.01)
    evaluator = make_evaluator(net, NetSettings(device="cpu", threads=1), playing=True)
    before = evaluator.precision
    cpu_choice.Path(net.description.file).unlink()
    evaluator._cpu._improve()
    assert "calibration for eight bits: " in caplog.text and "no such file" in caplog.text
    assert "calibration for eight bits failed" in caplog.text
    evaluator.between_games()
    assert evaluator.precision == before


@needs_openvino
def test_the_quantizer_is_this_package_wherever_one_stands(tmp_path, monkeypatch):
    """Another folder called engine where the engine was started, as in a clone that is not built, is not taken."""
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    command, environment = quantizer_command("none.bin.gz", "--watch")
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120
    )
    assert done.returncode != 7 and "ModuleNotFoundError" not in done.stderr
