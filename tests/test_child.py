"""No test starts a Python that may find another engine than the one under test."""

import re
import subprocess
from pathlib import Path

import child

TESTS = Path(__file__).parent
STARTS = re.compile(r"""\[\s*sys\.executable,(?!\s*"-[PS]")""")
SAFE = {"test_world.py": 1}
"""torchrun's own module comes first there; the path of the tests is handed on."""


def test_a_child_imports_the_engine_under_test(tmp_path):
    command, environment = child.python("-c", "import engine.board.position as p; print(p.__file__)")
    said = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert Path(said.strip()).resolve().is_relative_to(child.PACKAGE_PARENT)


def test_every_child_is_started_so():
    found = {path.name: len(STARTS.findall(path.read_text("utf-8"))) for path in TESTS.rglob("*.py")}
    assert {name: count for name, count in found.items() if count} == SAFE
