"""The board benchmark runs, prints both forms, and its signature says what the board does."""

import json

from engine.bench import board


def test_table_and_json_agree_on_the_signature(capsys):
    assert board.main(["--games", "3", "--rounds", "1"]) == 0
    text = capsys.readouterr().out
    assert board.main(["--games", "3", "--rounds", "1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert text.splitlines()[-1].split()[-1] == answer["signature"]
    assert len(answer["figures"]) > 5 and all(figure["name"] in text for figure in answer["figures"])
    assert answer["figures"][0]["ratio"] is not None


def test_the_signature_is_that_of_these_rules_of_play():
    """A change here means that legality, captures or keys changed: the commit that does it says so."""
    _, signature = board.walk_figure(19, "chinese-ogs", board.Effort(games=3, rounds=1))
    assert f"{signature:016x}" == "9e67929a4a8526bc"
