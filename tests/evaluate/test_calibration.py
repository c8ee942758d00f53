"""`keisei evaluate calibration`: the temperature of calls whose reliability is known, and where it is stored."""

import json
import math

import numpy as np
import pytest
from judged_table import write_table

from engine.cli import main as keisei
from engine.evaluate.calibration import Call, at_temperature, calls_of, expected_error, fit_temperature, reliability
from engine.judge import Judge, JudgeSettings
from engine.judge.asking import GivenOpinion
from engine.judge.settle import Verdict
from engine.train.judged import read_judged, replay_judged


def calls(confidence: float, right: int, wrong: int) -> list[Call]:
    return [Call(confidence, True, 1)] * right + [Call(confidence, False, 1)] * wrong


def test_calls_that_are_as_often_right_as_said_need_no_temperature() -> None:
    found = calls(0.9, 90, 10) + calls(0.7, 70, 30)
    assert fit_temperature(found) == pytest.approx(1.0, abs=0.01)
    assert expected_error(reliability(found)) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_the_temperature_is_found(temperature: float) -> None:
    """Calls said with a logit that is wrong by a factor."""
    found = []
    for share in (60, 80, 95):
        logit = math.log(share / (100 - share)) * temperature
        found += calls(1 / (1 + math.exp(-logit)), share, 100 - share)
    assert fit_temperature(found) == pytest.approx(temperature, rel=0.01)
    assert expected_error(reliability(found, temperature)) < 0.001


def test_rows_count_every_call_once() -> None:
    found = calls(0.5, 1, 1) + calls(0.95, 2, 0) + calls(1.0, 3, 0)
    assert sum(row["chains"] for row in reliability(found)) == len(found)


def test_the_judge_s_confidence_follows_its_temperature(tmp_path) -> None:
    judged = next(read_judged(write_table(tmp_path / "judged.tsv", 0, 5), only_held_out=False))
    position = replay_judged(judged)
    owner = np.where(position.board() == 1, 0.9, -0.9).astype(np.float32)
    owner[:, :2] = 0.9
    owner[3, 0] = 0.8  # the dead white stone: 90 %
    stone = {}
    for temperature in (1.0, 2.0):
        judgment = Judge(GivenOpinion(owner), JudgeSettings(temperature=temperature, nodes=0)).judge(position)
        (chain,) = [chain for chain in judgment.chains if chain.stones == (21,)]
        assert chain.status == "dead" and not chain.proven
        assert judgment.confidence.ravel()[21] == pytest.approx(chain.confidence)
        assert all(call.right for call in calls_of(judged, judgment))
        stone[temperature] = chain.confidence
    assert stone[1.0] == pytest.approx(0.9, abs=1e-3)
    assert stone[2.0] == pytest.approx(at_temperature(stone[1.0], 2.0), abs=1e-6)


def test_a_proof_has_no_temperature() -> None:
    assert Verdict(1.0, True).confidence(True, 3.0) == 1.0
    assert Verdict(0.0, False).confidence(False, 3.0) == 1.0
    assert Verdict(0.9, False).confidence(False, 2.0) == pytest.approx(0.25)


def test_the_command(tmp_path, capsys) -> None:
    from engine.nn import checkpoint
    from engine.nn.judgment import judgment_spec
    from engine.nn.policy_value import build_module, fold_for_export

    spec = judgment_spec(blocks=1, channels=8, gpool_every=0, encoding="judgment-18")
    net = tmp_path / "net.safetensors"
    about = {"name": "tiny", "thresholds": {"dead": 0.4}, "thresholds_from": {"dead": "there"}}
    checkpoint.save(net, spec, fold_for_export(build_module(spec, trainable=True)), about)
    table = write_table(tmp_path / "judged.tsv", 3, 3)
    words = ["evaluate", "calibration", "--data", str(table), "--modulus", "1", "--set", "judge.nodes=0"]
    own = ["--judge", f"judgment:{net}"]
    assert keisei([*words, "--set", "judge.dead=1.0", *own, "--json", "--write", str(net)]) == 0  # the dead stone lives
    whole = json.loads(capsys.readouterr().out)
    metadata = checkpoint.load(net)[2]
    assert metadata["thresholds"] == {"dead": 0.4, "temperature": whole["temperature"]}
    assert metadata["thresholds_from"]["dead"] == "there"
    assert (whole["games"], whole["wrong"]) == (3, 3)
    assert keisei([*words, "--set", "judge.dead=1.0", *own, "--png", str(tmp_path / "picture.svg")]) == 0
    assert "3 called wrongly" in capsys.readouterr().out
    assert (tmp_path / "picture.svg").stat().st_size
    assert keisei([*words, *own, "--held-out", "--write", str(net)]) == 2
    assert keisei([*words, "--judge", "gtp:true"]) == 2
    assert keisei([*words, *own, *own]) == 2
    assert "Traceback" not in capsys.readouterr().err
