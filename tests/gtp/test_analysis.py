"""Analysis output: the bytes around it, the keys in it, the scales and points of view, and how it ends."""

from __future__ import annotations

import re
import time

import pytest
from lopsided import Lopsided

LZ_KEYS = ["move", "visits", "winrate", "prior", "lcb", "order", "pv"]
KATA_KEYS = [
    "move", "visits", "edgeVisits", "utility", "winrate", "scoreMean", "scoreStdev", "scoreLead", "scoreSelfplay",
    "prior", "lcb", "utilityLcb", "weight", "order", "pv",
]  # fmt: skip
VERTEX = re.compile(r"[A-HJ-T]([1-9]|1[0-9])|pass")


def segments(line):
    """Split a line into its info segments, each as {key: value or list}, and the maps behind them."""
    line, _, stdev = line.partition(" ownershipStdev ")
    line, _, ownership = line.partition(" ownership ")
    line, _, root = line.partition(" rootInfo ")
    assert line.startswith("info ") and "  " not in line
    parsed = []
    for segment in line.removeprefix("info ").split(" info "):
        words = segment.split(" ")
        plain, rest = words[: words.index("pv")], words[words.index("pv") :]
        values = dict(zip(plain[::2], plain[1::2], strict=True))
        name = ""
        for word in rest:
            if word in ("pv", "pvVisits", "pvEdgeVisits", "movesOwnership"):
                name, values[word] = word, []
            else:
                values[name].append(word)
        parsed.append(values)
    return parsed, root, ownership, stdev


def first_line(client, command):
    """Start an analysis; return its first info line and end it."""
    client.send(f"5 {command}\n")
    text = client.read_until(r"^info [^\n]*\n")
    assert text.startswith("=5\ninfo ")
    client.send("\n")
    client.read_until(r"\A(info [^\n]*\n)*\n")
    return text.removeprefix("=5\n").rstrip("\n")


@pytest.fixture
def nine(client):
    client.ok("boardsize 9")
    return client


def test_lz_lines(nine):
    infos, root, ownership, stdev = segments(first_line(nine, "lz-analyze 1"))
    assert (root, ownership, stdev) == ("", "", "")
    for index, info in enumerate(infos):
        assert list(info) == LZ_KEYS and info["order"] == str(index)
        assert VERTEX.fullmatch(info["move"]) and info["pv"][0] == info["move"]
        assert all(VERTEX.fullmatch(vertex) for vertex in info["pv"])
        for key in ("winrate", "prior", "lcb"):
            assert re.fullmatch(r"\d+", info[key]) and int(info[key]) <= 10000
    visits = [int(info["visits"]) for info in infos]
    assert all(visits)


def test_kata_lines(nine):
    infos, *_ = segments(first_line(nine, "kata-analyze b 1"))
    for index, info in enumerate(infos):
        assert list(info) == KATA_KEYS and info["order"] == str(index)
        assert "." in info["winrate"] and 0 <= float(info["winrate"]) <= 1
        for key in KATA_KEYS[2:-2]:
            float(info[key])
        assert info["scoreMean"] == info["scoreLead"]


def test_everything_that_can_be_asked_for(nine):
    flags = "ownership true ownershipStdev true pvVisits true pvEdgeVisits true movesOwnership true rootInfo true"
    line = first_line(nine, f"kata-analyze b interval 5 minmoves 5 {flags}")
    infos, root, ownership, stdev = segments(line)
    assert len(infos) >= 5
    for info in infos:
        assert len(info["pv"]) == len(info["pvVisits"]) == len(info["pvEdgeVisits"])
        if int(info["visits"]) > 0:
            assert len(info["movesOwnership"]) == 81
    words = root.split()
    assert dict(zip(words[::2], words[1::2], strict=True)).keys() >= {"visits", "winrate", "scoreLead", "utility"}
    assert len(ownership.split()) == 81 and all(-1 <= float(value) <= 1 for value in ownership.split())
    assert len(stdev.split()) == 81 and all(float(value) >= 0 for value in stdev.split())


def test_minmoves_and_maxmoves(nine):
    infos, *_ = segments(first_line(nine, "lz-analyze interval 1 minmoves 82"))
    assert len({info["move"] for info in infos}) == 82
    infos, *_ = segments(first_line(nine, "kata-analyze 20 maxmoves 2"))
    assert len(infos) <= 2


def test_long_variations_are_cut(make_client):
    client = make_client()
    client.ok("boardsize 9")
    client.ok("kata-set-param analysisPVLen 2")
    infos, *_ = segments(first_line(client, "kata-analyze 30"))
    assert max(len(info["pv"]) for info in infos) == 2


def test_allow_and_avoid_belong_to_the_color_named(nine):
    infos, *_ = segments(first_line(nine, "kata-analyze W 5 allow W E5,C3 1"))
    assert {info["move"] for info in infos} <= {"E5", "C3"}
    infos, *_ = segments(first_line(nine, "lz-analyze 5 avoid b E5,C3,pass 10"))
    assert not {info["move"] for info in infos} & {"E5", "C3", "pass"}
    assert not {vertex for info in infos for vertex in info["pv"][::2]} & {"E5", "C3", "pass"}


def test_nothing_left_to_look_at_is_an_error(nine):
    nine.ok("play b E5")
    everything = ",".join(f"{column}{row}" for column in "ABCDEFGHJ" for row in range(1, 10)) + ",pass"
    for restriction in ("allow w E5 1", f"avoid w {everything} 3"):
        for command in ("kata-analyze w 5", "lz-genmove_analyze w 5"):
            assert nine.error(f"{command} {restriction}") == "no legal move is left to look at"
    assert nine.ok("name") == "Keisei" and nine.game.position.n_moves == 1


@pytest.mark.parametrize(("color", "black"), [("b", True), ("w", False)])
def test_point_of_view_is_that_of_the_color_named(make_client, color, black):
    client = make_client(Lopsided())
    client.ok("boardsize 9")
    sign = 1 if black else -1
    infos, root, ownership, _ = segments(first_line(client, f"kata-analyze {color} 5 ownership true rootInfo true"))
    assert float(infos[0]["winrate"]) == pytest.approx(0.5 + sign * 0.3, abs=0.01)
    assert float(infos[0]["scoreLead"]) == pytest.approx(sign * 10, abs=0.1)
    assert {float(value) for value in ownership.split()} == {float(sign)}
    assert f"winrate {0.8 if black else 0.2:.6f}" in root
    infos, *_ = segments(first_line(client, f"lz-analyze {color} 5"))
    assert abs(int(infos[0]["winrate"]) - (5000 + sign * 3000)) < 100
    raw = client.ok("kata-raw-nn 0").split("\n")
    assert "whiteWin 0.200000" in raw and "whiteLead -10.000" in raw
    assert "-1.0000000" in raw[raw.index("whiteOwnership") + 1]


@pytest.mark.parametrize("ending", ["", "# interrupt", "6 unknown_thing", "6 name", "6 kata-analyze b 10", "6 stop"])
@pytest.mark.parametrize("command", ["lz-analyze 10", "kata-analyze b 10 ownership true", "kata-analyze 999999"])
def test_any_line_ends_it_quickly(nine, command, ending):
    nine.send(f"5 {command}\n")
    nine.read_until(r"=5\n")
    time.sleep(0.05)
    before = time.monotonic()
    nine.send(ending + "\n8 name\n")
    text = nine.read_until(r"=8 Keisei\n\n")
    assert time.monotonic() - before < 2.0
    first, *_ = re.split(r"(?:^|(?<=\n))\n", text, maxsplit=1)
    assert all(line.startswith("info ") for line in first.splitlines())


def test_several_analyses_in_one_write(nine):
    nine.send("1 kata-analyze b 1\n2 lz-analyze 1\n3 kata-analyze w 1\n4 name\n")
    text = nine.read_until(r"=4 Keisei\n\n")
    text = re.sub(r"info [^\n]*\n", "", text)
    assert text == "=1\n\n=2\n\n=3\n\n=4 Keisei\n\n"


def test_analysis_does_not_change_the_game(nine):
    nine.ok("play b E5")
    before = nine.game.position.situation_key()
    for command in ("kata-analyze w 5", "lz-analyze b 5", "kata-analyze 5 allow b C3 1"):
        first_line(nine, command)
    assert nine.game.position.situation_key() == before and nine.game.position.n_moves == 1


@pytest.mark.parametrize("family", ["lz", "kata"])
@pytest.mark.parametrize("interval", ["", "10", "100000", "2147483647", "interval 1", "0.5"])
def test_genmove_analyze(nine, family, interval):
    nine.send(f"7 {family}-genmove_analyze b {interval}\n8 name\n")
    text = nine.read_until(r"=8 Keisei\n\n")
    match = re.fullmatch(r"=7\n((?:info [^\n]*\n)+)play (\w+)\n\n=8 Keisei\n\n", text)
    assert match
    vertex = match[2]
    if vertex != "resign":
        assert nine.game.position.n_moves == 1
        last = match[1].strip().split("\n")[-1]
        assert f"info move {vertex} " in last


def test_genmove_analyze_with_one_visit_still_has_a_line(make_client):
    client = make_client(visits=1)
    client.send("kata-genmove_analyze w ownership true\n")
    assert re.fullmatch(r"=\ninfo move \w+ visits \d+ [^\n]*\nplay \w+\n\n", client.read_until(r"\n\n"))


def test_genmove_analyze_keeps_to_the_moves_allowed(nine):
    for _ in range(3):
        nine.send("kata-genmove_analyze b 10 allow b E5,C3,G7 1\n")
        assert nine.read_until(r"play \w+\n\n").split()[-1] in ("E5", "C3", "G7")


def test_pondering_goes_on_between_commands_and_never_gets_in_the_way(make_client):
    client = make_client(ponder=True, ponder_visits=1_000_000)
    client.ok("boardsize 9")
    first = client.ok("genmove b")
    thinker = client.controller.player._thinker
    deadline = time.monotonic() + 30
    while thinker._searcher.visits < 200 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert thinker._searcher.visits >= 200
    assert client.ok("name") == "Keisei"
    assert client.game.position.n_moves == 1
    client.ok("play w E5" if first != "E5" else "play w C3")
    assert client.ok("genmove b")
    client.ok("undo")
    assert client.game.position.n_moves == 2


def test_search_without_playing(nine):
    assert VERTEX.fullmatch(nine.ok("reg_genmove b")) and VERTEX.fullmatch(nine.ok("kata-search b"))
    nine.send("kata-search_analyze b 10\n")
    nine.read_until(r"play \w+\n\n")
    assert nine.game.is_empty and nine.error("undo") == "cannot undo"


@pytest.mark.parametrize(
    "line", ["kata-analyze 10 nonsense", "lz-analyze b 10 ownership", "lz-genmove_analyze x 10", "kata-raw-nn",
             "kata-raw-nn 8", "kata-raw-nn x", "kata-raw-nn -1", "kata-raw-nn x 0", "kata-raw-nn b", "genmove x",
             "genmove b w", "reg_genmove 5"],
)  # fmt: skip
def test_bad_arguments_are_errors_not_silence(nine, line):
    assert nine.error(line) in ("syntax error", "unknown command")
    assert nine.game.is_empty


@pytest.mark.parametrize("size", ["9 9", "7 9", "19 19", "13 5"])
def test_raw_net(client, size):
    width, height = map(int, size.split())
    client.ok(f"boardsize {size}")
    client.ok("play b C3")
    for symmetry in range(8):
        lines = client.ok(f"kata-raw-nn {symmetry}").split("\n")
        assert lines[0] == f"symmetry {symmetry}"
        start = lines.index("policy") + 1
        rows = [row.split() for row in lines[start : start + height]]
        assert all(len(row) == width for row in rows) and rows[height - 3][2] == "NAN"
        values = [float(value) for row in rows for value in row if value != "NAN"]
        name, passing = lines[start + height].split()
        assert name == "policyPass" and sum(values) + float(passing) == pytest.approx(1.0, abs=1e-3)
        assert lines[start + height + 1] == "whiteOwnership"
        owners = [row.split() for row in lines[start + height + 2 :]]
        assert len(owners) == height and all(len(row) == width for row in owners)
    assert client.ok("kata-raw-nn all").count("symmetry") == 8


def test_symmetries_of_the_raw_net_agree_for_a_symmetric_net(make_client):
    client = make_client(Lopsided())
    client.ok("boardsize 7 9")
    client.ok("play b C3")
    bodies = {client.ok(f"kata-raw-nn {symmetry}").split("\n", 1)[1] for symmetry in range(8)}
    assert len(bodies) == 1


def test_analysis_of_a_finished_or_full_board(client):
    client.ok("boardsize 2")
    client.ok("kata-set-rules tromp-taylor")
    for line in ("play b a1", "play b b1", "play b a2", "play w pass", "play b pass"):
        client.ok(line)
    client.send("3 kata-analyze w 5\n")
    client.read_until(r"=3\n")
    time.sleep(0.2)
    client.send("4 name\n")
    client.read_until(r"=4 Keisei\n\n")
    assert client.ok("genmove w")


def test_seeded_games_repeat_and_others_do_not_share_chances(make_client):
    def game(client):
        client.ok("boardsize 9")
        client.ok("clear_board")
        return [client.ok(f"genmove {color}") for color in "bwbwbw"]

    first, second = make_client(seed=5), make_client(seed=5)
    moves = game(first)
    assert moves == game(first) == game(second)


@pytest.mark.parametrize("ending", ["", "# interrupt", "6 name", "6 nonsense"])
def test_cancellable_searches(make_client, ending):
    client = make_client(visits=100_000_000)
    client.ok("boardsize 9")
    client.send("5 kata-search_cancellable b\n")
    time.sleep(0.2)
    before = time.monotonic()
    client.send(ending + "\n")
    assert client.reply() == "=5 cancelled" and time.monotonic() - before < 5.0
    if ending.startswith("6"):
        client.reply()
    client.send("7 kata-search_analyze_cancellable b 10\n")
    client.read_until(r"^info [^\n]*\n")
    client.send(ending + "\n")
    assert re.fullmatch(r"(info [^\n]*\n)+play cancelled\n\n", client.read_until(r"\n\n"))
    assert client.game.is_empty


def test_cancellable_searches_that_end_by_themselves(nine):
    assert VERTEX.fullmatch(nine.ok("kata-search_cancellable b"))
    nine.send("kata-search_analyze_cancellable w 10\n")
    assert re.fullmatch(r"=\n(info [^\n]*\n)+play (?!cancelled)\w+\n\n", nine.read_until(r"\n\n"))
    assert nine.game.is_empty


def test_the_raw_net_of_either_side(make_client):
    client = make_client(Lopsided())
    client.ok("boardsize 9")
    assert client.ok("kata-raw-nn b 0") == client.ok("kata-raw-nn W 0") == client.ok("kata-raw-nn 0")
