"""Training on what is damaged: manifests, shards, checkpoints, logs, recipes. One line of error each, or it goes on."""

import json
import random

import numpy as np
import pytest
import torch
from teacher_fake import run_label, some_samples

from engine.errors import ConfigError, EngineError
from engine.train.curves import draw_curves
from engine.train.dataset import Loader
from engine.train.folder import write_whole
from engine.train.logs import RunLog, read_log
from engine.train.recipe import Recipe, TrainPlan, read_recipe
from engine.train.run import MOST_LOST, CheckpointError, Run
from engine.train.samples import SamplePlan
from engine.train.shards import ShardError, ShardFolder

NET = {"blocks": 1, "channels": 8, "head_channels": 8, "value_channels": 8}


@pytest.fixture
def shards(tmp_path):
    run_label(tmp_path / "shards", some_samples(60))
    return tmp_path / "shards"


def make_run(shards, folder, **plan):
    recipe = Recipe("tiny", SamplePlan(()), NET, {}, TrainPlan(**{"batch": 8, "shares": {"9": 1.0}, **plan}))
    return Run(recipe, Loader([shards], 8, {9: 1.0}), folder)


def first_shard(folder):
    return next(folder.glob("*.npy"))


@pytest.mark.parametrize("keep", [0, 1, 60, 1000, -1])
def test_a_shard_cut_short_is_named_with_what_helps(shards, keep):
    path = first_shard(shards)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ShardError, match=rf"{path.name}: .*delete the shard's line"):
        Loader([shards], 8, {9: 1.0}).positions()


def test_a_shard_of_another_length_or_type_is_named(shards):
    path = first_shard(shards)
    whole = np.load(path)
    for wrong, message in ((whole[:-1], "records, not"), (np.zeros(len(whole)), "another format")):
        np.save(path, wrong)
        with pytest.raises(ShardError, match=message):
            Loader([shards], 8, {9: 1.0}).positions()


def test_any_damage_of_a_manifest_is_one_error_or_leaves_shards_out(shards):
    path, rng = shards / "manifest.jsonl", random.Random(3)
    text = path.read_bytes()
    fixed = [b"", b"\n", b"[]\n", b"null\n", b'"x"\n', b"\xff\xfe", text[: len(text) // 2], text.split(b"\n")[0]]
    head = json.loads(text.splitlines()[0])
    heads = [{k: v for k, v in head.items() if k != gone} for gone in head]
    heads += [head | {key: value} for key in head for value in (None, -1, "x", [], {})]
    fixed += [json.dumps(value).encode() + b"\n" for value in heads]
    entries = ({"name": "x"}, {"name": 3}, [], {"name": "../x", "size": 9})
    fixed += [text + json.dumps(entry).encode() + b"\n" for entry in entries]
    for _ in range(60):
        data = bytearray(text)
        data[rng.randrange(len(data))] = rng.randrange(256)
        fixed.append(bytes(data))
    for data in fixed:
        path.write_bytes(data)
        try:
            Loader([shards], 8, {9: 1.0}).positions()
        except ShardError as error:
            assert str(shards) in str(error) or "encodings" in str(error), (data, error)


@pytest.mark.parametrize("seed", range(3))
def test_any_damage_of_a_checkpoint_is_one_error_that_names_it(shards, tmp_path, seed):
    run, rng = make_run(shards, tmp_path / "run"), random.Random(seed)
    run.train_step()
    run.save()
    whole = run.checkpoint.read_bytes()
    for _ in range(12):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 40))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        run.checkpoint.write_bytes(bytes(data[: rng.choice((len(data), rng.randrange(len(data))))]))
        try:
            run.resume()  # a number in a tensor may be anything
        except CheckpointError as error:
            assert "checkpoint.pt: not a checkpoint of this recipe" in str(error)
    for other in ([1], {"net": 3}, {"net": {}}, None):
        torch.save(other, run.checkpoint)
        with pytest.raises(CheckpointError, match=r"checkpoint\.pt"):
            run.resume()


def test_a_full_disk_is_an_error_of_the_system_and_leaves_the_old_checkpoint(shards, tmp_path, monkeypatch):
    run = make_run(shards, tmp_path / "run")
    run.save()
    before = run.checkpoint.read_bytes()

    def full(self, *words, **named):
        raise OSError(28, "No space left on device")

    import os

    monkeypatch.setattr(os, "fsync", full)
    run.train_step()
    with pytest.raises(OSError, match="No space"):
        run.save()
    with pytest.raises(OSError, match="No space"):
        write_whole(tmp_path / "run" / "x", "text")
    with pytest.raises(OSError, match=r"No space.*more"):
        run_label(tmp_path / "more", some_samples(4))
    assert list((tmp_path / "more").iterdir()) == []
    assert run.checkpoint.read_bytes() == before
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["checkpoint.pt"]


def test_steps_without_a_finite_gradient_are_counted_and_end_the_run(shards, tmp_path):
    run = make_run(shards, tmp_path / "run")
    run.train_step()
    path = first_shard(shards)
    records = np.load(path)
    records["globals"] = np.nan
    np.save(path, records)
    run = make_run(shards, tmp_path / "run")
    with pytest.raises(CheckpointError, match=rf"{MOST_LOST} steps without a finite gradient.*learning_rate"):
        for _ in range(MOST_LOST):
            run.train_step()
    assert run.lost_in_all == MOST_LOST
    assert all(bool(torch.isfinite(p).all()) for p in run.net.parameters())


def test_a_log_goes_on_after_a_kill_in_the_middle_of_a_line(tmp_path):
    path = tmp_path / "log.jsonl"
    lines = [{"event": "train", "step": n, "total": 2.0 / n} for n in (50, 100)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"event": "tra')
    logs = RunLog(tmp_path, tensorboard=False)
    logs.write("train", 100, {"total": 1.0})
    logs.write("train", 150, {"total": float("nan")})
    logs.write("validation", 150, {"9": {"top1": float("inf"), "loss": 1.0}})
    raw = [json.loads(line, parse_constant=pytest.fail) for line in path.read_text().splitlines()]
    assert len(raw) == 5
    found = [(line["step"], line.get("total")) for line in read_log(path)]
    assert found == [(50, 0.04), (100, 1.0), (150, None), (150, None)]
    path.write_bytes(path.read_bytes() + b'[]\n{"event": 3}\n\xff\n')
    draw_curves(path, tmp_path / "curve.png", ["top1"])
    assert (tmp_path / "curve.png").stat().st_size > 1000


@pytest.mark.parametrize(
    "text",
    [
        "samples = 3",
        "name = 3",
        'name = "../x"',
        "[samples]\nexclude = 'alphago50'",
        "[samples]\nsources = 'x'",
        "[samples]\nsources = [1]",
        "[[samples.sources]]\npositions = 3",
        "[[samples.sources]]\npath = 'x'\npositions = 0",
        "[samples]\nrules = { nonsense = 1.0 }",
        "[samples]\nrules = { chinese = -1.0 }",
        "[samples]\nrules = { chinese = 0.0 }",
        "[samples]\nrules = 'chinese'",
        "[samples]\nastray_share = 1.5",
        "[samples]\nkomi_spread = nan",
        "[labels]\ntargets = 'policy'",
        "[train]\nbatch = 0",
        "[train]\nsteps = -1",
        "[train]\nlearning_rate = inf",
        "[train]\ncooldown = 2.0",
        "[train]\nshares = { '19' = 'x' }",
        "[train]\nshares = { '0' = 1.0 }",
        "[train]\nshares = { '9' = 0.0 }",
        "[train]\nshares = { '²' = 1.0 }",
        "[train]\nshares = { '019' = 1.0 }",
        "[net]\nkind = 3",
        "[net]\nblocks = -1\nchannels = 8",
        "[net]\nblocks = 'x'\nchannels = 8",
        "[loss]\nvalue = 'x'",
        "[nett]",
    ],
)
def test_a_wrong_recipe_is_one_error_that_names_it(tmp_path, text):
    (tmp_path / "wrong.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"wrong\.toml"):
        recipe = read_recipe(str(tmp_path / "wrong.toml"))
        Run(recipe, Loader([tmp_path], 8, {9: 1.0}), tmp_path)


def test_a_recipe_that_is_not_there_names_those_that_are():
    with pytest.raises(ConfigError, match=r"'amatuer': there is none \(did you mean amateur\?\); there are .*zero7"):
        read_recipe("amatuer")
    with pytest.raises(ConfigError, match=r"nothing\.toml"):
        read_recipe("nothing.toml")
    assert issubclass(CheckpointError, EngineError) and not issubclass(CheckpointError, ConfigError)


def test_a_manifest_line_that_was_cut_by_a_kill_costs_only_its_shard(shards):
    folder = ShardFolder(shards)
    count = len(folder.entries)
    with (shards / "manifest.jsonl").open("a") as file:
        file.write('{"name": "9x9-0-0')
    folder.refresh()
    assert len(folder.entries) == count


def test_a_run_goes_on_when_a_shard_of_its_epoch_is_gone(shards, tmp_path, caplog):
    run_label(tmp_path / "more", some_samples(40, seed=5))
    recipe = Recipe("tiny", SamplePlan(()), NET, {}, TrainPlan(batch=8, shares={"9": 1.0}))
    first = Run(recipe, Loader([shards, tmp_path / "more"], 8, {9: 1.0}), tmp_path / "run")
    first.train_step()
    first.save()
    second = Run(recipe, Loader([shards], 8, {9: 1.0}), tmp_path / "run")
    assert second.resume() and "a new epoch begins" in caplog.text and "1/9x9" in caplog.text
    for _ in range(12):
        second.train_step()
    again = Run(recipe, Loader([shards, tmp_path / "more"], 8, {9: 1.0}), tmp_path / "run")
    caplog.clear()
    assert again.resume() and not caplog.text
    again.train_step()
