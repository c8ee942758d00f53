"""The kind of net that predicts k moves: its losses and measures by hand, and from records to a net that plays."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from teacher_fake import some_samples

from engine.errors import ConfigError
from engine.nn import NetSettings, load_net, make_evaluator
from engine.train.dataset import Batch, Loader
from engine.train.kinds import make_kind
from engine.train.label import OneProcess, label, plan_header
from engine.train.labeller import Labeller
from engine.train.recipe import Recipe, TrainPlan, read_recipe
from engine.train.run import Run
from engine.train.samples import SamplePlan
from engine.train.shards import ShardError
from engine.train.train import finish_stage

SMALL = {"kind": "k-step", "channels": 8, "layers": 4, "first_channels": 8, "steps": 3}


def batch_of(moves):
    moves = torch.tensor(moves)
    return Batch(torch.zeros(len(moves), 25, 2, 2), torch.zeros(len(moves), 0), {"next": moves})


def test_losses_are_weighted_and_passes_and_unknown_moves_are_no_targets():
    kind = make_kind(SMALL, {})
    logits = torch.zeros(2, 3, 4)
    logits[0, 0, 1] = math.log(3.0)  # the played move has 3/6
    outputs = SimpleNamespace(policy=logits)
    terms = kind.losses(outputs, batch_of([[1, 2, 4], [4, -1, -1]]))  # 4 is a pass on 2x2
    assert float(terms["move1"]) == pytest.approx(math.log(2.0))
    assert float(terms["move2"]) == pytest.approx(math.log(4.0))
    assert float(terms["move3"]) == 0.0
    assert float(terms["total"]) == pytest.approx(math.log(2.0) + math.log(4.0) / 2)
    everything = kind.losses(outputs, batch_of([[1, 2, 3], [0, 1, 2]]))
    assert float(everything["total"]) == pytest.approx(
        float(everything["move1"]) + float(everything["move2"]) / 2 + float(everything["move3"]) / 3
    )


def test_measures_count_known_moves_alone():
    kind = make_kind(SMALL, {})
    logits = torch.arange(12.0).reshape(1, 3, 4).repeat(3, 1, 1)  # the last point is the first choice everywhere
    outputs = SimpleNamespace(policy=logits)
    sums = kind.measures(outputs, batch_of([[3, 3, 4], [0, -1, 3], [4, 3, -1]]))
    assert sums["positions"] == 3
    assert (sums["known_move1"], sums["top1_move1"], sums["top5_move1"]) == (2, 1, 2)
    assert (sums["known_move2"], sums["top1_move2"]) == (2, 2)
    assert (sums["known_move3"], sums["top1_move3"]) == (1, 1)
    means = kind.summarise(sums)
    assert means["top1_move1"] == 0.5 and means["top1_move2"] == 1.0 and means["positions"] == 3
    assert means["loss_move2"] == pytest.approx(-math.log(math.exp(3) / sum(math.exp(i) for i in range(4))), abs=1e-4)


def test_a_net_of_one_move_learns_from_shards_with_three():
    kind = make_kind({**SMALL, "steps": 1}, {})
    outputs = SimpleNamespace(policy=torch.zeros(2, 1, 4))
    terms = kind.losses(outputs, batch_of([[1, 2, 3], [0, 1, 2]]))
    assert set(terms) == {"move1", "total"}
    with pytest.raises(ShardError, match="3 next moves, the net predicts 4"):
        make_kind({**SMALL, "steps": 4}, {}).losses(SimpleNamespace(policy=torch.zeros(1, 4, 4)), batch_of([[1, 2, 3]]))


@pytest.mark.parametrize(("net", "loss", "word"), [({"wide": 3}, {}, "wide"), ({}, {"policy": 1.0}, "policy")])
def test_keys_that_nothing_reads_are_refused(net, loss, word):
    with pytest.raises(ConfigError, match=word):
        make_kind({"kind": "k-step", **net}, loss)


def test_the_recipes_have_the_papers_and_a_small_net():
    for name, channels, steps in (
        ("darkforest", 384, 3), ("darkforest-small", 64, 3), ("darkforest-small-k1", 64, 1),
    ):  # fmt: skip
        recipe = read_recipe(name)
        spec = recipe.kind().spec
        assert (spec["channels"], spec["steps"], spec["blocks"]) == (channels, steps, 10)
        assert spec["encoding"] == "darkforest-25" and recipe.kind().next_moves == steps
    one, three = (read_recipe(name) for name in ("darkforest-small-k1", "darkforest-small"))
    assert (one.samples, one.train) == (three.samples, three.train)


def test_from_records_to_a_net_that_plays(tmp_path):
    plan = TrainPlan(steps=12, batch=16, shares={"9": 1.0}, warmup=2, learning_rate=5e-3, validate_positions=16)
    recipe = Recipe("small", SamplePlan((), astray_share=0.0, pass_share=0.0), SMALL, {}, plan)
    header = plan_header(recipe, None, "")
    assert header.targets == ("next",) and header.next_moves == 3 and header.encoding == "darkforest-25"
    samples = [s for s in some_samples(220) if not s.astray and not s.passed]
    label(OneProcess(Labeller(None, header, 8)), header, iter(samples), tmp_path / "shards", batch=8, part="0/1")
    loader = Loader([tmp_path / "shards"], plan.batch, {9: 1.0}, seed=1)
    run = Run(recipe, loader, tmp_path / "run")
    losses = [run.train_step()["total"] for _ in range(12)]
    assert losses[-1] < losses[0] and losses[0] == pytest.approx((1 + 1 / 2 + 1 / 3) * math.log(81), rel=0.1)
    run.folder.mkdir()
    finish_stage(run, None)
    evaluator = make_evaluator(
        load_net(tmp_path / "run" / "net.safetensors"), NetSettings(device="cpu", precision="float32", threads=1)
    )
    batch = next(loader)
    with torch.no_grad():
        want = run.averaged()(batch.spatial.float(), batch.globals_).policy.numpy()
    answer = evaluator.evaluate(batch.spatial.float().numpy(), batch.globals_.numpy())
    np.testing.assert_allclose(answer.policy_logits[:, :-1], want[:, 0], atol=1e-4)
    np.testing.assert_allclose(answer.later_logits, want[:, 1:], atol=1e-4)
    evaluator.close()


class Knows:
    """Gives the moves of one record the highest logits, the next move and the two after it."""

    encoding, max_batch, name, policy_only = "darkforest-25", 64, "knows", True

    def __init__(self, actions):
        self.actions = actions

    def allocate(self, batch, width, height):
        return np.zeros((batch, 25, height, width), np.float32), np.zeros((batch, 0), np.float32)

    def evaluate(self, spatial, globals_, *, ownership=False):
        from engine.evaluator import Evaluation

        logits = np.zeros((len(spatial), 3, 82), np.float32)
        for row, planes in enumerate(spatial):
            played = int(planes[7:9].sum())  # stones on the board, none of them captured
            for step in range(3):
                logits[row, step, self.actions[played + step]] = 9
        logits[:, 1, :4] = 10  # four moves more likely than the record's second
        return Evaluation(logits[:, 0], np.zeros(len(spatial), np.float32), later_logits=logits[:, 1:, :81].copy())


def test_evaluation_measures_the_moves_after_the_next_one():
    from engine.train.evaluate import evaluate_policy
    from engine.train.records import Game
    from engine.train.samples import Sample

    actions = [40, 41, 50, 32, 81, 60, 81]
    letters = "".join("zz" if a == 81 else chr(97 + a % 9) + chr(97 + a // 9) for a in actions)
    samples = [Sample(Game(9, letters, result=1), ply, 0, False, "chinese", 7.5, 0) for ply in (0, 2)]
    report = evaluate_policy(Knows(actions + [81] * 3), samples)
    assert report["positions"] == 2 and report["top1"] == 1.0 and "result" not in report
    assert report["top1_move2"] == 0.0 and report["top5_move2"] == 1.0
    assert report["top1_move3"] == 1.0  # of the one sample whose third move is no pass
