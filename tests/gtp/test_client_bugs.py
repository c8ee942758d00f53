"""The table of known mistakes (client_bugs.toml) is whole and its tests exist; and tests that belong nowhere else."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest
from judged_positions import CASES
from lopsided import Lopsided

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("client_bugs.toml")
KNOWN = 41


def test_the_table_is_whole():
    bugs = tomllib.loads(TABLE.read_text(encoding="utf-8"))["bug"]
    assert [bug["number"] for bug in bugs] == list(range(1, KNOWN + 1))
    assert all(bug["what"] and (bug.get("tests") or bug.get("why")) for bug in bugs)
    functions = {}
    for name in {test for bug in bugs for test in bug.get("tests", ())}:
        path, _, function = name.partition("::")
        if path not in functions:
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            functions[path] = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert function.startswith("test_") and function in functions[path], name


def test_stones_played_one_after_another_are_handicap(make_client):
    client = make_client(Lopsided(), resign_winrate=0.5, resign_moves=1)
    client.ok("boardsize 9")
    for vertex in ("C3", "G7", "G3", "C7"):
        client.ok(f"play b {vertex}")
    assert client.game.position.handicap == 4
    assert client.ok("genmove w") != "resign"
    client.ok("clear_board")
    client.ok("play b C3")
    assert client.game.position.handicap == 0 and client.ok("genmove w") == "resign"


def test_errors_come_in_whole_lines(caplog):
    import io
    import logging

    from engine.gtp.stderr import StderrHandler

    class Writes(io.StringIO):
        def __init__(self):
            super().__init__()
            self.pieces = []

        def write(self, text):
            self.pieces.append(text)
            return len(text)

    stream = Writes()
    handler = StderrHandler(stream)
    for text in ("one", "two\nthree", "", "= four\n\n", "D4 -> 5 (V: 50%)"):
        handler.emit(logging.LogRecord("x", logging.INFO, "", 0, text, (), None))
    handler.drain(5.0)
    assert all(piece.endswith("\n") for piece in stream.pieces)
    lines = [line for piece in stream.pieces for line in piece.splitlines()]
    assert len(lines) == 7 and all(line.startswith("keisei: ") and " -> " not in line for line in lines)


def test_no_variation_is_empty_even_at_the_end_of_a_game(make_client):
    client = make_client(visits=10)
    for line in ("boardsize 2", "kata-set-rules tromp-taylor", "play b a1", "play w pass"):
        client.ok(line)
    for family in ("lz", "kata"):
        client.send(f"{family}-genmove_analyze b 1\n")
        *infos, play = client.reply().split("\n")[1:]
        assert play.startswith("play ")
        for line in infos:
            for segment in line.removeprefix("info ").split(" info "):
                assert re.search(r" pv (?:[AB][12]|pass)( |$)", segment)
        client.ok("undo")


def test_one_side_moves_again_and_again(client):
    client.ok("boardsize 9")
    first, second = client.ok("genmove w"), client.ok("genmove w")
    assert first != second and [color for color, _ in client.game.position.moves] == [2, 2]
    assert client.ok("genmove b") not in (first, second)
    client.ok("gg-undo 2")
    assert client.game.position.n_moves == 1


def test_undoing_and_replaying_a_game_gives_the_same_positions(make_client):
    client = make_client(visits=2, resign=False)
    client.ok("boardsize 5")
    keys = [client.game.position.situation_key()]
    moves = []
    for number in range(30):
        color = "bw"[number % 2]
        moves.append((color, client.ok(f"genmove {color}")))
        keys.append(client.game.position.situation_key())
    for key in reversed(keys[:-1]):
        client.ok("undo")
        assert client.game.position.situation_key() == key
    for (color, vertex), key in zip(moves, keys[1:], strict=True):
        client.ok(f"play {color} {vertex}")
        assert client.game.position.situation_key() == key


def test_another_komi_changes_the_analysis(client):
    def winrates():
        client.send("kata-genmove_analyze b 1000\n")
        text = client.reply()
        client.ok("undo")
        return re.findall(r"winrate (\S+)", text)

    client.ok("boardsize 5")
    first = winrates()
    assert client.ok("komi 20.5") == "" and winrates() != first
    client.ok("komi 7.5")


def test_json_in_the_wrong_mode_is_explained(client, caplog):
    assert client.error('{"id":"a","action":"query_version"}') == "unknown command"
    assert "looks like JSON" in caplog.text


def test_the_color_named_wins_over_the_records(make_client, tmp_path):
    client = make_client(Lopsided())
    (tmp_path / "set-up.sgf").write_text("(;SZ[9]AB[cc][gg]AW[gc]PL[W])", encoding="utf-8")
    assert client.ok(f"loadsgf {tmp_path / 'set-up.sgf'}") == "white"
    assert client.ok("keisei-best_moves").endswith("TEXT White 20.0 %, B+10, 100 visits")
    assert client.ok("keisei-best_moves b").endswith("TEXT Black 80.0 %, B+10, 100 visits")
    client.ok("genmove b")
    assert client.game.position.moves[0][0] == 1


@pytest.mark.parametrize("name", ["seki with three inside", "seki, eye against eye", "two eyes"])
def test_a_seki_is_a_seki(make_client, name):
    """No net is needed: small regions are read to the end, whatever the evaluator thinks."""
    (case,) = (case for case in CASES if case.name == name)
    words = []
    for row, line in enumerate(case.rows):
        for column, sign in enumerate(line):
            if sign != ".":
                words += ["b" if sign == "X" else "w", f"{'ABCDEFGHJ'[column]}{len(case.rows) - row}"]
    client = make_client(Lopsided())
    client.ok("boardsize 9")
    client.ok("set_position " + " ".join(words))
    named = [set(client.ok(f"final_status_list {word}").split()) for word in ("seki", "dead", "alive")]
    assert set(case.seki.split()) <= named[0] and bool(case.seki) == bool(named[0]) and not named[1]
    assert not named[0] & named[2] and len(named[0] | named[2]) == len(words) // 2
