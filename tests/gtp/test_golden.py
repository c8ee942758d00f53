"""Whole sessions, byte for byte. KEISEI_UPDATE_GOLDEN=1 writes what the engine says now; read the difference then."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
TUNED = re.compile(r"\b(utility|utilityLcb|lcb) -?[0-9.]+")
"""Figures that change with the search's constants, which are no business of these tests."""


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda path: path.stem)
def test_transcript(make_client, path):
    wanted = path.read_text(encoding="utf-8")
    client = make_client(visits=1)  # the net's first choice: no matter how the search is tuned
    said = ""
    for line in re.findall(r"^> (.*)$", wanted, re.MULTILINE):
        client.send(line + "\n")
        said += f"> {line}\n"
        if line.partition("#")[0].strip():
            said += TUNED.sub(r"\1 *", client.read_until(r"\n\n"))
    if os.environ.get("KEISEI_UPDATE_GOLDEN") == "1":
        path.write_text(said, encoding="utf-8")
    assert said == wanted
