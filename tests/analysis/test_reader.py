"""Lines that are wrong, and lines that are no queries: every one is answered at once, naming field and id."""

from __future__ import annotations

import json

import pytest

GOOD = {"id": "q", "boardXSize": 9, "maxVisits": 2, "moves": [["B", "E5"]]}


@pytest.mark.parametrize(
    ("change", "field", "word"),
    [
        ({"moves": [["B", "E5"], ["W", "E5"]]}, "moves", "Illegal move 1: E5 (occupied)"),
        ({"moves": [["B", "K1"]]}, "moves", "no point of a 9x9 board"),
        ({"moves": [["B"]]}, "moves", "not a pair"),
        ({"moves": [["X", "E5"]]}, "moves", "must be B or W"),
        ({"moves": "E5"}, "moves", "must be a list"),
        ({"moves": [None]}, "moves", "not a pair"),
        ({"initialStones": [["B", "E5"], ["W", "E5"]]}, "initialStones", "Illegal stones"),
        ({"initialStones": [["B", "pass"]]}, "initialStones", "Illegal stones"),
        ({"initialStones": [["W", "A1"], ["B", "A2"], ["B", "B1"]]}, "initialStones", "Illegal stones"),
        ({"initialStones": [["B", "E5"]]}, "moves", "Illegal move 0: E5"),
        ({"initialPlayer": "green"}, "initialPlayer", "must be B or W"),
        ({"boardXSize": 29, "boardYSize": 29}, "boardXSize", "2 to 25"),
        ({"boardXSize": 1}, "boardXSize", "from 2 on"),
        ({"boardXSize": 9.5}, "boardXSize", "whole number"),
        ({"boardYSize": 26}, "boardYSize", "2 to 25"),
        ({"komi": 7.25}, "komi", "half of one"),
        ({"komi": 151}, "komi", "-150 to 150"),
        ({"komi": "7.5"}, "komi", "half of one"),
        ({"komi": 1e300}, "komi", "-150 to 150"),
        ({"rules": "nope"}, "rules", "unknown rules"),
        ({"rules": {"ko": "SOMETIMES"}}, "rules", "ko is 'SOMETIMES'"),
        ({"rules": 5}, "rules", "a name or an object"),
        ({"whiteHandicapBonus": "M"}, "whiteHandicapBonus", "not one of"),
        ({"analyzeTurns": [2]}, "analyzeTurns", "from 0 to 1"),
        ({"analyzeTurns": []}, "analyzeTurns", "list of turns"),
        ({"analyzeTurns": [True]}, "analyzeTurns", "list of turns"),
        ({"analyzeTurns": 1}, "analyzeTurns", "list of turns"),
        ({"maxVisits": 0}, "maxVisits", "from 1 on"),
        ({"maxVisits": "many"}, "maxVisits", "whole number"),
        ({"maxVisits": True}, "maxVisits", "whole number"),
        ({"priority": "high"}, "priority", "whole number"),
        ({"priorities": [1, 2]}, "priorities", "one for each"),
        ({"includeOwnership": 1}, "includeOwnership", "true or false"),
        ({"includeJudgment": "yes"}, "includeJudgment", "true or false"),
        ({"reportDuringSearchEvery": -1}, "reportDuringSearchEvery", "from 0 on"),
        ({"avoidMoves": [{"player": "B", "moves": ["E4"]}]}, "avoidMoves", "untilDepth"),
        ({"avoidMoves": [{"player": "B", "moves": ["Z9"], "untilDepth": 1}]}, "avoidMoves", "no point"),
        ({"allowMoves": {"player": "B"}}, "allowMoves", "list of objects"),
        ({"allowMoves": [{"player": "B", "moves": ["E4"], "untilDepth": 1, "x": 0}]}, "allowMoves", "unknown key x"),
        ({"overrideSettings": 3}, "overrideSettings", "an object"),
        ({"overrideSettings": {"wideRootNoise": "wide"}}, "overrideSettings", "wide_root_noise = wide"),
        ({"overrideSettings": {"maxTime": -1}}, "overrideSettings", "time: must be a number"),
        ({"overrideSettings": {"reportAnalysisWinratesAs": "RED"}}, "overrideSettings", "BLACK, WHITE"),
    ],
)  # fmt: skip
def test_wrong_values(local, change, field, word):
    engine = local().ask({**GOOD, **change})
    (answer,) = engine.sink.answers  # before anything was searched
    assert answer["field"] == field and answer["id"] == "q" and word in answer["error"]
    assert list(answer) == ["error", "field", "id"]
    assert engine.run().answers == [answer]


@pytest.mark.parametrize(
    "line",
    ['{"id": "q", "komi": NaN}', '{"id": "q", "komi": Infinity}', "{", '{"id": "q"', "[]", '"text"', "7", "{'id': 1}",
     "[" * 100_000, '{"a":' * 50_000, '{"id": "q", "maxVisits": ' + "9" * 10_000 + "}", "\x00", b"\xed\xa0\x80",
     b"\xff\xfe{}", "hello", '{"id":"q"} {"id":"r"}'],
)  # fmt: skip
def test_no_json(local, line):
    (answer,) = local().ask(line).run().answers
    assert answer["error"].startswith("Could not parse input line as json request: ")
    assert list(answer) == ["error"] and len(answer["error"]) < 500


def test_a_line_that_is_too_long(local, monkeypatch):
    from engine.analysis import reader

    monkeypatch.setattr(reader, "MAX_LINE", 1000)
    (answer,) = local().ask({**GOOD, "x": "y" * 1000}).run().answers
    assert "longer than" in answer["error"]


@pytest.mark.parametrize("number", [None, 5, ["q"], True])
def test_ids_are_texts(local, number):
    (answer,) = local().ask({**GOOD, "id": number}).run().answers
    assert answer["field"] == "id" and "error" in answer


def test_blank_lines_and_carriage_returns(local):
    sink = local().ask("", "  ", "\r", json.dumps(GOOD) + "\r", b"\xef\xbb\xbf" + json.dumps(GOOD).encode()).run()
    assert [answer["id"] for answer in sink.answers] == ["q", "q"] and "error" not in str(sink.answers)


@pytest.mark.parametrize("line", ["name", "1 version", "boardsize 19", "12 kata-analyze b 10", "quit", "  genmove b "])
def test_gtp_in_this_mode(local, line, caplog):
    (answer,) = local().ask(line).run().answers
    assert "`keisei gtp`" in answer["error"] and "GTP" in caplog.text


def test_gtp_mode_is_told_once(local, caplog):
    local().ask("name", "version").run()
    assert caplog.text.count("keisei gtp") == 1


def test_every_wire_file_is_answered(local, shared_dir):
    """What clients send to a GTP engine: each line is refused, and nothing breaks."""
    for path in sorted((shared_dir / "data" / "client_wire").glob("*.jsonl")):
        text = "".join(json.loads(line)["send"] for line in path.read_text(encoding="utf-8").splitlines())
        lines = [line for line in text.split("\n") if line.strip()]
        sink = local().ask(*lines).run()
        assert len(sink.answers) == len(lines) and all("error" in answer for answer in sink.answers)


def test_unknown_keys_are_warned_of_and_the_query_runs(local):
    query = {**GOOD, "includeNoise": True, "overrideSettings": {"playoutDoublingAdvantage": 1.0}}
    answers = local().ask(query).run().answers
    assert [answer.get("field") for answer in answers] == ["includeNoise", "overrideSettings", None]
    assert all(answer["id"] == "q" for answer in answers) and answers[2]["rootInfo"]["visits"] == 2
    assert "playoutDoublingAdvantage" in answers[1]["warning"]
    assert len(local(warn_unused=False).ask(query).run().answers) == 1


def test_null_is_nothing(local):
    query = dict.fromkeys(["komi", "rules", "priority", "avoidMoves", "overrideSettings", "analyzeTurns", "foo"])
    answers = local(warn_unused=False).ask({**GOOD, **query}).run().answers
    assert [answer["turnNumber"] for answer in answers] == [1]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ({"id": "v", "action": "query_version"}, {"version": "1.20.0"}),
        ({"id": "m", "action": "query_models"}, {"models": [{"name": "test"}]}),
        ({"id": "c", "action": "clear_cache"}, {}),
        ({"id": "t", "action": "terminate", "terminateId": "x"}, {"terminateId": "x"}),
        ({"id": "t", "action": "terminate", "terminateId": "x", "turnNumbers": [1]},
         {"terminateId": "x", "turnNumbers": [1]}),
        ({"id": "t", "action": "terminate_all"}, {}),
    ],
)  # fmt: skip
def test_actions(local, query, answer):
    (found,) = local().ask(query).run().answers
    found.pop("git_hash", None)
    assert found == {"action": query["action"], "id": query["id"], **answer}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"id": "x", "action": "dance"}, "action"),
        ({"id": "x", "action": 5}, "action"),
        ({"id": "x", "action": "terminate"}, "terminateId"),
        ({"id": "x", "action": "terminate", "terminateId": 5}, "terminateId"),
        ({"id": "x", "action": "terminate_all", "turnNumbers": "all"}, "turnNumbers"),
    ],
)
def test_wrong_actions(local, query, field):
    (found,) = local().ask(query).run().answers
    assert found["field"] == field and found["id"] == "x" and "error" in found


def test_katrains_words(local):
    """KaTrain's names of rules, and the word it looks for when a sweep tries an occupied point."""
    for rules in ("japanese", "chinese", "korean", "aga", "tromp-taylor", "new zealand", "stone_scoring"):
        assert "error" not in local().ask({**GOOD, "rules": rules}).run().answers[0]


def test_vertices_in_other_forms(local):
    moves = [["b", "e5"], ["white", "PASS"], ["B", "(0,0)"]]
    (answer,) = local().ask({**GOOD, "moves": moves, "initialStones": [["W", "A8"]]}).run().answers
    assert answer["turnNumber"] == 3
