"""Settings by KataGo's and Leela Zero's names, one by one and several at once."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("lz-setoption name Visits value 800", "maxVisits", "800"),
        ("lz-setoption name visits value 0", "maxVisits", "none"),
        ("lz-setoption name Lagbuffer value 50", "lagBuffer", "0.5"),
        ("lz-setoption name Pondering value true", "ponderingEnabled", "true"),
        ("lz-setoption name Resign Percentage value 10", "player.resign_winrate", "0.1"),
        ("lz-setoption name Resign Percentage value -1", "player.resign_winrate", "0.03"),
        ("kata-set-param maxVisits 1125899906842624", "maxVisits", "none"),
        ("kata-set-param maxVisits 1000000", "maxVisits", "1000000"),
        ("kata-set-param playoutDoublingAdvantage 0", "playoutDoublingAdvantage", "0.0"),
        ("kata-set-param numSearchThreads 1", "numSearchThreads", "1"),
        ("kata-set-param analysisWideRootNoise 0.04", "analysisWideRootNoise", "0.04"),
        ('kata-set-params {"maxVisits":33,"ponderingEnabled":false}', "maxVisits", "33"),
        ('kata-set-params {"maxTime":null}', "maxTime", "none"),
        ("kata-set-params {}", "maxVisits", "20"),
    ],
)
def test_changes(client, line, name, value):
    assert client.ok(line) == "" and client.ok(f"kata-get-param {name}") == value


@pytest.mark.parametrize(
    "line",
    [
        "lz-setoption", "lz-setoption name Visits", "lz-setoption name Visits value", "lz-setoption visits 3",
        "lz-setoption name Visits value x", "lz-setoption name Visits value -1", "lz-setoption name Nothing value 3",
        "lz-setoption name value 3", "lz-setoption name Resign Percentage value 500",
        "kata-set-param playoutDoublingAdvantage 1.5", "kata-set-param numSearchThreads 8",
        "kata-set-param playoutDoublingAdvantage x", "kata-set-params", "kata-set-params {", "kata-set-params []",
        'kata-set-params {"maxVisits":{}}', 'kata-set-params {"maxVisits":[1]}', 'kata-set-params {"x":1}',
        'kata-set-params {"maxVisits":7,"lagBuffer":-1}', 'kata-set-params {"maxVisits":7,"numSearchThreads":2}',
    ],
)  # fmt: skip
def test_refusals_change_nothing(client, line):
    before = client.ok("kata-get-params")
    client.error(line)
    assert client.ok("kata-get-params") == before


def test_a_refusal_leaves_the_rules_of_the_game(client):
    client.ok("kata-set-rules aga")
    client.error('kata-set-params {"player.rules":"japanese","lagBuffer":-1}')
    client.error('kata-set-params {"maxVisits":7,"player.rules":"nonsense","search.cpuct":2}')
    assert client.game.rules.ko == "SITUATIONAL" and client.ok("kata-get-param maxVisits") == "20"
    assert client.ok("kata-get-param search.cpuct") == "1.0"


def test_all_at_once(client):
    values = json.loads(client.ok("kata-get-params"))
    names = client.ok("kata-list-params").split()
    assert set(names) < set(values) and values["maxVisits"] == 20 and values["maxTime"] is None
    assert values["playoutDoublingAdvantage"] == 0.0
    assert client.ok(f"kata-set-params {json.dumps(values)}") == ""
    assert json.loads(client.ok("kata-get-params")) == values


def test_visits_without_limit_still_end(client):
    client.ok("boardsize 5")
    client.ok("lz-setoption name visits value 0")
    client.ok("kata-set-param player.default_visits 5")
    assert client.ok("genmove b")
