"""`keisei export`: where it writes, what it says, and what it leaves alone when something is wrong."""

import logging
import tomllib

import pytest
import torch

from engine.errors import ConfigError, WeightsError
from engine.nn import catalog, load_net
from engine.train import export as module
from engine.train.export import main, read_manifest
from engine.train.recipe import Recipe, TrainPlan
from engine.train.run import make_net
from engine.train.samples import SamplePlan

NET = {"blocks": 1, "channels": 8, "head_channels": 8, "value_channels": 8}


@pytest.fixture
def net(tmp_path):
    torch.manual_seed(0)
    path = tmp_path / "net.safetensors"
    trained = make_net(Recipe("t", SamplePlan(()), NET, {}, TrainPlan()), "katago-v7").eval()
    module.write_net(trained, path, {"name": "x", "sizes": [[9, 9]], "teacher": None})
    return path


def away_from_any_clone(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "lib" / "python" / "engine" / "train" / "export.py"))


def test_outside_a_clone_it_asks_for_the_folder_and_says_how_the_net_plays_anyway(net, tmp_path, monkeypatch):
    away_from_any_clone(tmp_path, monkeypatch)
    with pytest.raises(ConfigError, match=r"--weights DIR; the net plays without that: keisei gtp --net .*net\.safete"):
        main([str(net), "--name", "mine"])
    assert list((tmp_path / "here").iterdir()) == []


def test_a_folder_that_is_not_there_is_made_and_named(net, tmp_path, monkeypatch, caplog):
    away_from_any_clone(tmp_path, monkeypatch)
    with caplog.at_level(logging.INFO):
        assert main([str(net), "--name", "mine", "--weights", "a/b", "--note", "my key=x", "--measured", "g=1: c"]) == 0
    assert "written: a/b/mine.safetensors" in caplog.text and "keisei gtp --net a/b/mine.safetensors" in caplog.text
    entry = read_manifest(tmp_path / "here/a/b/manifest.toml")["mine"]
    assert entry["my key"] == "x" and entry["measured"] == {"g": "1: c"} and "teacher" not in entry
    assert load_net(tmp_path / "here/a/b/mine.safetensors").description.sha256 == entry["sha256"]
    assert sorted(path.name for path in (tmp_path / "here/a/b").iterdir()) == ["manifest.toml", "mine.safetensors"]


def test_in_a_clone_it_writes_to_its_weights_and_the_name_is_enough(net, tmp_path, monkeypatch, caplog):
    away_from_any_clone(tmp_path, monkeypatch)
    (tmp_path / "here/weights").mkdir()
    (tmp_path / "here/weights/manifest.toml").write_text("")
    monkeypatch.setattr(catalog, "weights_dir", lambda: tmp_path / "here/weights")
    with caplog.at_level(logging.INFO):
        assert main([str(net), "--name", "mine"]) == 0
    assert "keisei gtp --net mine\n" in caplog.text and catalog.find("mine").name == "mine.safetensors"


def test_the_net_that_plays_stays_the_one_that_plays(net, tmp_path):
    weights = tmp_path / "w"
    for name in ("a", "b"):
        main([str(net), "--name", name, "--weights", str(weights)])
    text = (weights / "manifest.toml").read_text().replace('["b"]\n', '["b"]\ndefault = true\n')
    (weights / "manifest.toml").write_text(text)
    main([str(net), "--name", "b", "--weights", str(weights)])
    assert tomllib.loads((weights / "manifest.toml").read_text())["b"]["default"] is True


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["{net}", "--name", "../mine"], ConfigError, "--name"),
        (["{net}", "--name", "mine.v2"], ConfigError, "--name"),
        (["{net}", "--name", "mine", "--note", "sha256=1"], ConfigError, "the command itself writes that key"),
        (["{net}", "--name", "mine", "--note", "novalue"], ConfigError, "KEY=TEXT"),
        (["{net}.absent", "--name", "mine"], WeightsError, "absent: no such file"),
        (["{folder}/bad.safetensors", "--name", "mine"], WeightsError, r"bad\.safetensors: damaged"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_written(net, tmp_path, words, error, message):
    (tmp_path / "bad.safetensors").write_bytes(net.read_bytes()[:2000])
    words = [word.format(net=net, folder=tmp_path) for word in words]
    with pytest.raises(error, match=message):
        main([*words, "--weights", str(tmp_path / "w")])
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("text", ["[mine\n", "mine = 3\n", "\xff"])
def test_a_damaged_manifest_is_left_as_it_is(net, tmp_path, text):
    weights = tmp_path / "w"
    weights.mkdir()
    (weights / "manifest.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(WeightsError, match=r"manifest\.toml"):
        main([str(net), "--name", "mine", "--weights", str(weights)])
    assert [path.name for path in weights.iterdir()] == ["manifest.toml"]
    assert (weights / "manifest.toml").read_bytes() == text.encode("latin-1")
