"""Labelling and self-play on a local Ray cluster of two workers; skipped where Ray (an optional extra) is absent."""

import os
import sys

import numpy as np
import pytest
from few_games import RECIPE, write_games

from engine.errors import ConfigError
from engine.train.label import main as label
from engine.train.records import read_any
from engine.train.selfplay.command import main as selfplay
from engine.train.shards import ShardFolder


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray", reason="Ray is not installed; it is an optional extra (keisei[ray])")
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {"env_vars": {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}}
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment)
    yield ray
    ray.shutdown()


def shards(folder):
    opened = ShardFolder(folder)
    return opened.header, [opened.open(entry["name"]) for entry in opened.entries]


@pytest.mark.parametrize("taught", [False, True])
def test_a_cluster_writes_what_one_process_writes(cluster, tmp_path, taught):
    (tmp_path / "small.toml").write_text(RECIPE)
    write_games(tmp_path / "sgf", 30)
    words = ["--recipe", str(tmp_path / "small.toml"), "--games", str(tmp_path / "sgf"), "--positions", "40"]
    words += ["--batch", "2", "--threads", "1", "--device", "cpu", "--shard-size", "16"]
    words += ["--teacher", "b6c64"] if taught else []
    assert label([*words, "--out", str(tmp_path / "one")]) == 0
    assert label([*words, "--out", str(tmp_path / "ray"), "--ray", "auto", "--ray-workers", "2"]) == 0
    (header, one), (other, many) = shards(tmp_path / "one"), shards(tmp_path / "ray")
    assert header == other and sum(map(len, one)) == sum(map(len, many)) > 20
    for mine, its in zip(one, many, strict=True):
        np.testing.assert_array_equal(mine["planes"], its["planes"])
        np.testing.assert_array_equal(mine["game"], its["game"])
        if taught:
            np.testing.assert_allclose(mine["value"].astype(float), its["value"].astype(float), atol=2e-2)


def test_a_worker_that_dies_is_replaced_and_its_work_done_again(cluster, tmp_path):
    from engine.train.ray_workers import Team

    class Fragile:
        """Dies at its first piece 3, when a file says so."""

        def __init__(self, folder):
            self.folder = folder

        def work(self, piece):
            flag = os.path.join(self.folder, "died")
            if piece == 3 and not os.path.exists(flag):
                open(flag, "w").close()
                os._exit(1)
            return piece * piece

    class Options:
        device = "cpu"

    team = Team("auto", 2, Fragile, Options(), str(tmp_path))
    assert list(team.map(range(8))) == [(piece, piece * piece) for piece in range(8)]
    assert (tmp_path / "died").exists()
    team.close()


def test_self_play_on_a_cluster_plays_the_games_of_the_plan(cluster, tmp_path):
    words = ["--net", "b6c64", "--sizes", "5", "--visits", "1", "--games", "6", "--part-games", "6", "--threads", "1"]
    words += ["--device", "cpu", "--seed", "3"]
    assert selfplay([*words, "--out", str(tmp_path / "ray"), "--ray", "auto", "--ray-workers", "2"]) == 0
    assert selfplay([*words, "--out", str(tmp_path / "one")]) == 0
    many, one = (list(read_any(tmp_path / name / "games.tsv")) for name in ("ray", "one"))
    assert len(many) == len(one) == 6
    assert [(game.size, game.komi, game.rules) for game in many] == [(game.size, game.komi, game.rules) for game in one]


def test_without_ray_the_option_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    (tmp_path / "small.toml").write_text(RECIPE)
    write_games(tmp_path / "sgf", 14)
    words = ["--recipe", str(tmp_path / "small.toml"), "--games", str(tmp_path / "sgf"), "--out", str(tmp_path / "s")]
    with pytest.raises(ConfigError, match=r"--ray needs the package ray: .*pip install ray"):
        label([*words, "--ray", "local"])
