"""OpenVINO as the runner: how batches are cut, every way in which it may be missing or fail, what it keeps."""

import dataclasses
import logging
import subprocess
import threading
from pathlib import Path

import child
import numpy as np
import pytest
import torch

from engine.errors import ConfigError, EngineError
from engine.nn import checkpoint, runtimes
from engine.nn.net import load_net
from engine.nn.net_evaluator import make_evaluator
from engine.nn.new_spec import new_net_spec
from engine.nn.policy_value import build_module, fold_for_export
from engine.nn.settings import NetSettings

if runtimes.openvino_missing():
    pytest.skip(runtimes.openvino_missing(), allow_module_level=True)

from engine.nn import openvino_graph
from engine.nn.openvino_runner import OpenVinoRunner, Programs, shares

SETTINGS = NetSettings(device="cpu", precision="float32", threads=2)


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    torch.manual_seed(6)
    spec = new_net_spec(blocks=3, channels=16, gpool_channels=8, name="tiny")
    path = tmp_path_factory.mktemp("net") / "tiny.safetensors"
    checkpoint.save(path, spec, fold_for_export(build_module(spec, trainable=True)), {})
    return load_net(path)


@pytest.fixture(autouse=True)
def say_again():
    runtimes.say_once.cache_clear()


def inputs(evaluator, rows, width=9, height=9):
    rng = np.random.default_rng(rows)
    spatial, globals_ = evaluator.allocate(rows, width, height)
    spatial[:] = rng.integers(0, 2, spatial.shape)
    globals_[:] = rng.normal(size=globals_.shape)
    return spatial, globals_


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("most", [1, 4, 8])
def test_shares(threads, most):
    for rows in range(1, 70):
        cut = shares(rows, threads, most)
        assert [i for part in cut for i in range(part.start, part.stop)] == list(range(rows))
        sizes = [part.stop - part.start for part in cut]
        assert set(sizes) <= {n for n in (1, 2, 4, 8) if n <= most}
        assert sizes == sorted(sizes, reverse=True)
        assert len(sizes) >= min(rows, threads), "no thread is left without work"
    assert [p.stop - p.start for p in shares(13, 2, 8)] == [4, 4, 2, 2, 1]


@pytest.mark.parametrize("size", [(9, 9), (5, 13), (19, 19)])
def test_as_torch(net, size):
    ours, theirs = (make_evaluator(net, dataclasses.replace(SETTINGS, runtime=r)) for r in ("openvino", "torch"))
    assert (ours.runtime, theirs.runtime) == ("openvino", "torch")
    for rows in (1, 7):
        arrays = inputs(ours, rows, *size)
        a, b = (e.evaluate(*arrays, ownership=True) for e in (ours, theirs))
        for field in dataclasses.fields(a):
            x, y = getattr(a, field.name), getattr(b, field.name)
            assert (x is None) == (y is None), field.name
            if x is not None:
                np.testing.assert_allclose(x, y, atol=1e-4, err_msg=field.name)


def test_many_in_flight(net):
    evaluator = make_evaluator(net, SETTINGS)
    batches = [inputs(evaluator, rows) for rows in (3, 1, 8, 5, 2)]
    tickets = [evaluator.submit(*arrays) for arrays in batches]
    for i in (4, 0, 2, 1, 3):
        found, wanted = evaluator.result(tickets[i]), evaluator.evaluate(*batches[i])
        np.testing.assert_allclose(found.policy_logits, wanted.policy_logits, atol=1e-5)


def test_sizes_are_dropped(net, monkeypatch):
    built, build = [], openvino_graph.build_model

    def noted(*args, width, height, batch, **rest):
        built.append((width, height, batch))
        return build(*args, width=width, height=height, batch=batch, **rest)

    monkeypatch.setattr(openvino_graph, "build_model", noted)
    evaluator = make_evaluator(net, dataclasses.replace(SETTINGS, cached_sizes=1))
    waiting = evaluator.submit(*inputs(evaluator, 1, 5, 5))
    for size in (5, 7, 5):
        evaluator.evaluate(*inputs(evaluator, 2, size, size))
    assert evaluator.result(waiting).policy_logits.shape == (1, 26), "a batch outlives the models of its size"
    assert built == [(5, 5, 1), (7, 7, 1), (5, 5, 1)]


def child_says(code):
    command, environment = child.python("-c", code)
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_nothing_is_sent():
    """OpenVINO's usage report is off: its sender is not even imported."""
    code = "import sys; import engine.nn.openvino_ops; print(sys.modules.get('openvino_telemetry', 'absent'))"
    found = child_says(code)
    assert found.strip() == "None"


SIGNALLED = """
import dataclasses, gc, signal, sys
import numpy as np
from engine.nn.net import load_net
from engine.nn.net_evaluator import make_evaluator
from engine.nn.settings import NetSettings

net = load_net(sys.argv[1])
made = [make_evaluator(net, NetSettings(device="cpu", threads=1)) for _ in range(3)]
for evaluator in made:
    evaluator.evaluate(*evaluator.allocate(1, 5, 5))
while made:
    del evaluator
    evaluator = made.pop(0)  # the first made goes first
    gc.collect()
del evaluator
gc.collect()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may have had it ignored
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_signal_after_runners_are_gone(tmp_path):
    """OpenVINO's CPU plugin changes the stack for signals; runners that come and go must not leave one that is gone."""
    spec = new_net_spec(blocks=1, channels=8, gpool_channels=4, name="tiny")
    checkpoint.save(tmp_path / "tiny.safetensors", spec, fold_for_export(build_module(spec, trainable=True)), {})
    command, environment = child.python("-c", SIGNALLED, str(tmp_path / "tiny.safetensors"))
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr


def test_there_is_one_core():
    """Every other way to one would bring the fault of the test above back."""
    package = Path(runtimes.__file__).parents[1]
    assert [p.name for p in package.rglob("*.py") if "ov.Core(" in p.read_text("utf-8")] == ["openvino_ops.py"]


def missing(monkeypatch, why="OpenVINO is not installed"):
    monkeypatch.setattr(runtimes, "openvino_missing", lambda: why)


def test_without_openvino(net, monkeypatch, caplog):
    missing(monkeypatch)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert make_evaluator(net, SETTINGS).runtime == "torch"
    assert [r.getMessage() for r in caplog.records] == [
        "OpenVINO is not installed; the net runs by PyTorch, which is slower on a CPU"
    ]
    with pytest.raises(EngineError, match="runtime openvino: OpenVINO is not installed"):
        make_evaluator(net, dataclasses.replace(SETTINGS, runtime="openvino"))


def test_a_damaged_installation_is_said():
    code = (
        "import sys; sys.modules['openvino._pyopenvino'] = None\n"
        "from engine.nn.runtimes import openvino_missing; print(openvino_missing())"
    )
    found = child_says(code)
    assert found.startswith("OpenVINO cannot be loaded (")


def test_not_for_a_gpu():
    with pytest.raises(ConfigError, match="for the CPU, not for cuda:0"):
        runtimes.choose_runtime("openvino", "cuda:0", "policy-value")
    assert runtimes.choose_runtime("auto", "cuda:0", "policy-value") == "torch"


def fail_at(monkeypatch, method, call):
    """Let the runner's method raise at its n-th call and after."""
    calls, real = [], getattr(OpenVinoRunner, method)

    def failing(self, *args):
        calls.append(args)
        if len(calls) >= call:
            raise RuntimeError("no such instruction")
        return real(self, *args)

    monkeypatch.setattr(OpenVinoRunner, method, failing)


@pytest.mark.parametrize("method", ["start", "finish"])
@pytest.mark.parametrize("call", [1, 2])
def test_a_failure_loses_no_batch(net, monkeypatch, caplog, method, call):
    evaluator = make_evaluator(net, SETTINGS)
    wanted = make_evaluator(net, dataclasses.replace(SETTINGS, runtime="torch"))
    fail_at(monkeypatch, method, call)
    batches = [inputs(evaluator, rows) for rows in (2, 3, 1)]
    tickets = [evaluator.submit(*arrays) for arrays in batches]
    for ticket, arrays in zip(tickets, batches, strict=True):
        answer = wanted.evaluate(*arrays).policy_logits
        np.testing.assert_allclose(evaluator.result(ticket).policy_logits, answer, atol=1e-4)
    evaluator.evaluate(*batches[0])
    said = [record.getMessage() for record in caplog.records]
    assert said == ["OpenVINO failed (no such instruction); the net runs by PyTorch from now on"]
    evaluator.close()


def test_a_failure_of_what_was_insisted_on(net, monkeypatch):
    evaluator = make_evaluator(net, dataclasses.replace(SETTINGS, runtime="openvino"))
    fail_at(monkeypatch, "start", 1)
    with pytest.raises(EngineError, match="OpenVINO failed: no such instruction"):
        evaluator.evaluate(*inputs(evaluator, 1))


def test_a_family_without_a_graph(caplog):
    assert runtimes.choose_runtime("auto", "cpu", "new-kind") == "torch"
    assert "OpenVINO graphs of new-kind nets are not made; the net runs by PyTorch" in caplog.text
    with pytest.raises(EngineError, match="runtime openvino: OpenVINO graphs of new-kind nets"):
        runtimes.choose_runtime("openvino", "cpu", "new-kind")


class Compiler:
    """Compiles at once for fewer rows than `slow`, for more when it may go on."""

    def __init__(self, slow):
        self.slow, self.go, self.reached, self.calls = slow, threading.Event(), threading.Event(), []

    def __call__(self, rows):
        self.calls.append(rows)
        if rows >= self.slow:
            self.reached.set()
            assert self.go.wait(30.0)
        return self

    def create_infer_request(self):
        return object()


def test_batches_are_cut_into_what_is_compiled_while_the_rest_is_being_compiled():
    """A program for four rows, compiled in the middle of a game, took a move of 2 s on a busy machine."""
    compiler = Compiler(slow=4)
    programs = Programs(compiler, 8)
    assert programs.most == 8  # nothing was prepared: what is needed is compiled when it is needed
    thread = threading.Thread(target=programs.prepare, args=(4,))
    thread.start()
    assert compiler.reached.wait(30.0)
    assert programs.most == 2 and programs.rows == [1, 2]
    for rows in (1, 2):
        programs.request(rows)  # waits for nothing
    compiler.go.set()
    thread.join()
    assert programs.rows == compiler.calls == [1, 2, 4] and programs.most == 8


def test_two_threads_compile_nothing_twice():
    compiler = Compiler(slow=1)
    programs = Programs(compiler, 8)
    threads = [threading.Thread(target=programs.request, args=(1,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert compiler.reached.wait(30.0)
    compiler.go.set()
    for thread in threads:
        thread.join()
    assert compiler.calls == [1]


def test_a_failed_compilation_is_tried_again():
    answers = [RuntimeError("no memory"), "model"]

    def compiler(rows):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Compiler(9)

    programs = Programs(compiler, 1)
    with pytest.raises(RuntimeError):
        programs.request(1)
    programs.request(1)
    assert not answers


def test_an_evaluator_is_ready_for_the_batches_of_a_search(net):
    evaluator = make_evaluator(net, dataclasses.replace(SETTINGS, runtime="openvino", threads=2))
    assert evaluator.prepare(9, 9)
    compiled = evaluator._runner._runner._sizes.get(9, 9).rows
    for rows in range(1, evaluator.preferred_batch + 1):
        evaluator.evaluate(*inputs(evaluator, rows))
    assert evaluator._runner._runner._sizes.get(9, 9).rows == compiled == [1, 2, 4]
    evaluator.close()
