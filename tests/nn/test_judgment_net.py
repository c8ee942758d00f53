"""The judgment net: its maps on several sizes, its start from a playing net, symmetric answers, and what is refused."""

import dataclasses

import numpy as np
import pytest
import torch

from engine import factory
from engine.board.planes import encode_position
from engine.board.position import BLACK, WHITE, Position
from engine.errors import WeightsError
from engine.judge.judgment_net import OPPONENT, OWN, G, JudgmentNetOpinion, view_of
from engine.nn import checkpoint, load_net
from engine.nn.catalog import find
from engine.nn.judgment import MAPS, JudgmentNet, deepened, judgment_spec, of_trunk, read_maps, start_from
from engine.nn.judgment_evaluator import JudgmentEvaluator
from engine.nn.maps_evaluator import make_maps_evaluator
from engine.nn.policy_value import build_module, fold_for_export
from engine.nn.runtimes import openvino_missing
from engine.nn.settings import NetSettings

SETTINGS = NetSettings(device="cpu", precision="float32", threads=1)


def small(encoding: str = "katago-v7", **changes) -> JudgmentNet:
    torch.manual_seed(3)
    spec = judgment_spec(**{"blocks": 2, "channels": 16, "gpool_every": 2, "encoding": encoding, **changes})
    net = build_module(spec, trainable=True)
    assert isinstance(net, JudgmentNet)
    return net.eval()


@pytest.fixture
def saved(tmp_path):
    net = small()
    path = tmp_path / "net.safetensors"
    checkpoint.save(path, net.spec, fold_for_export(net), {"name": "small"})
    return net, path


def position_of(size: int) -> Position:
    position = Position(size)
    for action in (size + 1, 2 * size + 2, size + 2, 3 * size + 1):
        position.play(action)
    return position


@pytest.mark.parametrize("runtime", ["torch", "openvino"])
@pytest.mark.parametrize("size", [7, 9, 13, 19])
def test_the_evaluator_says_what_the_module_says(saved, size, runtime) -> None:
    if runtime == "openvino" and openvino_missing():
        pytest.skip(str(openvino_missing()))
    module, path = saved
    evaluator = make_maps_evaluator(load_net(path), dataclasses.replace(SETTINGS, runtime=runtime))
    assert isinstance(evaluator, JudgmentEvaluator) == (runtime == "torch")
    spatial, globals_ = encode_position(position_of(size), "katago-v7")
    with torch.inference_mode():
        wanted = read_maps(module(torch.from_numpy(spatial)[None], torch.from_numpy(globals_)[None])).numpy()
    maps = evaluator.maps(spatial[None], globals_[None])
    assert maps.shape == (1, len(MAPS), size * size)
    np.testing.assert_allclose(maps, wanted, atol=2e-4)
    assert (np.abs(maps[:, 0]) <= 1).all() and (maps[:, 1:] >= 0).all()
    np.testing.assert_allclose(maps[:, 1:4].sum(axis=1), 1.0, atol=1e-5)


def test_the_paper_s_net_has_its_size() -> None:
    """19 x 256 over 18 planes: 18*9*256 + 19 * 2 * 256 * 9 * 256 weights of 3x3 convolutions and the head."""
    spec = judgment_spec(blocks=19, channels=256, gpool_every=0, encoding="judgment-18")
    convolutions = sum(p.numel() for p in build_module(spec).parameters() if p.ndim == 4 and p.shape[-1] == 3)
    assert convolutions == 9 * 256 * (18 + 19 * 2 * 256)


def test_a_start_says_what_the_playing_net_says() -> None:
    """Before training, the owner is the playing net's ownership: tanh(x) = p(own) - p(opponent) but for p(nobody)."""
    playing = load_net(find("b6c64"))
    net = JudgmentNet(of_trunk(playing.spec))
    left = start_from(net, playing.tensors)
    assert set(left) == {
        "judgment_head.out.weight", "judgment_head.out_bias", "judgment_head.gpool_to_bias.weight"
    }  # fmt: skip
    spatial, globals_ = (torch.from_numpy(part)[None] for part in encode_position(position_of(9), "katago-v7"))
    with torch.inference_mode():
        maps = read_maps(net.eval()(spatial, globals_))[0]
        owner = torch.tanh(playing.module()(spatial, globals_).ownership[0])
    np.testing.assert_allclose((maps[OWN] - maps[OPPONENT]) / (1 - maps[3]), owner, atol=1e-4)


def test_a_deeper_net_says_at_first_what_its_start_says(saved) -> None:
    _, path = saved
    start = load_net(path)
    spec = deepened(start.spec, 1)
    assert len(spec["blocks"]) == len(start.spec["blocks"]) + 1
    net = build_module(spec, trainable=True)
    start_from(net, start.tensors)
    inputs = [torch.from_numpy(part)[None] for part in encode_position(position_of(9), start.spec["encoding"])]
    with torch.inference_mode():
        one, other = net.eval()(*inputs), start.module()(*inputs)
    np.testing.assert_allclose(one, other, atol=1e-4)
    with pytest.raises(WeightsError, match="more blocks"):
        deepened(start.spec, 99)


def test_a_start_survives_training_norms(saved) -> None:
    """A net begun from a judgment net, with batch norms to train, holds the same scales, biases and weights."""
    _, path = saved
    start = load_net(path)
    net = build_module(start.spec, trainable=True)
    assert start_from(net, start.tensors) == [
        name for name in net.state_dict() if "running" in name or "num_batches" in name
    ]


def test_one_answer_whoever_moves_and_before_and_after_passes(saved) -> None:
    _, path = saved
    source = factory.load_judgment(str(path), SETTINGS, symmetries=2)
    assert isinstance(source, JudgmentNetOpinion)
    position = position_of(9)
    first = source.opinion(position)
    position.to_play = WHITE
    second = source.opinion(position)
    position.play(81, WHITE)
    position.play(81, BLACK)
    third = source.opinion(position)
    for other in (second, third):
        np.testing.assert_allclose(first.owner, other.owner, atol=1e-6)
        np.testing.assert_allclose(first.territory, other.territory, atol=1e-6)


def test_swapped_colors_give_the_opposite(saved) -> None:
    _, path = saved
    source = factory.load_judgment(str(path), SETTINGS)
    one, other = Position(9), Position(9)
    stones = [(BLACK, 10), (WHITE, 20), (BLACK, 30), (WHITE, 31)]
    one.set_up(stones)
    other.set_up([(BLACK + WHITE - color, action) for color, action in stones])
    np.testing.assert_allclose(source.opinion(one).owner, -source.opinion(other).owner, atol=1e-5)
    np.testing.assert_allclose(source.maps(one)[G], -source.maps(other)[G], atol=1e-5)


def test_the_view_keeps_stones_and_forgets_the_rest() -> None:
    position = Position(9, rules="japanese", komi=6.5)
    position.play(40)
    position.play(81)
    position.play(81)
    view = view_of(position)
    assert (view.komi, view.n_moves, view.rules.scoring) == (0.0, 1, "AREA")
    assert view.color_at(40) == BLACK
    assert position.n_moves == 3 and position.komi == 6.5


def test_a_rectangle(saved) -> None:
    _, path = saved
    assert factory.load_judgment(str(path), SETTINGS).opinion(Position(9, 7)).owner.shape == (7, 9)


def test_what_is_refused(saved, tmp_path) -> None:
    _, path = saved
    with pytest.raises(WeightsError, match="no judgment net"):
        factory.load_judgment("b6c64", SETTINGS)
    with pytest.raises(WeightsError, match="judges positions"):
        factory.load(str(path), SETTINGS)
    evaluator = JudgmentEvaluator(load_net(path), SETTINGS)
    with pytest.raises(ValueError, match="do not fit"):
        evaluator.maps(np.zeros((1, 3, 9, 9), np.float32), np.zeros((1, 19), np.float32))
    with pytest.raises(ValueError, match="a batch of 0"):
        evaluator.maps(np.zeros((0, 22, 9, 9), np.float32), np.zeros((0, 19), np.float32))
    for damage in ({"head": {"channels": 0, "act": "relu"}}, {"version": 2}, {"tip": {"norm": "rmsnorm"}}, {"head": 3}):
        spec = {**small().spec, **damage}
        with pytest.raises(WeightsError):
            build_module(spec)
