"""The engine where PyTorch is not installed: it plays, judges and says what cannot be had. In a process of its own."""

import json
import subprocess
import sys

import child
import pytest

from engine.nn.runtimes import openvino_missing

BLOCK = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
"""
needs_openvino = pytest.mark.skipif(openvino_missing() is not None, reason=str(openvino_missing()))


def run(code, *, blocked=("torch",), stdin=""):
    text = f"BLOCKED = {blocked!r}\n{BLOCK}\n{code}"
    command, environment = child.python("-c", text)
    return subprocess.run(command, env=environment, input=stdin, capture_output=True, text=True, timeout=120)


@needs_openvino
def test_a_gtp_session_plays_and_judges_without_torch():
    session = "boardsize 7\nkomi 7\nplay b d4\ngenmove w\nfinal_score\nquit\n"
    options = ["keisei", "gtp", "--visits", "2", "--set", "net.threads=1"]
    code = f"sys.argv = {options!r}\nfrom engine.__main__ import main\nmain()"
    done = run(code, stdin=session)
    replies = [line for line in done.stdout.splitlines() if line]
    assert len(replies) == 6 and all(line.startswith("=") for line in replies), (done.stdout, done.stderr)
    assert replies[3].split()[1] not in ("pass", "resign") and replies[4].split()[1][0] in "BW0"
    assert "Traceback" not in done.stderr


@needs_openvino
def test_torch_is_not_even_looked_at_where_it_is_installed():
    """Importing it takes longer than everything else until the first move."""
    code = """
import json
from engine import factory
from engine.nn.devices import gpu_usable
settings = factory.make_settings(factory.preset("gtp"), {"net": {"threads": 1, "device": "cpu"}})
net = factory.load_judging(None, settings, playing=True)
arrays = net.evaluator.allocate(1, 7, 7)
net.evaluator.evaluate(*arrays)
print(json.dumps([net.evaluator.runtime, "torch" in sys.modules]))
"""
    done = run(code, blocked=())
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["openvino", False]


def test_with_nothing_to_run_a_net_it_is_said_in_one_line():
    code = """
from engine import factory
from engine.errors import EngineError
settings = factory.make_settings(factory.preset("gtp"))
try:
    factory.load(None, settings.net)
except EngineError as error:
    print(error)
"""
    done = run(code, blocked=("torch", "openvino"))
    assert done.returncode == 0, done.stderr
    assert "OpenVINO is not installed" in done.stdout and "PyTorch is not installed" in done.stdout


@needs_openvino
@pytest.mark.parametrize("settings", [{"runtime": "torch"}, {"device": "cuda:0"}])
def test_what_needs_torch_says_so(settings):
    code = f"""
from engine import factory
from engine.errors import EngineError
from engine.nn.settings import NetSettings
try:
    factory.load(None, NetSettings(**{settings!r}))
except EngineError as error:
    print(error)
"""
    done = run(code)
    assert done.returncode == 0 and "PyTorch is not installed" in done.stdout, (done.stdout, done.stderr)


def test_a_command_that_needs_torch_says_so():
    code = """
from engine.cli import main
raise SystemExit(main(["train", "--recipe", "first", "--shards", "nowhere", "--out", "nowhere"]))
"""
    done = run(code)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.strip() == f"keisei train: needs PyTorch: {sys.executable} -m pip install torch"
