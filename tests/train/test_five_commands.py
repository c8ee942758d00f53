"""The five commands of docs/training.md, from SGF files to a shipped net, on a few small games."""

import json

import pytest
from few_games import RECIPE, write_games

from engine import cli
from engine.nn import load_net
from engine.train.records import read_any
from engine.train.selection import held_out
from engine.train.shards import ShardFolder, game_number


def keisei(*words):
    assert cli.main([str(word) for word in words]) == 0


@pytest.mark.parametrize("taught", [False, True])
def test_from_records_to_a_shipped_net(tmp_path, monkeypatch, capsys, taught):
    monkeypatch.setenv("KEISEI_DATA", str(tmp_path / "home"))
    (tmp_path / "small.toml").write_text(RECIPE)
    (tmp_path / "weights").mkdir()
    write_games(tmp_path / "sgf", 70)
    games, home = tmp_path / "games.tsv.xz", tmp_path / "home" / "small"
    recipe = ["--recipe", tmp_path / "small.toml"]
    threads = ["--threads", 1, "--device", "cpu"]

    keisei("records", tmp_path / "sgf", "--out", games)
    teacher = ["--teacher", "b6c64", "--batch", 4, "--positions", 60] if taught else []
    keisei("label", *recipe, "--games", games, *teacher, *threads)
    folder = ShardFolder(home / "shards")
    assert ("policy" in folder.header.targets) is taught and ("next" in folder.header.targets) is not taught
    labelled = {int(n) for entry in folder.entries for n in folder.open(entry["name"])["game"]}
    kept = {game_number(game.moves) for game in read_any(games) if held_out(game)}
    assert len(kept) > 2 and len(labelled) > 10 and not kept & labelled
    told = json.loads((home / "shards" / "sources.json").read_text())
    assert next(iter(told.values()))["held out"] == len(kept)

    keisei("train", *recipe, *threads, "--no-tensorboard")
    net = home / "run" / "net.safetensors"
    keisei("evaluate", "value", "--net", net, "--games", games, "--json", *threads)
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert figures["area"]["positions"] == len(kept) and 0 <= figures["area"]["top1"] <= 1

    keisei("export", net, "--name", "mine", "--weights", tmp_path / "weights")
    shipped = load_net(tmp_path / "weights" / "mine.safetensors")
    assert shipped.description.sizes == ((9, 9),) and '"mine"' in (tmp_path / "weights" / "manifest.toml").read_text()
