"""Nets that predict k moves: the module against a slow one, files, the evaluator; and two nets as one evaluator."""

import dataclasses

import numpy as np
import pytest
import torch

from engine.board.planes import encode_position
from engine.board.position import Position
from engine.errors import EngineError, WeightsError
from engine.evaluator_fakes import HashEvaluator, TwoStepEvaluator
from engine.nn import NetSettings, checkpoint, load_net, make_evaluator
from engine.nn.kstep import new_kstep_spec
from engine.nn.policy_value import build_module, fold_for_export, load_tensors
from engine.nn.runtimes import openvino_missing
from engine.nn.spec import PASS_SHARE, parameter_count
from engine.nn.spec_check import check_spec
from engine.nn.two_nets import PASS_FLOOR, TwoNets
from engine.nn.wrappers import SymmetryAverage


@pytest.fixture(scope="module")
def trained():
    """A small net with norms that have seen something, in evaluation mode."""
    torch.manual_seed(5)
    spec = new_kstep_spec(channels=12, steps=3, layers=4, first_channels=10, name="small")
    module = build_module(spec, trainable=True).train()
    with torch.no_grad():
        for _ in range(3):
            module(torch.rand(4, 25, 7, 9), torch.zeros(4, 0))
    return spec, module.eval()


@pytest.fixture(scope="module")
def net(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("nets") / "small.safetensors"
    checkpoint.save(path, trained[0], fold_for_export(trained[1]), {"sizes": [[19, 19]]})
    return load_net(path)


def slow_conv(x, weight):
    """Cross-correlate [C, H, W] with [O, C, k, k], padded with zeros, one shift at a time."""
    reach = weight.shape[2] // 2
    padded = np.pad(x, ((0, 0), (reach, reach), (reach, reach)))
    height, width = x.shape[1:]
    shifts = [(y, v) for y in range(weight.shape[2]) for v in range(weight.shape[2])]
    return sum(
        np.einsum("oc,chw->ohw", weight[:, :, y, v], padded[:, y : y + height, v : v + width]) for y, v in shifts
    )


def slow_net(tensors, x):
    """Return [k, H, W] logits from the tensors of a file, in float64."""
    t = {name: tensor.double().numpy() for name, tensor in tensors.items()}
    names = ["first", *sorted({name.rsplit(".", 2)[0] for name in t if name.startswith("layers.")})]
    for name in names:
        x = slow_conv(x, t[f"{name}.conv.weight"])
        x = np.maximum(x * t[f"{name}.norm.scale"][:, None, None] + t[f"{name}.norm.bias"][:, None, None], 0)
    return slow_conv(x, t["last.weight"])


@pytest.mark.parametrize("runtime", ["torch", "openvino"])
@pytest.mark.parametrize(("width", "height"), [(19, 19), (9, 9), (5, 8), (2, 2)])
def test_the_evaluator_is_the_slow_net(net, width, height, runtime):
    if runtime == "openvino" and openvino_missing():
        pytest.skip(openvino_missing())
    evaluator = make_evaluator(net, NetSettings(device="cpu", precision="float32", threads=1, runtime=runtime))
    rng = np.random.default_rng(width)
    spatial, globals_ = evaluator.allocate(3, width, height)
    spatial[:] = rng.random(spatial.shape)
    answer = evaluator.evaluate(spatial, globals_, ownership=True)
    want = np.stack([slow_net(net.tensors, row.astype(np.float64)) for row in spatial]).reshape(3, 3, -1)
    np.testing.assert_allclose(answer.policy_logits[:, :-1], want[:, 0], atol=2e-5)
    np.testing.assert_allclose(answer.later_logits, want[:, 1:], atol=2e-5)
    odds = np.exp(answer.policy_logits - answer.policy_logits.max(axis=1, keepdims=True))
    np.testing.assert_allclose(odds[:, -1] / odds[:, :-1].sum(axis=1), PASS_SHARE, rtol=1e-3)
    assert evaluator.policy_only and not answer.value.any()
    assert answer.ownership is answer.lead is answer.score_mean is answer.no_result is None
    evaluator.close()


def test_trained_and_folded_agree(trained):
    spec, module = trained
    folded = load_tensors(build_module(spec), fold_for_export(module))
    again = load_tensors(build_module(spec, trainable=True), fold_for_export(module)).eval()
    x = torch.rand(2, 25, 9, 9), torch.zeros(2, 0)
    with torch.no_grad():
        for other in (folded, again):
            torch.testing.assert_close(module(*x).policy, other(*x).policy, atol=1e-5, rtol=1e-5)


def test_layers_but_the_last_start_the_same_for_every_k():
    nets = []
    for steps in (1, 3):
        torch.manual_seed(1)
        nets.append(build_module(new_kstep_spec(channels=8, steps=steps, layers=5), trainable=True).state_dict())
    for name, tensor in nets[0].items():
        assert name.startswith("last") or torch.equal(tensor, nets[1][name])


def test_the_papers_size():
    spec = new_kstep_spec()
    assert (spec["blocks"] + 2, spec["channels"], spec["input_channels"], spec["input"]["kernel"]) == (
        12, 384, 92, [5, 5])  # fmt: skip
    assert 12e6 < parameter_count(spec) < 15e6
    small = new_kstep_spec(channels=16)
    assert parameter_count(small) == sum(
        part.numel() for name, part in build_module(small).named_parameters() if "norm" not in name
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"steps": 0}, "predicted"), ({"steps": 17}, "predicted"), ({"steps": 1.0}, "predicted"),
        ({"blocks": 0}, "layers"), ({"blocks": [1]}, "layers"), ({"blocks": 512, "channels": 4096}, "parameters"),
        ({"channels": 0}, "channels"), ({"input_channels": -1}, "first layer"), ({"version": 2}, "version"),
        ({"encoding": "katago-v7"}, "global inputs"), ({"encoding": "darkforest-26"}, "unknown encoding"),
        ({"input": {"kernel": [4, 4], "dilation": [1, 1]}}, "even"), ({"input": None}, "malformed"),
    ],
)  # fmt: skip
def test_bad_specs_are_refused(changes, words):
    spec = new_kstep_spec(channels=8)
    check_spec(spec)
    with pytest.raises(WeightsError, match=words):
        check_spec({**spec, **changes})
    for key in spec:
        with pytest.raises(WeightsError):
            check_spec({k: v for k, v in spec.items() if k != key})


def test_averaging_over_symmetries_turns_every_map(net):
    evaluator = make_evaluator(net, NetSettings(device="cpu", precision="float32", threads=1))
    position = Position(9)
    for action in (12, 60, 13):
        position.play(action)
    averaged = SymmetryAverage(evaluator)
    answers = []
    for symmetry in (0, 6):
        planes, globals_ = encode_position(position, net.spec["encoding"], symmetry=symmetry)
        answers.append(averaged.evaluate(planes[None], globals_[None]))
    from engine.board.symmetry import transform_ownership

    turned = transform_ownership(answers[0].later_logits, 9, 9, 6)
    np.testing.assert_allclose(turned, answers[1].later_logits, atol=1e-4)


# ---------------------------------------------------------------------------------------------------- two nets


class Moves(HashEvaluator):
    """Moves alone, with maps of later moves."""

    policy_only = True
    name = "moves"

    def evaluate(self, spatial, globals_, *, ownership=False):
        answer = super().evaluate(spatial, globals_)
        later = np.repeat(answer.policy_logits[:, None, :-1], 2, axis=1)
        return dataclasses.replace(answer, value=np.zeros_like(answer.value), later_logits=later)


def two_nets():
    moves, judge = TwoStepEvaluator(Moves("darkforest-25", max_batch=16)), TwoStepEvaluator(HashEvaluator(max_batch=8))
    return TwoNets(moves, judge), moves, judge


def test_two_nets_take_moves_of_one_and_judgment_of_the_other():
    both, moves, judge = two_nets()
    assert both.encoding == "darkforest-25+katago-v7" and both.max_batch == 8 and both.supports_size(9, 7)
    position = Position(9)
    spatial, globals_ = both.allocate(3, 9, 9)
    for row, action in enumerate((4, 40, 81)):
        position.play(action)
        spatial[row], globals_[row] = encode_position(position, both.encoding)
    answer = both.evaluate(spatial, globals_, ownership=True)
    np.testing.assert_array_equal(moves.calls[0].spatial, spatial[:, :25])
    np.testing.assert_array_equal(judge.calls[0].spatial, spatial[:, 25:])
    np.testing.assert_array_equal(judge.calls[0].globals, globals_)
    first, second = moves.calls[0].evaluation, judge.calls[0].evaluation
    np.testing.assert_array_equal(answer.policy_logits[:, :-1], first.policy_logits[:, :-1])
    for name in ("value", "ownership", "lead", "score_mean", "score_stdev"):
        np.testing.assert_array_equal(getattr(answer, name), getattr(second, name))
    np.testing.assert_array_equal(answer.later_logits, first.later_logits)

    def pass_share(logits):
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return odds[:, -1] / odds.sum(axis=1)

    np.testing.assert_allclose(pass_share(answer.policy_logits), pass_share(second.policy_logits), rtol=1e-4)


def test_a_sure_or_impossible_pass_stays_finite():
    from engine.nn.two_nets import with_pass

    moves = np.zeros((2, 5), np.float32)
    judged = np.array([[0, 0, 0, 0, 200], [0, 0, 0, 0, -200]], np.float32)
    odds = np.exp(with_pass(moves, judged).astype(np.float64))
    np.testing.assert_allclose(odds[:, -1] / odds.sum(axis=1), [1 - PASS_FLOOR, PASS_FLOOR], rtol=0.1)


def test_nothing_stays_in_flight_after_an_error():
    both, _, judge = two_nets()
    spatial, globals_ = both.allocate(2, 5, 5)
    judge.submit(*judge.allocate(1, 5, 5))
    judge.submit(*judge.allocate(1, 5, 5))
    with pytest.raises(RuntimeError, match="in flight"):
        both.submit(spatial, globals_)
    judge.result(0)
    judge.result(1)
    first, second = both.submit(spatial, globals_), both.submit(spatial, globals_)  # both nets have room for two
    both.result(first)
    both.result(second)
    with pytest.raises(KeyError):
        both.result(second)

    class Broken(TwoStepEvaluator):
        def result(self, ticket):
            self._waiting.pop(0)
            raise EngineError("lost")

    judge = TwoStepEvaluator(HashEvaluator())
    with pytest.raises(EngineError, match="lost"):
        TwoNets(Broken(Moves("darkforest-25")), judge).evaluate(spatial, globals_)
    assert not judge._waiting
