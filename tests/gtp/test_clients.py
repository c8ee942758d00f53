"""What each client makes of our answers: its way of reading (tests/oracles/client_readers.py) over real sessions."""

from __future__ import annotations

import json
import re

import client_readers as readers
import pytest

EVERYTHING = (
    "interval 20 ownership true ownershipStdev true minmoves 5 pvVisits true pvEdgeVisits true movesOwnership true "
    "rootInfo true"
)


def first_line(client, command):
    """Start an analysis; return its first info line, and end it."""
    client.send(f"{command}\n")
    text = client.read_until(r"^info [^\n]*\n")
    client.send("\n")
    client.read_until(r"\A(info [^\n]*\n)*\n")
    return text.split("\n", 1)[1].rstrip("\n")


@pytest.fixture
def game(make_client):
    """A session some moves into a 9x9 game."""
    client = make_client(visits=60)
    for line in ("boardsize 9", "clear_board", "komi 7", "play b D4", "play w F6", "play b F4"):
        client.ok(line)
    return client


@pytest.mark.parametrize("family", ["lz", "kata"])
def test_sabaki(game, family):
    line = first_line(game, f"{family}-analyze W 50")
    moves = readers.sabaki(line, kata=family == "kata")
    shown = [move for move in re.findall(r"move (\S+)", line) if move != "pass"]
    assert [move["vertex"] for move in moves] == shown and len(moves) > 3
    assert all(move["pv"][0] == move["vertex"] for move in moves)
    assert all((move["lead"] is not None) == (family == "kata") for move in moves)
    game.send(f"{family}-genmove_analyze W 50\n")
    *infos, play = game.reply().split("\n")[1:]
    assert readers.sabaki(infos[-1], kata=family == "kata") and re.fullmatch(r"play ([A-HJ]\d|pass)", play)


def test_sabaki_takes_no_other_analysis(game):
    """Sabaki prefers `analyze` to `kata-analyze` and divides by 100; it must not find one."""
    names = game.ok("list_commands").split("\n")
    assert not {"analyze", "genmove_analyze"} & set(names) and {"undo", "set_free_handicap"} <= set(names)


@pytest.mark.parametrize(("command", "kata"), [("lz-analyze 10", False), ("kata-analyze 10 ownership true", True)])
def test_lizzie(game, command, kata):
    moves, ownership = readers.lizzie(first_line(game, command), kata=kata)
    assert len(moves) > 3 and all(move["pv"][0] == move["move"] for move in moves)
    assert len(ownership) == (81 if kata else 0)
    assert readers.lizzie_version(game.ok("version"))
    restricted, _ = readers.lizzie(first_line(game, command + " avoid b D5,E5 3 avoid w D5,E5 3"), kata=kata)
    assert not {move["move"] for move in restricted} & {"D5", "E5"}


def test_lizzieyzy(game):
    for size in ("9", "13 7"):
        game.ok(f"rectangular_boardsize {size}" if " " in size else f"boardsize {size}")
        width, height = game.controller.player.size
        readers.lizzieyzy_raw(game.ok("kata-raw-nn 7"), width, height)
    assert game.ok("list_commands").split("\n")[0] == "protocol_version"
    for line in ("kata-get-param playoutDoublingAdvantage", "kata-get-param analysisWideRootNoise"):
        assert game.ok(line) == "0.0"
    rules = json.loads(game.ok("kata-get-rules"))
    assert set(rules) == {
        "scoring", "ko", "suicide", "tax", "whiteHandicapBonus", "hasButton", "friendlyPassOk"}  # fmt: skip
    for line in ("kata-set-param maxVisits 1125899906842624", "kata-time_settings byoyomi 60 10 5", "stop",
                 "kata-time_settings fischer 60 5", "time_left b 123 0", "time_left w 12.34 0", "clear_cache",
                 "kata-time_settings absolute 60", "lz-setoption name Visits value 10"):  # fmt: skip
        game.ok(line)
    line = first_line(game, "kata-analyze B 10 ownership true movesOwnership true ownership true pvVisits true")
    assert line.count("ownership ") == 1


def test_lizzieyzy_heatmap(game):
    for size in ("9", "13 7"):
        game.ok(f"boardsize {size}")
        width, height = game.controller.player.size
        game.ok("play b C3")
        counts, winrate = readers.lizzieyzy_heatmap(game.ask("heatmap"), width, height)
        raw = readers.lizgoban_raw(game.ok("kata-raw-nn w 0"))
        wanted = [0.0 if word == "NAN" else 1000 * float(word) for word in raw["policy"]]
        assert counts == pytest.approx(wanted, abs=0.51) and counts[(height - 3) * width + 2] == 0
        assert winrate == pytest.approx(float(raw["whiteWin"][0]), abs=1e-5)
    for line in ("heatmap 8", "heatmap x", "heatmap 0 1"):
        assert game.error(line) == "syntax error"


def test_lizgoban(game):
    moves, top = readers.lizgoban(first_line(game, f"kata-analyze w {EVERYTHING}"))
    assert len(moves) >= 5 and set(top) == {"rootInfo", "ownership", "ownershipStdev"}
    assert len(top["ownership"]) == len(top["ownershipStdev"]) == 81
    for move in moves:
        assert len(move["pv"]) == len(move["pvVisits"]) == len(move["pvEdgeVisits"])
        assert int(move["visits"]) == 0 or len(move["movesOwnership"]) == 81
    raw = readers.lizgoban_raw(game.ok("kata-raw-nn 0"))
    assert len(raw["policy"]) == len(raw["whiteOwnership"]) == 81 and len(raw["policyPass"]) == 1
    assert "NAN" in raw["policy"]


@pytest.mark.parametrize("family", ["lz", "kata"])
def test_q5go(game, family):
    rates = readers.q5go(first_line(game, f"{family}-analyze white 100"), kata=family == "kata")
    assert len(rates) > 3 and all(0 <= rate <= 1 for rate in rates)
    game.send(f"31  {family}-genmove_analyze white 100\n")  # two spaces, as it sends them
    reply = game.reply()
    assert reply.startswith("=31\ninfo move") and re.search(r"\nplay \S+\Z", reply)


def test_ogatak(game):
    game.send("24 name")
    game.send("\n")
    assert game.reply() == "=24 Keisei"
    for line in ("kata-set-rules Chinese", "kata-set-param analysisWideRootNoise 0.04"):
        game.ok(line)
    assert "scoreLead" in first_line(game, "kata-analyze w 10 ownership true")


def test_gogui(game):
    for line in ("7 name", "version", "0 final_status_list seki", "9 nonsense", "2147483648 komi 6.5"):
        fine, number, _ = readers.gogui(game.ask(line))
        assert fine == ("nonsense" not in line) and number == re.match(r"\d*", line)[0]
    for word in ("dead", "alive"):
        for line in game.ok(f"final_status_list {word}").split("\n"):
            assert all(re.fullmatch(r"[A-HJ]\d", point) for point in line.split())


def test_gomill(game):
    assert readers.gomill(game.ask("known_command gomill-describe_engine")) == (True, "true")
    assert readers.gomill(game.ask("known_command gomill-genmove_ex")) == (True, "false")
    assert readers.gomill(game.ask("play w d4")) == (False, "illegal move")
    game.ok("clear_board")
    for number, points in ((2, "C3 G7"), (4, "C3 G7 G3 C7")):
        assert set(game.ok(f"fixed_handicap {number}").split()) == set(points.split())
        game.ok("clear_board")
    assert re.fullmatch(r"[BW]\+\d+(\.\d+)?|0", game.ok("final_score"))


def test_gtp2ogs(start):
    client = start()
    lines = (
        "list_commands", "boardsize 9 9", "clear_board", "komi 7", "play black d4", "kata-list_time_settings",
        "kgs-time_settings byoyomi 60 10 5", "time_left black 60 0", "time_left white 59 0", "genmove white",
        "kata-time_settings fischer-capped 120 10 300 -1", "time_settings 110 10 1", "time_settings 0 15 1",
        "time_settings 100 10 1", "kgs-time_settings canadian 60 30 5", "final_score", "showboard", "quit",
    )  # fmt: skip
    client.send("".join(f"{line}\r\n" for line in lines))
    code, errors = client.finish()
    blocks = readers.split_replies(client.rest())
    assert len(blocks) == len(lines) and all(block.startswith("=") for block in blocks) and code == 0
    assert readers.quiet_errors(errors) and readers.ogatak_ready(errors)
    assert not re.search(r"^(DISCUSSION|MALKOVICH|MAIN):|KataGo v", errors, re.MULTILINE)


def test_cgos(make_client):
    client = make_client(visits=5, resign=False, rules="tromp-taylor")
    names = client.ok("list_commands").split("\n")
    assert {"boardsize", "clear_board", "komi", "play", "genmove", "quit", "time_settings", "time_left"} <= set(names)
    for line in ("boardsize 9", "komi 7.0", "time_settings 60 0 0", "clear_board", "play b f6", "time_left w 59 0",
                 "time_left w 0 0", "play b pass"):  # fmt: skip
        client.ok(line)
    assert client.ok("genmove w")


def test_kgs(make_client):
    client = make_client(visits=5)
    names = client.ok("list_commands").split("\n")
    assert "kgs-chat" not in names and {"final_status_list", "kgs-time_settings", "kgs-rules"} <= set(names)
    assert client.error("boardsize 38") == "unacceptable size"
    for line in ("boardsize 9", "kgs-rules japanese", "komi 0.5", "place_free_handicap 4", "time_left w 1800 0",
                 "kgs-time_settings byoyomi 1800 30 5", "time_left w 30 5", "genmove w", "undo", "genmove w",
                 "final_status_list dead", "kgs-game_over"):  # fmt: skip
        client.ok(line)


def test_the_words_that_name_special_dialects_are_not_our_name(client):
    name = client.ok("name").lower()
    assert not name.startswith(("kata", "leela", "sai", "zen", "golaxy", "sayuri", "pachi"))
