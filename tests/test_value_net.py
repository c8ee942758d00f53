"""`net.value_net`: which net judges positions for a net that gives moves alone, with files as a user has them."""

import numpy as np
import pytest
import torch

from engine import factory
from engine.board.position import Position
from engine.errors import ConfigError, WeightsError
from engine.judge.asking import evaluate_rows
from engine.nn import checkpoint
from engine.nn.kstep import new_kstep_spec
from engine.nn.new_spec import new_net_spec
from engine.nn.policy_value import build_module, fold_for_export
from engine.nn.settings import NetSettings


def write(path, spec):
    torch.manual_seed(2)
    checkpoint.save(path, spec, fold_for_export(build_module(spec, trainable=True)), {"name": path.stem})
    return str(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nets")
    moves = new_kstep_spec(channels=8, layers=3, first_channels=8, steps=2)
    return write(folder / "moves.safetensors", moves), write(
        folder / "judge.safetensors", new_net_spec(blocks=1, channels=8)
    )


def load(net, value_net):
    return factory.load(net, NetSettings(device="cpu", precision="float32", threads=1, value_net=value_net))


def test_alone_or_with_a_judge(files):
    moves, judge = files
    position = Position(9, rules="japanese", komi=6.5)
    for action in (10, 60, 61):
        position.play(action)
    rows = [(position, color, symmetry) for color in (1, 2) for symmetry in (0, 3)]
    alone, both, judged = load(moves, "none"), load(moves, judge), load(judge, "auto")
    assert alone.evaluator.policy_only and not getattr(both.evaluator, "policy_only", False)
    assert both.name == alone.name == "moves" and both.evaluator.encoding == "darkforest-25+katago-v7"
    answers = [evaluate_rows(net.evaluator, rows, ownership=True) for net in (alone, both, judged)]
    np.testing.assert_array_equal(answers[1].policy_logits[:, :-1], answers[0].policy_logits[:, :-1])
    np.testing.assert_array_equal(answers[1].later_logits, answers[0].later_logits)
    for name in ("value", "ownership", "lead"):
        np.testing.assert_array_equal(getattr(answers[1], name), getattr(answers[2], name))
    assert answers[0].ownership is None and answers[1].value.any()


def test_auto_takes_the_net_that_comes_with_the_engine(files):
    both = load(files[0], "auto")
    assert both.evaluator.encoding.startswith("darkforest-25+") and both.evaluator.supports_size(9, 9)


def test_what_makes_no_sense_is_refused(files):
    moves, judge = files
    with pytest.raises(ConfigError, match="judges positions itself"):
        load(judge, judge)
    with pytest.raises(ConfigError, match="judges nothing either"):
        load(moves, moves)
    with pytest.raises(WeightsError, match="no such file"):
        load(moves, "nowhere/net.safetensors")


def test_a_game_of_each_kind_over_one_search(files):
    """A whole small game: legal moves, figures where there is a judge, two passes in the end."""
    for value_net, judged in (("none", False), (files[1], True)):
        settings = factory.make_settings({"player": {"visits": 4, "seed": 1}})
        from engine.player.net import ReadyNet
        from engine.player.thinking import Wish

        player = factory.make_player(settings, ReadyNet(load(files[0], value_net)))
        player.new_board(5, 5)
        decisions = []
        while not player.game.position.ended and len(decisions) < 150:
            decisions.append(player.genmove(player.to_play, Wish()))
            if decisions[-1].action < 0:
                break
        assert all(decision.result.judged is judged for decision in decisions)
        assert player.game.position.ended or decisions[-1].action < 0 or judged
        assert judged or player.game.position.ended
