"""The search benchmark runs without a net and prints both forms; its signature is the same whenever it is asked for."""

import json

from engine.bench import search

ARGUMENTS = ["--net", "none", "--sizes", "5,7", "--visits", "40", "--positions", "2"]


def test_table_and_json_agree_on_the_signature(capsys):
    assert search.main(ARGUMENTS) == 0
    text = capsys.readouterr().out
    assert search.main([*ARGUMENTS, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert text.splitlines()[-1] == f"signature {answer['signature']}"
    assert [row["size"] for row in answer["rows"]] == [5, 7]
    for row in answer["rows"]:
        assert row["visits_per_second"] >= row["evaluations_per_second"] > 0
        assert 0.0 < row["select"] + row["encode"] + row["net_share"] + row["backup"] <= 1.0
