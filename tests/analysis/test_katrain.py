"""KaTrain itself, without its window: its engine class starts `keisei analysis`, its game tree reads the answers.

Set KEISEI_KATRAIN_PYTHON to the Python of an environment with KaTrain installed; else `katrain` on the path is asked.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import child
import pytest

DRIVER = Path(__file__).with_name("katrain_driver.py")
WEIGHTS = Path(__file__).parents[2] / "weights"

pytestmark = pytest.mark.peer


@pytest.fixture(scope="module")
def katrains_python():
    """The Python that KaTrain is installed in."""
    named = os.environ.get("KEISEI_KATRAIN_PYTHON")
    script = shutil.which("katrain")
    python = named or (str(Path(script).resolve().parent / "python") if script else None)
    if python is None or subprocess.run([python, "-c", "import katrain"], check=False, capture_output=True).returncode:
        pytest.skip("KaTrain is not installed (KEISEI_KATRAIN_PYTHON names the Python it is installed in)")
    return python


@pytest.fixture
def keisei(tmp_path):
    """A program that starts this engine, as KaTrain is given one."""
    program = tmp_path / "keisei"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={child.PACKAGE_PARENT} exec {sys.executable} -P -m engine "$@"\n')
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize("backend", ["custom", "local"])
@pytest.mark.parametrize("size", ["9", "13:9"])
def test_a_game_is_analysed(katrains_python, keisei, backend, size):
    settings = {"backend": backend, "max_visits": 30, "max_time": 1000.0}
    if backend == "custom":
        settings["altcommand"] = f"exec {keisei} analysis"
    else:  # as it starts KataGo, with the files that come with it in place but for the net
        settings |= {"katago": keisei, "model": str(WEIGHTS / "b6c64.safetensors")}
    command = [katrains_python, str(DRIVER), json.dumps(settings), json.dumps(size)]
    found = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr
    data = json.loads(found.stdout.splitlines()[-1])
    assert data["errors"] == []
    points = 81 if size == "9" else 117
    for node in data["nodes"]:
        assert node["complete"] and node["visits"] >= 30 and 0.0 <= node["winrate"] <= 1.0
        assert node["ownership"] == points and node["policy"] == points + 1 and node["moves"] >= 1
    assert "Illegal move" in data["refused"][0]["error"] and data["refused"][0]["field"] == "moves"
    visits = [count for _, count in data["ponder"]]
    assert visits == sorted(visits) and [partial for partial, _ in data["ponder"]].count(False) == 1
