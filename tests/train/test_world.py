"""Two processes that train one net over gloo: the same weights, different batches, one writer, an exact resume."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from teacher_fake import run_label, some_samples

from engine.errors import ConfigError
from engine.train.world import World, choose_device, join_world

CHILD = Path(__file__).parents[1] / "oracles" / "world_child.py"


def launch(shards, folder, report, count=2):
    report.mkdir()
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command = [*torchrun, "--nproc-per-node", str(count), str(CHILD), str(shards), str(folder), str(report)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads((report / f"{rank}.json").read_text()) for rank in range(count)]


@pytest.mark.slow  # torch's gloo threads now and then abort a process that has done its work and ends
def test_two_processes_train_one_net(tmp_path):
    if not torch.distributed.is_available():
        pytest.skip("this torch has no torch.distributed")
    run_label(tmp_path / "shards", some_samples(120))
    said = launch(tmp_path / "shards", tmp_path / "runs", tmp_path / "report")
    one, two = (process["whole"] for process in said)
    assert one["net"] == two["net"] and one["average"] == two["average"]
    for mine, other in zip(one["rows"], two["rows"], strict=True):
        assert len(mine) == len(other) == 8 and not set(mine) & set(other)
    assert [p["any"] for p in said] == [True, True] and [p["mean"] for p in said] == [0.5, 0.5]
    assert [p["agreed"] for p in said] == [["of 0"], ["of 0"]]
    lines = (tmp_path / "runs" / "whole" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["validation"]  # one writer
    for process in said:
        assert process["rest"]["resumed"] and not process["half"]["resumed"]
        assert process["rest"]["rows"] == process["whole"]["rows"][2:]
        assert process["rest"]["net"] == one["net"] != process["half"]["net"]


def test_alone_nothing_is_agreed_with_anybody(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    world = join_world("cpu")
    assert world == World() and world.writes
    net = torch.nn.Linear(2, 2)
    assert world.wrap(net) is net and world.mean({"a": 3.0}) == {"a": 3.0} and not world.any(False)
    world.wait()
    world.leave()


@pytest.mark.parametrize("name", ["cuda:99", "nonsense", "meta"])
def test_a_device_that_is_not_there_is_an_error(name):
    with pytest.raises(ConfigError, match="--device"):
        choose_device(name)
