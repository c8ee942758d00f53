"""`keisei evaluate thresholds`: fitting on opinions whose best threshold is known, and storing it with a net."""

import dataclasses
import json
import types

import numpy as np
import pytest
from judged_table import write_table

from engine.board.position import Position
from engine.cli import main as keisei
from engine.evaluate.thresholds import Asked, best_of, blended, fit, fit_weight, validation_games
from engine.judge import Judge
from engine.judge.types import Opinion
from engine.train.judged import read_judged, replay_judged
from engine.train.selection import held_out


def right(count: int, wrong: int = 0) -> dict[str, int]:
    return {"dead_exact": count, "score_exact": count, "stones_wrong": wrong}


@pytest.mark.parametrize(
    ("results", "best"),
    [
        ([(0.1, right(3)), (0.2, right(5)), (0.3, right(5)), (0.4, right(5)), (0.5, right(4))], 0.3),
        ([(0.1, right(5)), (0.2, right(4)), (0.3, right(5)), (0.4, right(5))], 0.3),  # the longer run, its lower middle
        ([(0.1, right(5, 2)), (0.2, right(5, 1))], 0.2),  # fewer stones wrong
        ([(0.1, right(0))], 0.1),
    ],
)
def test_the_middle_of_the_best_is_taken(results, best) -> None:
    assert best_of(results) == best


@pytest.mark.parametrize(("p_dead", "low", "high"), [(0.3, 0.0, 0.3), (0.9, 0.05, 0.9)])
def test_the_threshold_lies_where_the_truth_is(tmp_path, p_dead, low, high) -> None:
    """The net says p_dead of the dead stone and 0.05 of the living ones: any threshold between is right."""
    judged = next(read_judged(write_table(tmp_path / "judged.tsv", 0, 5), only_held_out=False))
    position = replay_judged(judged)
    board = position.board()
    owner = np.where(board == 1, 0.9, np.where(board == 2, -0.9, 0.0)).astype(np.float32)
    owner[:, :2] = 0.9
    owner[3, 0] = -(1.0 - 2.0 * p_dead)
    asked = [Asked(dataclasses.replace(judged, margin=-7.0), position, Opinion(owner))]
    report = fit(asked, progress=lambda text: None)
    assert low < report["thresholds"]["dead"] < high
    assert report["after"] == {"dead_exact": 1, "score_exact": 1, "stones_wrong": 0}
    assert report["tried"]["dead"]["0.1"]["dead_exact"] == 1
    assert report["tried"]["dead"]["0.9"]["dead_exact"] == (0 if p_dead < 0.9 else 1)


@pytest.mark.parametrize(("margin", "right_ones"), [(-5.0, "6 7 8 10 12 15 20"), (-7.0, "0 1 2 3 4 5")])
def test_how_large_dame_regions_are_is_what_the_players_left(tmp_path, margin, right_ones) -> None:
    """Six points at the top lie between both sides; the net gives two of them to White."""
    judged = next(read_judged(write_table(tmp_path / "judged.tsv", 0, 5), only_held_out=False))
    position = Position(7, rules="chinese", komi=0.0)
    rows = (".X...O.", ".X...O.", *[".XXOOO."] * 5)
    position.set_up([("XO".index(mark) + 1, at) for at, mark in enumerate("".join(rows)) if mark != "."])
    owner = np.tile(np.array([0.9, 0.9, 0.9, -0.9, -0.9, -0.9, -0.9], np.float32), (7, 1))
    nobody_dead = dataclasses.replace(judged, margin=margin, dead=np.zeros(49, np.bool_))
    report = fit([Asked(nobody_dead, position, Opinion(owner))], progress=lambda text: None)
    tried = report["tried"]["small"]
    assert " ".join(size for size, result in tried.items() if result["score_exact"]) == right_ones
    assert str(report["thresholds"]["small"]) in right_ones.split() and report["after"]["score_exact"] == 1
    fitted = Judge(types.SimpleNamespace(name="given", thresholds=report["thresholds"])).settings
    assert fitted.small == report["thresholds"]["small"] and isinstance(fitted.small, int)


def test_the_weight_is_that_of_the_source_that_is_right(tmp_path) -> None:
    """One source knows that the stone is dead, the other one is surer that it lives."""
    judged = next(read_judged(write_table(tmp_path / "judged.tsv", 0, 5), only_held_out=False))
    position = replay_judged(judged)
    owner = np.where(position.board() == 1, 0.9, np.where(position.board() == 2, -0.9, 0.0)).astype(np.float32)
    owner[:, :2] = 0.9
    asked = []
    for value in (0.5, -0.8):
        owner[3, 0] = value
        asked.append(Asked(dataclasses.replace(judged, margin=-7.0), position, Opinion(owner.copy())))
    one, other = asked
    weight, tried = fit_weight([one], [other], lambda text: None)
    assert [tried[weight]["dead_exact"] for weight in ("0.5", "0.75", "1.0")] == [0, 1, 1]
    assert weight in (0.75, 1.0)
    assert blended([one], [other], 0.5)[0].opinion.owner[3, 0] == pytest.approx(-0.15)
    assert blended([one], [], 0.5) == []


def test_validation_games_are_never_held_out(tmp_path) -> None:
    table = write_table(tmp_path / "judged.tsv", 3, 5)
    games = validation_games(table, 1, 0)
    assert len(games) == 5
    assert not any(held_out(judged.game) for judged in games)
    assert len(validation_games(table, 1, 2)) == 2


def test_thresholds_are_stored_with_the_net(tmp_path, capsys) -> None:
    from engine import factory
    from engine.nn import checkpoint
    from engine.nn.judgment import judgment_spec
    from engine.nn.policy_value import build_module, fold_for_export
    from engine.nn.settings import NetSettings

    spec = judgment_spec(blocks=1, channels=8, gpool_every=0, encoding="judgment-18")
    net = tmp_path / "net.safetensors"
    checkpoint.save(net, spec, fold_for_export(build_module(spec, trainable=True)), {"name": "tiny"})
    table = write_table(tmp_path / "judged.tsv", 0, 3)
    words = ["evaluate", "thresholds", "--net", str(net), "--data", str(table), "--modulus", "1", "--games", "1"]
    assert keisei([*words, "--write"]) == 0
    report = json.loads(capsys.readouterr().out)
    source = factory.load_judgment(str(net), NetSettings(device="cpu", threads=1))
    assert source.thresholds == report["thresholds"]
    assert checkpoint.load(net)[2]["name"] == "tiny"
    assert keisei([*words[:4], "--data", str(table), "--modulus", "0"]) == 2
    held = write_table(tmp_path / "held.tsv", 3, 0)
    assert keisei([*words[:4], "--data", str(held), "--modulus", "1"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_playing_net_has_no_thresholds(tmp_path, capsys) -> None:
    table = write_table(tmp_path / "judged.tsv", 0, 1)
    assert keisei(["evaluate", "thresholds", "--net", "b6c64", "--data", str(table), "--modulus", "1"]) == 1
    assert "no judgment net" in capsys.readouterr().err
