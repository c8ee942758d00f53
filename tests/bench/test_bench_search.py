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


def row(size, threads, asked, visits, net="n"):
    rest = dict.fromkeys(("cpu_ms", "evaluations_per_second", "cache_hits", "bytes_per_visit", *search.PARTS[:2]), 0.0)
    values = {"net": net, "size": size, "threads": threads, "asked": asked, "visits_per_second": visits}
    return search.Row(**values, batch=float(asked), net_share=0.9, backup=0.0, **rest)


def test_of_settings_nearly_as_fast_the_smallest_batch_is_recommended():
    rows = [
        row(9, 1, 0, 9e9, net=search.FREE),
        row(9, 1, 1, 500.0),
        row(9, 1, 4, 940.0),
        row(9, 2, 2, 960.0),
        row(9, 2, 8, 1000.0),
        row(19, 2, 4, 99.0),
        row(19, 1, 4, 100.0),
    ]
    found = search.recommended(rows)
    assert [(r.size, r.threads, r.asked) for r in found] == [(9, 2, 2), (19, 1, 4)]
    assert search.advice(found[0]).startswith("9x9: --set net.threads=2 --set search.batch_size=2  (960 visits/s")
