"""Training: the loss falls, a resumed run is the unbroken run, and what is exported computes what was trained."""

import dataclasses
import json
import tomllib

import numpy as np
import pytest
import torch
from teacher_fake import run_label, some_samples

from engine.errors import ConfigError
from engine.train import recipe as recipe_module
from engine.train.dataset import Loader, validation_batches
from engine.train.export import export, read_manifest, write_net
from engine.train.losses import LossWeights, losses, measures, policy_target, taught_outcome, value_target
from engine.train.optim import orthogonalise, schedule
from engine.train.recipe import Recipe, TrainPlan
from engine.train.run import CheckpointError, Run, make_net
from engine.train.samples import SamplePlan
from engine.train.shards import ShardError
from engine.train.train import main, train

NET = {"blocks": 2, "channels": 16, "gpool_every": 2, "head_channels": 8, "value_channels": 8}


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    run_label(folder, some_samples(300))
    return folder


def make_run(shards, folder, **plan):
    plan = {"steps": 12, "batch": 16, "shares": {"9": 1.0}, "validate_every": 1000, "warmup": 2, **plan}
    recipe = Recipe("tiny", SamplePlan(()), NET, {}, TrainPlan(**plan))
    loader = Loader([shards], recipe.train.batch, {9: 1.0}, seed=recipe.train.seed)
    return Run(recipe, loader, folder)


@pytest.mark.parametrize(("optimiser", "rate"), [("muon", 5e-3), ("adamw", 5e-3), ("sgd", 0.05)])
def test_the_loss_falls(shards, tmp_path, optimiser, rate):
    run = make_run(shards, tmp_path, steps=60, optimiser=optimiser, learning_rate=rate)
    terms = [run.train_step() for _ in range(60)]
    first, last = (np.mean([t["total"] for t in part]) for part in (terms[:8], terms[-8:]))
    assert last < first - 0.3
    assert all(np.isfinite(float(t["gradient"])) for t in terms)


@pytest.mark.parametrize(
    "plan",
    [
        {"norm": "batch"},
        {"norm": "affine", "schedule": "cosine", "cooldown": 1.0},
        {"optimiser": "sgd", "learning_rate": 0.05, "schedule": "constant"},
        {"optimiser": "adamw", "precision": "float32"},
    ],
)
def test_a_resumed_run_is_the_unbroken_run(shards, tmp_path, plan):
    whole = make_run(shards, tmp_path / "whole", **plan)
    for _ in range(12):
        whole.train_step()
    first = make_run(shards, tmp_path / "halves", **plan)
    for _ in range(7):
        first.train_step()
    first.save()
    second = make_run(shards, tmp_path / "halves", **plan)
    assert second.resume() and second.step == 7
    for _ in range(5):
        second.train_step()
    for name, tensor in whole.net.state_dict().items():
        assert torch.equal(tensor, second.net.state_dict()[name]), name
        assert torch.equal(whole.average.state[name], second.average.state[name]), name


@pytest.mark.parametrize("norm", ["batch", "affine"])
def test_an_exported_net_computes_what_was_trained(shards, tmp_path, norm):
    from engine.nn.net import load_net

    run = make_run(shards, tmp_path, norm=norm)
    train(run)
    net = load_net(tmp_path / "net.safetensors")
    assert net.description.metadata["steps"] == 12 and net.description.sizes == ((9, 9),)
    trained, loaded = run.averaged(), net.module()
    (batch,) = list(validation_batches(run.loader.folders, [9], 32, 32))
    with torch.inference_mode():
        for a, b in zip(
            trained(batch.spatial.float(), batch.globals_), loaded(batch.spatial.float(), batch.globals_), strict=True
        ):
            torch.testing.assert_close(a, b, atol=2e-4, rtol=2e-4)
    events = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert events[-1]["event"] == "validation" and "9" in events[-1]
    assert (tmp_path / "curve.png").stat().st_size > 1000


def test_the_manifest_keeps_figures_only_for_the_same_file(shards, tmp_path):
    run = make_run(shards, tmp_path)
    run.folder.mkdir(exist_ok=True)
    write_net(run.averaged(), tmp_path / "net.safetensors", {"name": "x", "sizes": [[9, 9]]})
    weights = tmp_path / "weights"
    weights.mkdir()
    entry = export(tmp_path / "net.safetensors", weights, "first", note={"licence": "MIT"})
    manifest = read_manifest(weights / "manifest.toml")
    assert manifest["first"] == entry and manifest["first"]["encoding"] == "katago-v7"
    text = (weights / "manifest.toml").read_text() + '\n[first.measured]\n"top-1" = "0.4 (a \\"command\\")"\n'
    (weights / "manifest.toml").write_text(text)
    export(tmp_path / "net.safetensors", weights, "first", note={})
    assert tomllib.loads((weights / "manifest.toml").read_text())["first"]["measured"]["top-1"].startswith("0.4")
    run.train_step()
    write_net(run.averaged(), tmp_path / "net.safetensors", {"name": "y"})
    assert "measured" not in export(tmp_path / "net.safetensors", weights, "first", note={})


def test_targets_mix_the_record_in(shards):
    loader = Loader([shards], 64, {9: 1.0})
    batch = next(loader)
    given = batch.targets
    target = policy_target(batch, 0.25)
    torch.testing.assert_close(target.sum(1), torch.ones(len(target)))
    for row in range(len(target)):
        played = int(given["played"][row])
        expected = given["policy"][row].clone()
        if played >= 0:
            expected *= 0.75
            expected[played] += 0.25
        torch.testing.assert_close(target[row], expected)
    target = value_target(batch, 0.5)
    torch.testing.assert_close(target.sum(1), torch.ones(len(target)))
    assert ((target[:, 0] - taught_outcome(batch)[:, 0])[given["result"] > 0] >= 0).all()
    assert ((target[:, 1] - taught_outcome(batch)[:, 1])[given["result"] < 0] >= 0).all()


def test_a_net_that_says_what_the_teacher_says_has_no_error(shards):
    from engine.nn.raw_outputs import RawOutputs

    batch = next(Loader([shards], 64, {9: 1.0}))
    given = batch.targets
    outputs = RawOutputs(
        given["policy"].clamp(min=1e-30).log()[:, None],
        taught_outcome(batch).clamp(min=1e-30).log(),
        torch.stack([given[name] for name in ("score_mean", "score_stdev", "lead")], dim=1) / 20,
        torch.atanh(given["ownership"].clamp(-0.9999, 0.9999)),
    )
    report = measures(outputs, batch)
    without_ties = int(((given["policy"] == given["policy"].amax(1, keepdim=True)).sum(1) == 1).sum())
    assert without_ties > 40 and report["top1_teacher"] >= without_ties
    for name in ("divergence", "value_error", "lead_error", "ownership_error"):
        assert report[name] / 64 < 1e-3, name
    best = losses(outputs, batch, LossWeights(played_share=0, result_share=0))
    other = outputs._replace(ownership=outputs.ownership + 0.5, score=outputs.score + 0.5, value=outputs.value * 0.5)
    worse = losses(other, batch, LossWeights(played_share=0, result_share=0))
    for name in ("value", "lead", "score_mean", "ownership"):
        assert worse[name] > best[name], name


def test_orthogonalise_brings_singular_values_near_one():
    for shape in ((16, 40), (40, 16)):
        values = torch.linalg.svdvals(orthogonalise(torch.randn(shape, generator=torch.Generator().manual_seed(1))))
        assert values.min() > 0.5 and values.max() < 1.3


def test_schedule():
    factors = [schedule(step, 100, 10, 0.5) for step in range(100)]
    assert factors[0] == 0.1 and factors[9:50] == [1.0] * 41 and 0 < factors[-1] < 0.05
    assert schedule(200, 100, 10, 0.5) == 0
    wave = [schedule(step, 100, 1, 1.0, "cosine") for step in range(101)]
    assert wave[0] == pytest.approx(1) and wave[50] == pytest.approx(0.5) and wave[100] == 0
    assert [schedule(step, 100, 4, 0.5, "constant") for step in (0, 50, 99)] == [0.25, 1.0, 1.0]


def test_affine_and_batch_nets_have_the_same_tensors_once_folded():
    from engine.nn.policy_value import fold_for_export

    nets = [
        make_net(Recipe("t", SamplePlan(()), NET, {}, TrainPlan(norm=norm)), "katago-v7")
        for norm in ("batch", "affine")
    ]
    assert fold_for_export(nets[0]).keys() == fold_for_export(nets[1]).keys()


def test_recipes(tmp_path):
    first = recipe_module.read_recipe("first")
    assert first.samples.sources and first.samples.exclude == ("alphago50",)
    path = tmp_path / "mine.toml"
    for text, message in [
        ("[train]\nlearning_rat = 1.0", "did you mean learning_rate"),
        ("[train]\nsteps = 1.5", "steps"),
        ("[trian]", "unknown section"),
        ("[[samples.sources]]\npath = 'x'", "samples.sources"),
        ("steps = ", "mine"),
    ]:
        path.write_text(text)
        with pytest.raises(ConfigError, match=message):
            recipe_module.read_recipe(str(path))
    with pytest.raises(ConfigError, match="absent"):
        recipe_module.read_recipe("absent")
    assert dataclasses.fields(TrainPlan)


def test_a_missing_shard_folder_is_an_error_that_names_it(tmp_path):
    with pytest.raises(ShardError, match=r"manifest\.jsonl"):
        main(["--recipe", "first", "--shards", str(tmp_path), "--out", str(tmp_path / "run")])


def test_a_checkpoint_that_is_damaged_or_of_another_net_is_an_error_that_names_it(shards, tmp_path):
    run = make_run(shards, tmp_path)
    run.save()
    other = make_run(shards, tmp_path, optimiser="sgd", learning_rate=0.05)
    with pytest.raises(CheckpointError, match=r"checkpoint\.pt"):
        other.resume()
    (tmp_path / "checkpoint.pt").write_bytes((tmp_path / "checkpoint.pt").read_bytes()[:1000])
    with pytest.raises(CheckpointError, match=r"checkpoint\.pt"):
        make_run(shards, tmp_path).resume()
    (tmp_path / "checkpoint.pt").write_bytes(b"x")
    with pytest.raises(CheckpointError, match="damaged"):
        make_run(shards, tmp_path).resume()


def test_choices_of_the_plan_are_checked(tmp_path):
    for text in (
        "optimiser = 'adam'",
        "schedule = 'steps'",
        "precision = 'half'",
        "norm = 'layer'",
        "shares = { a = 1 }",
    ):
        (tmp_path / "r.toml").write_text(f"[net]\nblocks = 1\nchannels = 8\n[train]\n{text}\n")
        with pytest.raises(ConfigError, match=text.split(" = ")[0]):
            recipe_module.read_recipe(str(tmp_path / "r.toml"))


def test_the_log_goes_to_tensorboard_where_it_is_installed_and_says_so_where_not(tmp_path, monkeypatch, caplog):
    import logging
    import sys

    from engine.train.logs import TENSORBOARD_HINT, RunLog, flatten

    assert flatten({"a": 1, "19": {"top1": 0.5}, "name": "x"}) == {"a": 1, "19/top1": 0.5}
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with caplog.at_level(logging.INFO):
        logs = RunLog(tmp_path / "without")
        logs.write("train", 1, {"total": 2.0})
        logs.close()
    assert (
        TENSORBOARD_HINT in caplog.text and json.loads((tmp_path / "without" / "log.jsonl").read_text())["total"] == 2
    )
    monkeypatch.undo()
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed (extra keisei[train])")
    logs = RunLog(tmp_path / "with")
    logs.write("validation", 1, {"19": {"top1": 0.5}})
    logs.close()
    assert [path.stat().st_size > 100 for path in (tmp_path / "with" / "tensorboard").iterdir()] == [True]
