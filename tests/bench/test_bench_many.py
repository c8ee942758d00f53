"""The benchmarks of many searches over one evaluator, of memory, and of KataGo beside us, at their smallest."""

import json
import subprocess
from pathlib import Path

import child
import pytest

from engine.bench import many, memory
from engine.board.position import Position

ROOT = Path(__file__).resolve().parents[2]


def test_many_searches_and_the_bare_net(capsys):
    arguments = ["--net", "none", "--sizes", "5", "--rounds", "1", "--seconds", "0.05", "--batch", "16"]
    assert many.main([*arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["way"] for row in rows] == ["bare net", "steps", "threads"]
    assert all(row["evaluations"] > 0 and row["wall"] > 0 for row in rows)
    assert rows[0]["ratio"] == 1.0 and rows[1]["searches"] == 8
    assert many.main(arguments) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5


def test_searches_in_steps_fill_the_batch_and_begin_again():
    evaluator = many.TwoSteps()
    group = many.Group(evaluator, [Position(5)] * 3, 4, 30)
    asked = sum(group.gather() for _ in range(40) if group.absorb() is None)
    group.absorb()
    assert 40 * 3 < asked <= 40 * 12


def test_memory_of_a_search(capsys):
    assert memory.main(["--visits", "300", "--sizes", "7", "--cache", "1", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["visits"] == 300 and 0.0 < row["tree"] < 5.0 and row["before"] > 1.0
    assert -1.0 < row["added"] < 30.0


def test_without_katago_it_says_so():
    script = ROOT / "benchmarks" / "versus_katago.py"
    if not script.exists():
        pytest.skip("no benchmarks beside the tests")
    command, environment = child.python(str(script), "--katago", "no-such-program", "--net", "b6c64")
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "skipped: no KataGo at 'no-such-program'" in done.stderr, done.stderr
