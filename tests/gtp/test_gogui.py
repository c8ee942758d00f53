"""GoGui's commands: sequences and set-up positions all or nothing, displays in its formats, drawings while it waits."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from gogui_reader import ANALYZE_TYPES, board_of, check_gfx, points_of

from engine.gtp.commands.displays import ANALYZE_COMMANDS

SLOW = 100_000_000  # visits; more than any test waits for


@pytest.fixture
def nine(client):
    client.ok("boardsize 9")
    return client


def test_sequences_are_played_whole_or_not_at_all(nine):
    assert nine.ok("gogui-play_sequence B C3 W D4 b pass W e5") == ""
    moves = nine.game.position.moves
    assert [color for color, _ in moves] == [1, 2, 1, 2]
    for bad in ("B F6 B F6", "B F6 W z9", "b j1 w d4"):
        assert nine.error(f"gogui-play_sequence {bad}") == "illegal move"
        assert nine.game.position.moves == moves
    for bad in ("B F6 W", "B F6 x G7", "B F6 W i5"):
        assert nine.error(f"gogui-play_sequence {bad}") == "syntax error"
        assert nine.game.position.moves == moves
    assert nine.ok("gogui-play_sequence") == "" and nine.ok("gg-undo 4") == "" and nine.game.is_empty


def test_a_long_sequence_in_one_line(client):
    line = " ".join(f"{'bw'[i % 2]} {'ABCDEFGHJKLMNOPQRST'[i % 19]}{i // 19 + 1}" for i in range(361 - 19))
    assert client.ok(f"gogui-play_sequence {line}") == "" and client.game.position.n_moves == 342


def test_set_up_positions(nine):
    assert nine.ok("gogui-setup b D4 w E5") == "" and nine.ok("gogui-setup b C3") == ""
    assert nine.ok("gogui-setup_player w") == "" and nine.controller.player.to_play == 2
    position = nine.game.position
    assert [position.color_at(action) for action in (5 * 9 + 3, 4 * 9 + 4, 6 * 9 + 2)] == [1, 2, 1]
    assert nine.ok("gogui-setup e D4") == "" and nine.game.position.color_at(5 * 9 + 3) == 0
    assert nine.controller.player.to_play == 2 and nine.error("undo") == "cannot undo"
    nine.ok("play w A1")
    for line in ("gogui-setup b G7", "gogui-setup_player b"):
        assert nine.error(line) == "moves were played already"
    nine.ok("undo")
    assert nine.ok("gogui-setup_player b") == "" and nine.controller.player.to_play == 1


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("gogui-setup b", "syntax error"), ("gogui-setup b pass", "syntax error"), ("gogui-setup x D4", "syntax error"),
        ("gogui-setup b z9", "illegal move"), ("gogui-setup b a1 w a2 w b1", "illegal position"),
        ("gogui-setup_player", "syntax error"), ("gogui-setup_player e", "syntax error"),
    ],
)  # fmt: skip
def test_wrong_set_ups_change_nothing(nine, line, text):
    nine.ok("gogui-setup w C3")
    assert nine.error(line) == text
    assert nine.game.position.setup_stones == [(2, 6 * 9 + 2)] and nine.controller.player.to_play == 1


def test_the_list_of_displays(nine):
    lines = nine.ok("gogui-analyze_commands").split("\n")
    assert tuple(lines) == ANALYZE_COMMANDS
    labels = []
    for line in lines:
        kind, label, command = line.split("/", 2)
        assert kind in ANALYZE_TYPES and label
        labels.append(label)
        assert nine.ok(f"known_command {command.split()[0]}") == "true"
        assert set(re.findall(r"%.", command)) <= {"%c", "%p"}
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("size", ["9", "7 5", "19"])
def test_every_display_is_in_its_format(client, size):
    client.ok(f"boardsize {size}")
    width, height = client.controller.player.size
    for move in ("b c3", "w d4", "b pass"):
        client.ok(f"play {move}")
    client.ok("genmove w")
    for line in ANALYZE_COMMANDS:
        kind, _, command = line.split("/", 2)
        text = client.ok(command.replace("%c", "black").replace("%p", "C3"))
        if kind == "dboard":
            assert all(-1 <= value <= 1 for row in board_of(text, width, height) for value in map(float, row))
        elif kind == "sboard":
            assert all(re.fullmatch(r'\d{1,3}|""', word) for row in board_of(text, width, height) for word in row)
        elif kind == "gfx":
            check_gfx(text.split("\n"), width, height)
        elif kind == "varc":
            assert text and all(word == "pass" or points_of(word, width, height) for word in text.split())
        elif kind == "plist":
            points_of(text, width, height)
        elif kind == "param":
            for entry in text.split("\n"):
                assert re.fullmatch(r"\[bool\] \S+ [01]|\[string\] \S+ \S+", entry)
        else:
            assert kind in ("none", "string", "hstring", "hpstring", "pstring")


def test_ownership_and_best_moves_are_blacks_whoever_moves(make_client):
    from lopsided import Lopsided

    client = make_client(Lopsided())
    client.ok("boardsize 9")
    for color in "bw":
        assert set(client.ok(f"keisei-ownership {color}").split()) == {"1.000"}
    text = client.ok("keisei-best_moves w").split("\n")[-1]
    assert text == "TEXT White 20.0 %, B+10, 100 visits"
    assert client.ok("keisei-best_moves b").endswith("TEXT Black 80.0 %, B+10, 100 visits")


def test_displays_change_neither_game_nor_clock(nine):
    nine.ok("time_settings 60 0 0")
    left = nine.controller.player.clock.left(1)
    before = nine.game.position.situation_key()
    for line in ANALYZE_COMMANDS:
        nine.ok(line.split("/", 2)[2].replace("%c", "b").replace("%p", "C3"))
    assert nine.game.position.situation_key() == before and nine.controller.player.clock.left(1) == left


def test_policy_is_the_nets(nine):
    from engine.board.planes import encode_position
    from engine.evaluator_fakes import HashEvaluator

    nine.ok("kata-set-param search.symmetry fixed")
    planes, numbers = encode_position(nine.game.position, "katago-v7")
    logits = HashEvaluator().evaluate(planes[None], numbers[None]).policy_logits[0]
    wanted = 100 * np.exp(logits - logits.max())[:-1] / np.exp(logits - logits.max()).sum()
    words = nine.ok("keisei-policy").split()
    for word, value in zip(words, wanted.tolist(), strict=True):
        assert value < 1.01 if word == '""' else abs(int(word) - value) <= 0.6


def test_settings_of_the_dialog(nine):
    for line in nine.ok("keisei-settings").split("\n"):
        kind, name, value = line.split()
        assert nine.ok(f"keisei-settings {name} {value}") == ""
        assert kind in ("[bool]", "[string]")
    nine.ok("keisei-settings live_graphics 1")
    nine.ok("keisei-settings visits_a_move 7")
    assert "[bool] live_graphics 1" in nine.ok("keisei-settings") and nine.ok("kata-get-param maxVisits") == "7"
    assert nine.error("keisei-settings nonsense 1") == "syntax error"
    assert "whole number" in nine.error("keisei-settings visits_a_move x")


def test_live_drawings_only_where_switched_on(nine):
    drawn = []
    nine.controller.live = drawn.append
    nine.ok("genmove b")
    assert drawn == []
    nine.ok("keisei-settings live_graphics 1")
    nine.ok("kata-set-param maxTime 1.3")
    nine.ok("kata-set-param maxVisits none")
    nine.ok("genmove w")
    *blocks, last = drawn
    assert blocks and last == "gogui-gfx: CLEAR\n"
    for block in blocks:
        start, *lines, empty, end = block.split("\n")
        assert (start, empty, end) == ("gogui-gfx:", "", "")
        check_gfx(lines, 9, 9)
        assert lines[0].startswith("VAR w ") and lines[-1].startswith("TEXT White ")


@pytest.mark.parametrize("command", ["kgs-genmove_cleanup w", "cgos-genmove_analyze b"])
def test_every_move_that_draws_clears_the_board(nine, command):
    drawn = []
    nine.controller.live = drawn.append
    nine.ok("keisei-settings live_graphics 1")
    nine.ask(command)
    assert drawn[-1] == "gogui-gfx: CLEAR\n"


def test_live_drawings_go_to_standard_error(start):
    client = start("--net", "fake:hash", "--time", "1.3", "--set", "gtp.live_gfx=true")
    client.ok("boardsize 9")
    client.ok("genmove b")
    client.ok("quit")
    _, errors = client.finish()
    assert re.search(r"^gogui-gfx:\nVAR b [^\n]+\nINFLUENCE [^\n]+\nTEXT [^\n]+\n\n", errors, re.MULTILINE)
    assert errors.rstrip().endswith("gogui-gfx: CLEAR") and "gogui-gfx" not in client.rest()


@pytest.mark.parametrize(
    "command", ["genmove b", "kata-genmove_analyze b 10", "reg_genmove b", "cgos-genmove_analyze b"]
)
def test_interrupt_ends_a_search_with_a_move(make_client, command):
    client = make_client(visits=SLOW)
    client.ok("boardsize 9")
    client.send(f"{command}\n")
    time.sleep(0.3)
    before = time.monotonic()
    client.send("# interrupt\n")
    reply = client.reply()
    assert time.monotonic() - before < 5.0
    assert re.search(r"(= |play )([A-HJ][1-9]|pass)$", reply)
    assert client.game.position.n_moves == (0 if command.startswith("reg") else 1)
    assert client.ok("gogui-interrupt") == ""


def test_interrupt_in_the_same_write_and_other_comments(make_client):
    client = make_client(visits=SLOW)
    client.ok("boardsize 9")
    client.send("1 genmove b\n# interrupt\n2 name\n")
    assert re.fullmatch(r"=1 \w+", client.reply()) and client.reply() == "=2 Keisei"
    client.send("3 genmove w\n# a comment\n\n4 name\n# interrupt\n")  # this one comes too late for the search
    time.sleep(0.3)
    assert not client._data
    client.close()
    assert client.rest() == ""
