"""What users are told: usage errors of every command in one line, no abbreviated options, hints for this Python."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import engine
from engine import cli
from engine.usage import install_hint

ROOT = Path(engine.__file__).parent


@pytest.mark.parametrize(
    "words",
    [
        ["gtp", "--visit", "5"],
        ["judge", "--mov", "5", "x.sgf"],
        ["match", "a", "b", "--out", "x", "--game", "2"],
        ["match"],
        ["nets"],
        ["nets", "list", "--jso"],
        ["nets", "what"],
        ["cgos", "--serve", "x:1", "--name", "abc"],
        ["ladder"],
        ["ladder", "x", "--mix"],
        ["bench", "board", "--whatever"],
        ["evaluate", "tactics", "--vis", "1"],
    ],
)
def test_usage_errors_are_one_line_and_options_are_not_abbreviated(words, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(words)
    out, err = capsys.readouterr()
    assert left.value.code == 2 and out == ""
    assert err.count("\n") == 1 and err.startswith(f"keisei {words[0]}") and "--help)" in err


def test_every_command_has_that_parser():
    for path in ROOT.rglob("*.py"):
        text = path.read_text("utf-8")
        assert not re.search(r"=\s*(argparse\.)?ArgumentParser\(", text), path


def test_hints_install_into_the_python_that_runs():
    assert install_hint("torch", "ray").endswith(" -m pip install torch ray")
    assert Path(sys.executable).name in install_hint("torch")


def test_no_message_names_an_extra_of_a_package_that_no_index_has():
    for path in ROOT.rglob("*.py"):
        assert "keisei[" not in path.read_text("utf-8"), path
