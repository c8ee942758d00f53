"""The CPU evaluator: shapes, independence of rows, both ways of calling it, precision, symmetry, board sizes."""

import dataclasses

import numpy as np
import pytest
import torch

from engine.board.symmetry import transform_ownership, transform_policy
from engine.errors import ConfigError, EngineError, UnsupportedBoardSize
from engine.evaluator import AsyncEvaluator, Evaluator
from engine.nn import checkpoint
from engine.nn.compiled import EvaluationGraph, compile_net
from engine.nn.devices import choose_precision, cpu_has_bfloat16
from engine.nn.net import load_net
from engine.nn.net_evaluator import make_evaluator
from engine.nn.new_spec import new_net_spec
from engine.nn.policy_value import build_module, fold_for_export
from engine.nn.runtimes import openvino_missing
from engine.nn.settings import NetSettings

CPU = NetSettings(device="cpu", precision="float32", threads=2)


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    torch.manual_seed(5)
    spec = new_net_spec(blocks=3, channels=24, gpool_channels=8, name="tiny")
    module = build_module(spec, trainable=True).train()
    with torch.no_grad():
        for _ in range(4):
            module(torch.randn(8, 22, 9, 9), torch.randn(8, 19))
    path = tmp_path_factory.mktemp("net") / "tiny.safetensors"
    checkpoint.save(path, spec, fold_for_export(module), {"sizes": [[9, 9], [19, 19]], "name": "tiny"})
    return load_net(path)


@pytest.fixture(scope="module", params=["torch", "openvino"])
def evaluator(net, request):
    if request.param == "openvino" and openvino_missing():
        pytest.skip(openvino_missing())
    return make_evaluator(net, dataclasses.replace(CPU, runtime=request.param))


def batch(evaluator, rows, width=9, height=9, seed=0):
    rng = np.random.default_rng(seed)
    spatial, globals_ = evaluator.allocate(rows, width, height)
    spatial[:] = rng.integers(0, 2, spatial.shape)
    spatial[:, 0] = 1
    globals_[:] = rng.normal(size=globals_.shape)
    return spatial, globals_


def same(a, b, rows_a=slice(None), rows_b=slice(None), atol=0.0):
    for field in dataclasses.fields(a):
        x, y = getattr(a, field.name), getattr(b, field.name)
        assert (x is None) == (y is None)
        if x is not None:
            assert np.allclose(x[rows_a], y[rows_b], atol=atol, rtol=0), field.name


def test_each_worker_is_one_thread(net):
    """A worker that forgot would wait at barriers for threads that other programs have put aside."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        runner = make_evaluator(net, dataclasses.replace(CPU, threads=2, runtime="torch"))._runner
        assert [runner._pool.submit(torch.get_num_threads).result() for _ in range(4)] == [1] * 4
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_a_net_whose_encoding_tells_no_rules(tmp_path):
    """Such a net cannot know whether a game may end without result: it never does."""
    spec = new_net_spec(blocks=1, channels=8, gpool_every=0, encoding="alphagozero-17", name="zero")
    checkpoint.save(tmp_path / "zero.safetensors", spec, fold_for_export(build_module(spec, trainable=True)), {})
    evaluator = make_evaluator(load_net(tmp_path / "zero.safetensors"), CPU)
    spatial, globals_ = evaluator.allocate(2, 9, 9)
    evaluation = evaluator.evaluate(spatial, globals_)
    assert spatial.shape == (2, 17, 9, 9) and evaluation.policy_logits.shape == (2, 82)
    assert evaluation.no_result is not None and not evaluation.no_result.any()


def test_description(net):
    d = net.description
    assert (d.name, d.format, d.encoding, d.blocks, d.channels) == ("tiny", "keisei", "katago-v7", 3, 24)
    assert d.sizes == ((9, 9), (19, 19)) and len(d.sha256) == 64 and d.bytes > d.parameters * 4
    assert d.trained_for(9, 9) is True and d.trained_for(13, 13) is False


def test_protocols_and_shapes(evaluator):
    assert isinstance(evaluator, Evaluator) and isinstance(evaluator, AsyncEvaluator)
    out = evaluator.evaluate(*batch(evaluator, 3, 7, 5), ownership=True)
    assert out.policy_logits.shape == (3, 36) and out.ownership.shape == (3, 35)
    assert out.later_logits is None
    for field in dataclasses.fields(out):
        if field.name == "later_logits":
            continue
        array = getattr(out, field.name)
        assert array.dtype == np.float32 and array.flags.c_contiguous and len(array) == 3
    assert evaluator.evaluate(*batch(evaluator, 1)).ownership is None
    assert (out.var_time_left == -1).all() and (out.shortterm_value_error == -1).all()
    assert np.abs(out.value).max() <= 1 and np.abs(out.ownership).max() <= 1


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 8])
def test_neighbours_change_nothing(evaluator, rows):
    """Bit for bit, for batches of one length."""
    spatial, globals_ = batch(evaluator, rows)
    first = evaluator.evaluate(spatial, globals_, ownership=True)
    other, other_globals = batch(evaluator, rows, seed=1)
    other[0], other_globals[0] = spatial[0], globals_[0]
    second = evaluator.evaluate(other, other_globals, ownership=True)
    same(first, second, slice(0, 1), slice(0, 1))


def test_batch_length_changes_only_last_bits(evaluator):
    spatial, globals_ = batch(evaluator, 8)
    whole = evaluator.evaluate(spatial, globals_, ownership=True)
    for row in (0, 3, 7):
        alone = evaluator.evaluate(spatial[row : row + 1], globals_[row : row + 1], ownership=True)
        same(alone, whole, slice(0, 1), slice(row, row + 1), atol=3e-5)


def test_submit_and_result(evaluator):
    batches = [batch(evaluator, rows, seed=rows) for rows in (1, 4, 3)]
    tickets = [evaluator.submit(*b, ownership=True) for b in batches]
    for ticket, inputs in zip(tickets, batches, strict=True):
        same(evaluator.result(ticket), evaluator.evaluate(*inputs, ownership=True), atol=3e-5)
    with pytest.raises(KeyError):
        evaluator.result(tickets[0])


def test_matches_the_module(net, evaluator):
    spatial, globals_ = batch(evaluator, 2)
    raw = net.module()(torch.from_numpy(spatial), torch.from_numpy(globals_))
    out = evaluator.evaluate(spatial, globals_, ownership=True)
    assert np.allclose(out.policy_logits, raw.policy[:, 0].numpy(), atol=3e-5)
    assert np.allclose(out.ownership, raw.ownership.tanh().numpy(), atol=3e-5)


def test_fused_and_plain_graphs_agree(net):
    """A GPU runs the net as it is, a CPU rewritten (fuse.py): the same numbers."""
    spatial, globals_ = batch(make_evaluator(net, CPU), 3, 7, 7)
    inputs = torch.from_numpy(spatial), torch.from_numpy(globals_)
    plain = EvaluationGraph(net, precision="float32", optimism=0.0, meta=None).eval()
    fused = compile_net(net, 7, 7, precision="float32")
    with torch.inference_mode():
        assert torch.allclose(plain(*inputs), fused(*inputs), atol=3e-5)
        rough = EvaluationGraph(net, precision="bfloat16", optimism=0.0, meta=None).eval()(*inputs)
    assert rough.dtype == torch.float32 and torch.allclose(rough, fused(*inputs), atol=0.2)


def test_bfloat16_is_close(net, evaluator):
    spatial, globals_ = batch(evaluator, 4)
    exact = evaluator.evaluate(spatial, globals_, ownership=True)
    settings = dataclasses.replace(CPU, precision="bfloat16", runtime=evaluator.runtime)
    rough = make_evaluator(net, settings).evaluate(spatial, globals_, ownership=True)
    assert 0 < np.abs(exact.policy_logits - rough.policy_logits).max() < 0.1
    assert np.abs(exact.value - rough.value).max() < 0.05


def test_average_over_symmetries_does_not_turn(evaluator):
    """The mean over all eight symmetries of a turned position is the turned mean."""

    def mean(spatial, globals_):
        policy, ownership = [], []
        for s in range(8):
            turned = spatial[:, :, ::-1] if s & 1 else spatial
            turned = turned[:, :, :, ::-1] if s & 2 else turned
            turned = np.ascontiguousarray(turned.swapaxes(2, 3) if s & 4 else turned)
            out = evaluator.evaluate(turned, globals_, ownership=True)
            policy.append(transform_policy(out.policy_logits, 9, 9, s, inverse=True))
            ownership.append(transform_ownership(out.ownership, 9, 9, s, inverse=True))
        return np.mean(policy, axis=0), np.mean(ownership, axis=0)

    spatial, globals_ = batch(evaluator, 1)
    policy, ownership = mean(spatial, globals_)
    turned_policy, turned_ownership = mean(np.ascontiguousarray(spatial[:, :, ::-1].swapaxes(2, 3)), globals_)
    assert np.allclose(transform_policy(policy, 9, 9, 5), turned_policy, atol=1e-4)
    assert np.allclose(transform_ownership(ownership, 9, 9, 5), turned_ownership, atol=1e-4)


def test_sizes(net):
    evaluator = make_evaluator(net, dataclasses.replace(CPU, cached_sizes=1))
    for size in (2, 25, 2):
        out = evaluator.evaluate(*batch(evaluator, 1, size, size))
        assert out.policy_logits.shape == (1, size * size + 1)
    assert not evaluator.supports_size(26, 26) and not evaluator.supports_size(1, 9)
    with pytest.raises(UnsupportedBoardSize, match="26x26"):
        evaluator.evaluate(*batch(evaluator, 1, 26, 26))


def test_wrong_inputs(evaluator):
    with pytest.raises(ValueError, match="fit"):
        evaluator.evaluate(np.zeros((1, 18, 9, 9), np.float32), np.zeros((1, 19), np.float32))
    with pytest.raises(ValueError, match="batch of 33"):
        evaluator.evaluate(*batch(evaluator, 33))


def test_not_finite_is_said(net, evaluator):
    arrays = dict(net.arrays)
    arrays["policy_head.pass_out.weight"] = np.full_like(arrays["policy_head.pass_out.weight"], 3e38)
    settings = dataclasses.replace(CPU, runtime=evaluator.runtime)
    evaluator = make_evaluator(dataclasses.replace(net, arrays=arrays), settings)
    spatial, globals_ = batch(evaluator, 1)
    with pytest.raises(EngineError, match="not finite"):
        evaluator.evaluate(spatial, globals_)


def test_precision_of_auto(net):
    """Narrow nets stay in float32; a CPU without bfloat16 arithmetic as well."""
    assert choose_precision("auto", "cpu", 16) == "float32"
    assert choose_precision("auto", "cpu", 96) == ("bfloat16" if cpu_has_bfloat16() else "float32")
    assert make_evaluator(net, dataclasses.replace(CPU, precision="auto")).precision == "float32"


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        (NetSettings(device="gpu"), ConfigError),
        (NetSettings(device="cuda:x"), ConfigError),
        (NetSettings(device="cpu", precision="float16"), ConfigError),
    ],
)
def test_settings_are_refused(net, settings, error):
    with pytest.raises(error):
        make_evaluator(net, settings)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_an_error(net):
    with pytest.raises(EngineError, match="cuda:0 is not available"):
        make_evaluator(net, NetSettings(device="cuda:0"))


@pytest.mark.parametrize("device", ["cpu,cpu", "cpu,cuda:0", "cuda:0,,cuda:1"])
def test_lists_of_devices_are_refused(net, device):
    with pytest.raises((ConfigError, EngineError)):
        make_evaluator(net, NetSettings(device=device))
