"""What each command does to the game and answers, in all the forms that clients send."""

from __future__ import annotations

import json
import os
import re

import pytest

from engine.gtp import commands, registry
from engine.search.timing import TimeControl

assert commands


def test_basics(client):
    assert client.ok("protocol_version") == "2"
    assert client.ok("name") == "Keisei"
    assert re.fullmatch(r"\d+\.(1[5-9]|[2-9]\d)(\.\d+)*", client.ok("version"))
    names = client.ok("list_commands").split("\n")
    assert names[0] == "protocol_version" and len(set(names)) == len(names) and set(names) == set(registry.COMMANDS)
    assert all(client.ok(f"known_command {name}") == "true" for name in names)
    assert client.ok("known_command analyze") == "false" and client.ok("known_command xyz b") == "false"
    assert client.error("known_command") == "syntax error"
    assert float(client.ok("cputime")) >= 0 and float(client.ok("gomill-cpu_time")) >= 0
    assert client.ok("stop") == ""


@pytest.mark.parametrize("name", ["analyze", "genmove_analyze", "kgs-chat", "gogui-rules_game_id"])
def test_commands_that_mislead_clients_are_not_listed(name):
    assert name not in registry.COMMANDS


@pytest.mark.parametrize(
    ("line", "size"),
    [
        ("boardsize 9", (9, 9)),
        ("boardsize 9 7", (9, 7)),
        ("rectangular_boardsize 7 9", (7, 9)),
        ("boardsize 2", (2, 2)),
        ("boardsize 25", (25, 25)),
        ("rectangular_boardsize 13 13", (13, 13)),
    ],
)
def test_sizes(client, line, size):
    assert client.ok("play b d4") == "" and client.ok(line) == ""
    assert client.controller.player.size == size and client.game.is_empty and client.game.position.n_moves == 0


@pytest.mark.parametrize("size", ["26", "1", "0", "-9", "29 29", "999999999999", "9 999999999999"])
def test_unacceptable_sizes_change_nothing(client, size):
    client.ok("boardsize 9")
    client.ok("play b d4")
    assert client.error(f"boardsize {size}") == "unacceptable size"
    assert client.controller.player.size == (9, 9) and not client.game.is_empty


@pytest.mark.parametrize(
    "line", ["boardsize", "boardsize x", "boardsize 9 9 9", "boardsize 9.5", "rectangular_boardsize 9"]
)
def test_size_syntax(client, line):
    assert client.error(line) == "syntax error"


def test_komi_rules_and_clock_outlive_boards(client):
    assert client.ok("komi 6.5") == "" and client.ok("kata-set-rules japanese") == ""
    client.ok("time_settings 600 30 5")
    for line in ("boardsize 9", "clear_board", "boardsize 19", "clear_board"):
        client.ok(line)
    assert client.ok("get_komi") == "6.5" and client.game.rules.scoring == "TERRITORY"
    assert client.controller.player.clock.settings.main == 600


def test_default_komi_follows_the_size_until_one_is_set(client):
    assert client.ok("get_komi") == "7.5"
    client.ok("boardsize 9")
    assert client.ok("get_komi") == "7"
    client.ok("boardsize 13")
    assert client.ok("get_komi") == "7.5"
    client.ok("komi 0")
    client.ok("boardsize 9")
    assert client.ok("get_komi") == "0"


@pytest.mark.parametrize("komi", ["7.5", "0", "-3", "0.50", "7", "150", "-150.5", "1e2", "6.7", "+5"])
def test_komi_accepts_any_number(client, komi):
    assert client.ok(f"komi {komi}") == "" and client.game.komi == pytest.approx(float(komi))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("komi 7,5", "syntax error"),
        ("komi", "syntax error"),
        ("komi x", "syntax error"),
        ("komi 7 5", "syntax error"),
        ("komi nan", "unacceptable komi"),
        ("komi inf", "unacceptable komi"),
        ("komi -Infinity", "unacceptable komi"),
        ("komi 1e300", "unacceptable komi"),
        ("komi 1e999", "syntax error"),
        ("komi ٧", "syntax error"),
    ],
)
def test_komi_refusals(client, line, text):
    client.ok("komi 5.5")
    assert client.error(line) == text and client.game.komi == 5.5


@pytest.mark.parametrize(
    ("name", "ko"),
    [
        ("tromp-taylor", "POSITIONAL"), ("Tromp_Taylor", "POSITIONAL"), ("chinese", "SIMPLE"),
        ("Chinese", "SIMPLE"), ("chinese-ogs", "POSITIONAL"), ("chinese-kgs", "POSITIONAL"), ("Japanese", "SIMPLE"),
        ("korean", "SIMPLE"), ("aga", "SITUATIONAL"), ("bga", "SITUATIONAL"), ("AGA button", "SITUATIONAL"),
        ("new zealand", "SITUATIONAL"), ("stone_scoring", "SIMPLE"),
    ],
)  # fmt: skip
def test_rules_by_name(client, name, ko):
    assert client.ok(f"kata-set-rules {name}") == ""
    assert json.loads(client.ok("kata-get-rules"))["ko"] == ko


def test_rules_as_json(client):
    rules = (
        '{"friendlyPassOk":false,"hasButton":false,"ko":"POSITIONAL","scoring":"AREA",'
        '"suicide":false,"tax":"NONE","whiteHandicapBonus":"0"}'
    )
    assert client.ok(f"kata-set-rules {rules}") == "" and client.ok("kata-get-rules") == rules
    client.ok('kata-set-rules {"ko": "SIMPLE", "scoring": "TERRITORY"}')
    assert client.ok("kata-set-rule tax SEKI") == ""
    now = json.loads(client.ok("kata-get-rules"))
    assert (now["ko"], now["scoring"], now["tax"]) == ("SIMPLE", "TERRITORY", "SEKI")


@pytest.mark.parametrize(
    "line",
    ["kata-set-rules", "kata-set-rules nonsense", "kata-set-rules {", 'kata-set-rules {"ko":"X"}',
     'kata-set-rules {"x":1}', "kata-set-rules []", "kata-set-rule ko", "kata-set-rule ko X", "kata-set-rule x y"],
)  # fmt: skip
def test_unknown_rules_change_nothing(client, line):
    before = client.ok("kata-get-rules")
    client.ok("komi 3")
    client.error(line)
    assert client.ok("kata-get-rules") == before and client.ok("get_komi") == "3"


@pytest.mark.parametrize("color", ["b", "B", "black", "Black", "BLACK", "w", "W", "white"])
@pytest.mark.parametrize("vertex", ["d4", "D4", "pass", "PASS", "Pass"])
def test_play_forms(client, color, vertex):
    assert client.ok(f"play {color} {vertex}") == ""
    side, action = client.game.position.moves[0]
    assert side == (1 if color.lower().startswith("b") else 2)
    assert action == (361 if vertex.lower() == "pass" else 15 * 19 + 3)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("play b i5", "syntax error"),
        ("play b z9", "illegal move"),
        ("play b a26", "illegal move"),
        ("play b a0", "illegal move"),
        ("play b", "syntax error"),
        ("play", "syntax error"),
        ("play x d4", "syntax error"),
        ("play b d4 e5", "syntax error"),
        ("play d4 b", "syntax error"),
        ("play b 4d", "syntax error"),
        ("play b d٤", "syntax error"),
        ("play b c3", "illegal move"),
        ("play w c3", "illegal move"),
    ],
)
def test_play_refusals_change_nothing(client, line, text):
    client.ok("play b c3")
    assert client.error(line) == text
    assert client.game.position.moves == [(1, 16 * 19 + 2)]


def test_either_side_may_move_at_any_time(client):
    client.ok("boardsize 9")
    for line in ("play white A5", "play white A4", "play black A3", "play b j9", "play b pass", "play b h9"):
        client.ok(line)
    assert client.controller.player.to_play == 2


def test_resign_is_no_move(client):
    client.ok("play b d4")
    assert client.ok("play w resign") == "" and client.ok("play b RESIGN") == ""
    client.ok("undo")
    assert client.game.is_empty and client.error("undo") == "cannot undo"


def test_ko_and_superko(make_client, caplog):
    ko = ["b b1", "w c1", "b a2", "w d2", "b b3", "w c3", "b c2", "w b2"]  # White takes the ko at B2
    client = make_client()
    client.ok("boardsize 5")
    for move in ko:
        client.ok(f"play {move}")
    assert client.error("play b c2") == "illegal move"
    client.ok("play b pass")
    client.ok("play w pass")
    assert client.ok("play b c2") == ""  # a superko repeat, which servers without superko allow
    assert "C2 repeats an earlier position" in caplog.text
    strict = make_client(strict_play=True)
    strict.ok("boardsize 5")
    for move in [*ko, "b pass", "w pass"]:
        strict.ok(f"play {move}")
    assert strict.error("play b c2") == "illegal move"


def test_suicide_by_the_rules_in_force(client):
    client.ok("boardsize 5")
    for move in ("b a2", "b b2", "b c1", "w a1"):
        client.ok(f"play {move}")
    assert client.error("play w b1") == "illegal move"
    client.ok("kata-set-rules tromp-taylor")
    assert client.ok("play w b1") == ""
    assert client.game.position.color_at(20) == 0 == client.game.position.color_at(21)


def test_undo(client):
    assert client.error("undo") == "cannot undo"
    client.ok("play b d4")
    client.ok("play w pass")
    assert client.ok("undo 0") == "" and client.game.position.n_moves == 1
    assert client.error("gg-undo 2") == "cannot undo" and client.game.position.n_moves == 1
    client.ok("genmove w")
    assert client.ok("gg-undo 2") == "" and client.game.is_empty
    client.ok("play b d4")
    assert client.ok("gg-undo") == "" and client.game.is_empty
    assert client.ok("gg-undo 0") == "" and client.error("gg-undo -1") == "syntax error"
    client.ok("fixed_handicap 2")
    assert client.error("undo") == "cannot undo"


def test_fixed_handicap(client):
    stones = client.ok("fixed_handicap 9").split()
    assert set(stones) == {"D16", "K16", "Q16", "D10", "K10", "Q10", "D4", "K4", "Q4"}
    assert client.controller.player.to_play == 2
    assert client.error("fixed_handicap 2") == "board not empty"
    client.ok("clear_board")
    assert client.ok("fixed_handicap 0") == "" and client.game.is_empty
    for number in ("1", "10", "-1"):
        assert client.error(f"fixed_handicap {number}") == "invalid number of stones"
    assert client.error("fixed_handicap x") == "syntax error"
    assert client.game.is_empty


@pytest.mark.parametrize("stones", [1, 2, 3, 9, 12, 25])
def test_free_handicap_has_exactly_so_many_points(client, stones):
    vertices = client.ok(f"place_free_handicap {stones}").split()
    assert len(set(vertices)) == stones and "pass" not in vertices
    assert int((client.game.position.board() == 1).sum()) == stones


def test_too_much_free_handicap(client):
    client.ok("boardsize 5")
    assert client.error("place_free_handicap 25") == "invalid number of stones" and client.game.is_empty


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("set_free_handicap", "invalid vertex list"),
        ("set_free_handicap C3 C3", "invalid vertex list"),
        ("set_free_handicap C3 pass", "invalid vertex list"),
        ("set_free_handicap C3 Z9", "invalid vertex list"),
        ("set_free_handicap C3 i4", "invalid vertex list"),
    ],
)
def test_set_free_handicap_refusals(client, line, text):
    client.ok("boardsize 9")
    assert client.error(line) == text and client.game.is_empty


def test_set_free_handicap(client):
    assert client.ok("set_free_handicap A1") == ""
    assert client.controller.player.to_play == 2
    assert client.error("set_free_handicap C7") == "board not empty"
    client.ok("clear_board")
    client.ok("set_free_handicap C7 g3")
    assert client.game.position.handicap == 2


def test_set_position(client):
    client.ok("boardsize 9")
    assert client.ok("set_position b c3 W d4") == "" and client.controller.player.to_play == 1
    assert client.error("undo") == "cannot undo"
    assert client.error("set_position b c3 w c3") == "illegal position"
    assert client.error("set_position b c3 w") == "syntax error"
    assert client.error("set_position b z9") == "invalid vertex list"
    assert client.error("set_position b a1 w a2 w b1") == "illegal position"
    assert client.game.position.color_at(6 * 9 + 2) == 1
    assert client.ok("set_position") == "" and client.game.is_empty


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("time_settings 1 2", "syntax error"), ("time_settings -1 0 0", "syntax error"),
        ("time_settings a b c", "syntax error"), ("time_settings 1 2 nan", "syntax error"),
        ("time_left b", "syntax error"), ("time_left x 1 0", "syntax error"), ("time_left b x 0", "syntax error"),
        ("kgs-time_settings", "syntax error"), ("kgs-time_settings byoyomi 0 19", "syntax error"),
        ("kgs-time_settings fischer 60 5", "syntax error"), ("kgs-time_settings absolute -1", "syntax error"),
        ("kata-time_settings sundial 1", "syntax error"), ("kata-time_settings fischer 60", "syntax error"),
        ("kata-time_settings fischer-capped 60 5 nan 1", "syntax error"), ("kata-time_settings none 1", "syntax error"),
    ],
)  # fmt: skip
def test_clock_refusals(client, line, text):
    client.ok("time_settings 60 30 5")
    assert client.error(line) == text and client.controller.player.clock.settings.main == 60


@pytest.mark.parametrize(
    "lines",
    [
        ["time_settings 0 0 0"], ["time_settings 0 1 0"], ["time_settings 60 0 0", "time_left b 0 0"],
        ["time_left b 0 0"], ["time_settings 0.1 0 0"], ["time_settings 10.5 30 1", "time_left b 12.34 0"],
        ["time_settings 0 2 1", "time_left b 1.5 1", "time_left w -1 0"], ["time_left b 123 0"],
        ["kgs-time_settings byoyomi 0 1 10"], ["kata-time_settings fischer 0 0"], ["kgs-time_settings byoyomi 0 0 0"],
        ["kata-time_settings fischer-capped 1e300 1e300 1e300 0"], ["time_settings 1e300 1 1", "time_left b 1e300 9"],
    ],
)  # fmt: skip
def test_genmove_under_any_clock(make_client, lines):
    client = make_client(visits=3, lag=0.0)
    client.ok("boardsize 9")
    for line in lines:
        client.ok(line)
    assert client.ok("genmove b") != "resign"


@pytest.mark.parametrize(
    ("line", "control"),
    [
        ("time_settings 60 30 5", TimeControl("canadian", 60, 30, 5)),
        ("kgs-time_settings none", TimeControl()),
        ("kgs-time_settings absolute 300.5", TimeControl("absolute", 300.5)),
        ("kgs-time_settings byoyomi 60 10 5", TimeControl("byoyomi", 60, 10, 5)),
        ("kgs-time_settings canadian 60 30 5", TimeControl("canadian", 60, 30, 5)),
        ("kata-time_settings Fischer 120 10", TimeControl("fischer", 120, increment=10)),
        (
            "kata-time_settings fischer-capped 120 10 300 -1",
            TimeControl("fischer-capped", 120, increment=10, most_main=300),
        ),
        ("kata-time_settings fischer-capped 120 10 -1 -1", TimeControl("fischer", 120, increment=10)),
    ],
)
def test_time_systems(client, line, control):
    client.ok("time_settings 10 0 0")
    assert client.ok(line) == "" and client.controller.player.clock.settings == control
    assert client.ok("kata-list_time_settings") == "none absolute byoyomi canadian fischer fischer-capped"


def test_showboard(client):
    client.ok("boardsize 5 3")
    client.ok("play b b3")
    assert client.ok("showboard").split("\n") == [
        "",
        "    A B C D E",
        " 3  .(X). . . 3",
        " 2  . . . . . 2",
        " 1  . . . . . 1",
        "    A B C D E",
        "White (O) to play, last move Black (X) B3, komi 7.5",
        "captured: 0 black, 0 white stones",
    ]


def test_wide_boards_have_every_column(client):
    client.ok("boardsize 25")
    assert client.ok("play b z25") == ""
    assert client.ok("showboard").split("\n")[1].split() == list("ABCDEFGHJKLMNOPQRSTUVWXYZ")


def test_parameters(client):
    listed = client.ok("kata-list-params").split()
    assert "maxVisits" in listed and "search.cpuct" in listed
    for name in listed:
        value = client.ok(f"kata-get-param {name}")
        assert client.ok(f"kata-set-param {name} {value}") == ""
    client.ok("kata-set-param maxVisits 33")
    assert client.ok("kata-get-param player.visits") == "33"
    client.ok("kata-set-param analysisWideRootNoise 0.04")
    assert client.ok("kata-get-param search.wide_root_noise") == "0.04"
    assert "unknown parameter humanSLProfile" in client.error("kata-get-param humanSLProfile")
    assert "between" in client.error("kata-set-param search.cpuct -1")
    assert "whole number" in client.error("kata-set-param maxVisits x")
    assert client.error("kata-set-param maxVisits") == "syntax error"
    assert client.ok("kata-get-param player.visits") == "33"
    client.ok("kata-set-param gtp.name Other Name")
    assert client.ok("name") == "Other Name"


def test_the_game_goes_on_after_two_passes_or_a_resignation(client):
    client.ok("boardsize 9")
    for line in ("play b pass", "play w pass", "play b d4", "play w resign", "undo", "undo"):
        client.ok(line)
    assert re.fullmatch(r"[A-J][1-9]|pass|resign", client.ok("genmove w"))


def test_status_and_score_do_not_change_with_the_final_passes(client):
    client.ok("boardsize 7")
    for column in "ABCDEFG":
        client.ok(f"play b {column}3")
        client.ok(f"play w {column}4")
    client.ok("play b d6")
    statuses = ("dead", "alive", "seki")
    answers = []
    for line in ("name", "play w pass", "play b pass", "play w pass", "clear_cache"):
        client.ok(line)
        answers.append([client.ok("final_score"), *(client.ok(f"final_status_list {status}") for status in statuses)])
    assert all(answer == answers[0] for answer in answers)
    stones = " ".join(answers[0][1:]).split()
    assert sorted(stones) == sorted([f"{column}{row}" for column in "ABCDEFG" for row in (3, 4)] + ["D6"])
    assert re.fullmatch(r"[BW]\+[0-9.]+|0", answers[0][0])
    for line in ("final_status_list", "final_status_list x", "final_status_list dead alive"):
        assert client.error(line) == "syntax error"


def test_warns_once_of_an_untrained_size(make_client, caplog):
    client = make_client(trained_sizes=frozenset({(19, 19)}))
    client.ok("genmove b")
    assert "not trained" not in caplog.text
    client.ok("boardsize 9")
    client.ok("genmove b")
    client.ok("genmove w")
    assert caplog.text.count("was not trained on 9x9") == 1


def test_a_net_that_refuses_sizes(make_client):
    from engine.evaluator_fakes import HashEvaluator

    class Picky(HashEvaluator):
        def supports_size(self, width, height):
            return width == height == 19

    client = make_client(Picky())
    client.ok("play b d4")
    assert client.error("boardsize 9") == "unacceptable size"
    assert client.controller.player.size == (19, 19) and not client.game.is_empty


def test_game_records(client, tmp_path):
    path = tmp_path / "a game.sgf"
    client.ok("boardsize 9")
    client.ok("komi 5.5")
    client.ok("set_free_handicap C3 G7")
    for line in ("play w e5", "play b pass", "play w d4"):
        client.ok(line)
    text = client.ok("printsgf")
    assert text.startswith("(;") and "KM[5.5]" in text and "AB[" in text
    assert client.ok(f"printsgf {path}") == "" and path.read_text(encoding="utf-8").strip() == text
    path.unlink()
    assert client.ok(f'printsgf "{path}"') == "" and path.read_text(encoding="utf-8").strip() == text
    before = client.game.position.situation_key()
    assert client.ok(f'loadsgf "{path}" 99') == client.ok(f'loadsgf "{path}"') == "black"
    assert client.game.position.situation_key() == before
    client.ok("boardsize 13")
    client.ok("komi 0")
    assert client.ok(f"loadsgf {path}") == "black"
    assert client.game.position.situation_key() == before and client.ok("get_komi") == "5.5"
    assert client.controller.player.size == (9, 9)
    assert client.ok(f"loadsgf {path} 1") == "white" and client.game.position.n_moves == 0
    assert client.ok(f"loadsgf {path} 3") == "white" and client.game.position.n_moves == 2
    assert client.ok(f"loadsgf {path} 99") == "black"
    client.ok("undo")


def test_broken_game_records_change_nothing(client, tmp_path):
    client.ok("play b d4")
    broken, impossible = tmp_path / "b.sgf", tmp_path / "c.sgf"
    broken.write_text("(;SZ[9];B[aa", encoding="utf-8")
    impossible.write_text("(;SZ[9];B[aa];W[aa])", encoding="utf-8")
    for path in (broken, impossible, tmp_path / "missing.sgf", tmp_path):
        assert str(path) in client.error(f"loadsgf {path}")
    assert client.error("loadsgf") == "syntax error" and client.error(f"loadsgf {broken} 0") == "syntax error"
    assert client.error(f"printsgf {tmp_path}").startswith("cannot write")
    assert client.game.position.n_moves == 1


def test_superko_bans_outlive_a_record(client, tmp_path):
    ko = ["b b1", "w c1", "b a2", "w d2", "b b3", "w c3", "b c2", "w b2", "b pass", "w pass"]
    client.ok("boardsize 5")
    for move in ko:
        client.ok(f"play {move}")
    client.ok(f"printsgf {tmp_path / 'ko.sgf'}")
    client.ok("clear_board")
    client.ok(f"loadsgf {tmp_path / 'ko.sgf'}")
    assert client.game.repeats(1, 3 * 5 + 2) and not client.game.repeats(1, 4)


def test_files_without_an_end_are_refused(client, tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert client.error(f"loadsgf {pipe}") == f"{pipe}: not an ordinary file"
    assert client.error("loadsgf /dev/zero") == "/dev/zero: not an ordinary file"
    assert client.error(f"printsgf {pipe}") == f"cannot write {pipe}: it is a pipe"
    assert client.ok("printsgf /dev/null") == ""


def test_bottomless_arguments_are_refused_in_a_short_line(client):
    deep = '{"ko":' * 100_000
    for line in (f"kata-set-rules {deep}", f"kata-set-rules {'x' * 200_000}", f"kata-set-param maxVisits {'9' * 400}",
                 f"kata-set-param {'x' * 200_000} 1", f"loadsgf {'x' * 200_000}", f"kata-set-rule {'x' * 200_000} 1"):
        text = client.error(line)
        assert text != "internal error" and len(text) < 600


def test_there_is_no_negative_zero(client):
    assert client.ok("komi -0") == "" and client.ok("get_komi") == "0"


def test_judgment_commands_agree(client):
    client.ok("boardsize 7")
    client.ok("komi 0.5")
    for column in "ABCDEFG":
        client.ok(f"play b {column}3")
        client.ok(f"play w {column}4")
    client.ok("play b d6")
    data = json.loads(client.ok("keisei-judge"))
    assert data["result"] == client.ok("final_score") and data["komi"] == 0.5 and data["moves"] == 15
    lists = ("alive", "dead", "seki", "black_territory", "white_territory", "dame")
    words = {word: client.ok(f"final_status_list {word}").split() for word in lists}
    assert sum(map(len, words.values())) == 49
    for word in ("black_territory", "white_territory"):  # the data names points under dead stones too
        assert words[word] == [point for point in data[word] if point not in words["dead"]]
    for word, points in words.items():
        for point in points[:2]:
            assert client.ok(f"final_status {point}") == word
    assert re.fullmatch(r"\S+ \(lower bound: \S+, upper: \S+\)", client.ok("estimate_score"))
    client.ok("kata-set-rules tromp-taylor")
    assert client.ok("final_status_list dead") == "" and "score_as_it_stands" in client.ok("keisei-judge")
    assert client.ok("final_status d6") == "alive" and client.ok("final_status d7") == "dame"
    for line in ("final_status", "final_status pass", "final_status z", "final_status_list territory"):
        assert client.error(line) == "syntax error"
    assert client.error("final_status j9").startswith("invalid vertex")
