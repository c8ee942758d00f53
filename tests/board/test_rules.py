"""Rule sets: the table of names, KataGo's JSON both ways, and what is refused."""

import dataclasses
import json

import pytest

from engine.board.rules import NAMED, Rules, parse_rules, rules_by_name
from engine.errors import ConfigError

# docs/nets.md §6: ko, scoring, tax, suicide, whiteHandicapBonus, friendlyPassOk, button
TABLE = {
    "tromp-taylor": ("POSITIONAL", "AREA", "NONE", True, "0", False, False),
    "chinese": ("SIMPLE", "AREA", "NONE", False, "N", True, False),
    "chinese-ogs": ("POSITIONAL", "AREA", "NONE", False, "N", True, False),
    "chinese-kgs": ("POSITIONAL", "AREA", "NONE", False, "N", True, False),
    "japanese": ("SIMPLE", "TERRITORY", "SEKI", False, "0", False, False),
    "korean": ("SIMPLE", "TERRITORY", "SEKI", False, "0", False, False),
    "stone-scoring": ("SIMPLE", "AREA", "ALL", False, "0", True, False),
    "aga": ("SITUATIONAL", "AREA", "NONE", False, "N-1", True, False),
    "bga": ("SITUATIONAL", "AREA", "NONE", False, "N-1", True, False),
    "aga-button": ("SITUATIONAL", "AREA", "NONE", False, "N-1", True, True),
    "new-zealand": ("SITUATIONAL", "AREA", "NONE", True, "0", True, False),
}


def test_the_table_is_whole():
    assert set(NAMED) == set(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_named_rules(name):
    ko, scoring, tax, suicide, bonus, friendly, button = TABLE[name]
    wanted = Rules(
        ko=ko, scoring=scoring, tax=tax, suicide=suicide, has_button=button,
        white_handicap_bonus=bonus, friendly_pass_ok=friendly,
    )
    for spelling in (name, name.upper(), name.title(), name.replace("-", "_"), name.replace("-", " "), f" {name} "):
        assert rules_by_name(spelling) == wanted


def test_unknown_name_names_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown rules: chinse \(did you mean chinese\?\): there are tromp-taylor,"):
        rules_by_name("chinse")
    for name in ("", "rules", "tromp"):
        with pytest.raises(ConfigError):
            rules_by_name(name)


def test_json_is_katagos_byte_for_byte():
    rules = Rules(ko="POSITIONAL", suicide=False)
    assert rules.to_json() == (
        '{"friendlyPassOk":false,"hasButton":false,"ko":"POSITIONAL","scoring":"AREA","suicide":false,"tax":"NONE",'
        '"whiteHandicapBonus":"0"}'
    )


@pytest.mark.parametrize("name", TABLE)
def test_json_comes_back(name):
    rules = NAMED[name]
    assert Rules.from_json(rules.to_json()) == rules
    assert Rules.from_json(json.loads(rules.to_json())) == rules
    assert parse_rules(json.dumps(json.loads(rules.to_json()), indent=1)) == rules
    assert parse_rules(name) == rules


def test_a_subset_of_keys_keeps_the_rest():
    assert Rules.from_json('{"ko": "simple"}', NAMED["aga"]) == dataclasses.replace(NAMED["aga"], ko="SIMPLE")
    assert Rules.from_json("{}") == NAMED["tromp-taylor"]
    assert parse_rules('{"suicide":false}') == dataclasses.replace(NAMED["tromp-taylor"], suicide=False)
    assert Rules.from_json({"whiteHandicapBonus": 0}, NAMED["aga"]).white_handicap_bonus == "0"


def test_one_key_from_text():
    rules = NAMED["chinese"]
    assert rules.with_value("ko", "positional").ko == "POSITIONAL"
    assert rules.with_value("suicide", "TRUE").suicide is True
    assert rules.with_value("whiteHandicapBonus", "n-1").white_handicap_bonus == "N-1"
    for key, text in (("ko", "spite"), ("suicide", "maybe"), ("Ko", "SIMPLE"), ("tax", ""), ("size", "9")):
        with pytest.raises(ConfigError):
            rules.with_value(key, text)


BAD = [
    "{", "[]", '"aga"', "3", '{"ko": 3}', '{"ko": null}', '{"ko": "KO"}', '{"suicide": 1}', '{"hasbutton": true}',
    '{"komi": 7.5}', '{"scoring": "TERRITORY", "hasButton": true}', '{"tax": ["NONE"]}', "{ko: SIMPLE}",
    '{"ko":' * 100_000, '{"ko":' + "[" * 100_000,
]


@pytest.mark.parametrize("text", BAD)
def test_bad_json_is_refused(text):
    with pytest.raises(ConfigError):
        Rules.from_json(text)


def test_an_unknown_key_names_the_nearest():
    with pytest.raises(ConfigError, match=r"'hasbuton' \(did you mean hasButton\?\)"):
        Rules.from_json('{"hasbuton": true}')


def test_rules_are_frozen_and_compare():
    rules = NAMED["aga"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.ko = "SIMPLE"
    assert rules == NAMED["bga"]
    assert hash(rules) == hash(NAMED["bga"])
    with pytest.raises(ConfigError):
        Rules(ko="simple")
    with pytest.raises(ConfigError):
        Rules(suicide=1)
