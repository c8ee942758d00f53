"""docs/gtp.md names every command, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.gtp import commands, registry

assert commands
PAGE = Path(__file__).resolve().parents[2] / "docs" / "gtp.md"


@pytest.mark.skipif(not PAGE.is_file(), reason="no docs beside the tests")
def test_every_command_is_documented():
    text = PAGE.read_text(encoding="utf-8").partition("## Commands")[2].partition("## GUIs")[0]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    cells = " ".join(row.split("|")[1].replace("\\", "") for row in (line.replace("\\|", "/") for line in rows))
    named = {words.split()[0] for words in re.findall(r"`([^`]+)`", cells)}
    assert named == set(registry.COMMANDS)


def test_every_command_has_a_line_of_help():
    assert all(command.help.endswith(".") and len(command.help) > 10 for command in registry.COMMANDS.values())
