"""docs/gtp.md names every command and no other, and what its examples show is what comes back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.gtp import commands, registry

assert commands
PAGE = Path(__file__).resolve().parents[2] / "docs" / "gtp.md"
RECORD = "(;SZ[19]KM[6.5];B[dd];W[pp];B[dp])"

BEFORE = {
    "undo": ["play b D4"],
    "gg-undo": ["play b D4", "play w Q16"],
    "gomill-explain_last_move": ["genmove b"],
}
"""What has to have happened on the empty board before an example can work."""

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="no docs beside the tests")


def rows():
    """Return the cells of every row that tells of a command: lists of (command, does, example)."""
    text = PAGE.read_text(encoding="utf-8").partition("## Commands")[2].partition("## Clients")[0]
    lines = [line.replace("\\|", "¦") for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip().replace("¦", "|") for cell in line.strip("|").split("|")] for line in lines]


def examples():
    """Return (line to send, what the page says comes back) for every row."""
    found = []
    for _, _, example in rows():
        match = re.fullmatch(r"`([^`]+)` → `([^`]*)`", example)
        assert match, f"{example}: no example"
        found.append((match[1], match[2]))
    return found


def test_every_command_is_documented():
    named = {words.split()[0] for command, _, _ in rows() for words in re.findall(r"`([^`]+)`", command)}
    assert named == set(registry.COMMANDS)
    assert len(rows()) == len(named)


def test_every_command_has_a_line_of_help():
    assert all(command.help.endswith(".") and len(command.help) > 10 for command in registry.COMMANDS.values())


def test_arguments_are_the_ones_of_the_table():
    for command, _, _ in rows():
        name, _, arguments = command.partition("`")[2].partition("`")[0].partition(" ")
        assert bool(arguments) == bool(registry.COMMANDS[name].usage), name


def test_every_example_gives_what_it_says(make_client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "game.sgf").write_text(RECORD, encoding="utf-8")
    client = make_client(visits=4)
    seen = set()
    for line, wanted in examples():
        name = line.split()[0]
        seen.add(name)
        client.ok("boardsize 19")
        for before in BEFORE.get(name, ()):
            client.ok(before)
        client.send(f"{line}\n")
        if name in ("lz-analyze", "kata-analyze"):
            start = client.read_until(r"^info [^\n]*\n")
            client.send("\n")
            reply = start + client.read_until(r"\A(info [^\n]*\n)*\n")
        else:
            reply = client.reply()
        assert reply.startswith("="), f"{line}: {reply}"
        start, dots, _ = wanted.replace("⏎", "\n").partition("…")
        assert reply.startswith(start) if dots else reply == start, f"{line}: {reply} instead of {wanted}"
        if name == "quit":
            client = make_client(visits=4)
    assert seen == set(registry.COMMANDS)


def advised():
    """Return the words behind "gtp" in the README and in the files for servers, as lists."""
    found = []
    readme = PAGE.parents[1].joinpath("README.md").read_text(encoding="utf-8")
    for code in re.findall(r"`+([^`\n]+)`+", readme):
        code = code.strip('"')
        match = re.fullmatch(r"(?:(?:DIR/\.venv/bin/)?keisei )?gtp((?: [^ ]+)*)", code)
        if match:
            found.append(match[1].split())
    folder = PAGE.parent / "servers"
    assert len(list(folder.iterdir())) == 3
    for path in sorted(folder.iterdir()):
        text = path.read_text(encoding="utf-8")
        (line,) = (line for line in text.splitlines() if "bin/keisei" in line)
        words = re.findall(r"[^\s\",\[\]]+", line.partition("keisei")[2])
        assert words[0] == "gtp", line
        found.append(words[1:])
    return found


def test_what_people_are_told_to_type_is_accepted():
    from engine import cli, factory

    commands_found = advised()
    assert len(commands_found) > 8 and ["--mimic", "katago"] in commands_found
    for words in commands_found:
        parser = cli.gtp_parser()
        options = parser.parse_args(words)
        factory.make_settings(factory.preset("gtp"), *cli.layers(options), {"gtp": cli.front(options)})
