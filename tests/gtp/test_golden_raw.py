"""kata-raw-nn after a whole game sent over GTP, against KataGo's answers: rules, handicap, history and text in one."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

pytest.importorskip("torch")

TOLERANCE = {"whiteWin": 0.001, "whiteLoss": 0.001, "noResult": 0.001, "whiteLead": 0.02}


@pytest.fixture(scope="module")
def evaluator(shared_dir):
    from engine import factory

    settings = factory.make_settings({"net": {"device": "cpu", "precision": "float32", "threads": 1}})
    return factory.load(str(shared_dir / "nets" / "g170-b6c96.bin.gz"), settings.net).evaluator


def cases(shared_dir, step):
    with gzip.open(shared_dir / "data" / "golden" / "raw_b6.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for number, line in enumerate(file) if number % step == 0]


def ask(client, case):
    client.ok(f"boardsize {case['size']}")
    client.ok(f"kata-set-rules {case['rules']}")
    client.ok(f"komi {case['komi']}")
    if case["handicap"]:
        client.ok("set_free_handicap " + " ".join(case["handicap"]))
    for color, vertex in case["moves"]:
        if client.ask(f"play {color} {vertex}") == "? illegal move":
            return None  # KataGo plays suicides in some of its random games though the rules forbid them
    return client.ok(f"kata-raw-nn {case['symmetry']}").split("\n")


def read(lines, size):
    """Return the single numbers, the policy and the ownership of a kata-raw-nn reply."""
    numbers = {name: float(value) for name, _, value in (line.partition(" ") for line in lines) if value.count(" ") == 0
               and name.isalpha() and value}  # fmt: skip
    grids = {}
    for name in ("policy", "whiteOwnership"):
        start = lines.index(name) + 1
        grids[name] = np.array([row.split() for row in lines[start : start + size]], dtype=np.float64)
    return numbers, grids


@pytest.mark.parametrize("step", [25, pytest.param(1, marks=pytest.mark.slow)])
def test_raw_net_agrees_with_katago(make_client, evaluator, shared_dir, step):
    client = make_client(evaluator)
    refused = []
    chosen = cases(shared_dir, step)
    for case in chosen:
        raw, reply = case["raw"], ask(client, case)
        if reply is None:
            refused.append(case["rules"])
            continue
        numbers, grids = read(reply, case["size"])
        for name, tolerance in TOLERANCE.items():
            assert numbers[name] == pytest.approx(raw[name], abs=tolerance), (name, case["rules"])
        policy = np.array([np.nan if value is None else value for value in raw["policy"]], dtype=np.float64)
        np.testing.assert_allclose(grids["policy"].ravel(), policy, atol=0.001, equal_nan=True)
        np.testing.assert_allclose(grids["whiteOwnership"].ravel(), raw["whiteOwnership"], atol=0.002)
        assert numbers["policyPass"] == pytest.approx(raw["policyPass"], abs=0.001)
    assert len(refused) <= len(chosen) // 25 and not {"tromp-taylor", "new-zealand"} & set(refused)
