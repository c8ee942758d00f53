"""Games of a net against itself: records, determinism, going on after a kill."""

import json
from pathlib import Path

import numpy as np
import pytest

from engine.board.position import Position
from engine.errors import ConfigError
from engine.evaluator_fakes import HashEvaluator, RecordingEvaluator
from engine.train.records import read_table
from engine.train.selfplay.game import pick
from engine.train.selfplay.lockstep import Lockstep
from engine.train.selfplay.plan import SelfplayPlan, draw_game, fair_komi, parse_sizes, parse_weights
from engine.train.selfplay.run import play, play_numbers
from engine.train.selfplay.store import GameStore, SelfplayError

POLICY = SelfplayPlan(sizes=(5, 6), visits=1, late_temperature=0.5, games_at_once=4, part_games=6, resign=False)


def played(tmp_path, plan=POLICY, games=12, net="hash", seed=0) -> Path:
    play(HashEvaluator(max_batch=16, seed=seed), plan, games, GameStore(tmp_path, plan, net))
    return tmp_path / "games.tsv"


def test_policy_games_are_records_that_training_reads_and_the_rules_allow(tmp_path):
    games = list(read_table(played(tmp_path)))
    assert [game.size for game in games] == [5, 6] * 6
    assert {game.komi for game in games} == {24.0, 4.0}
    for game in games:
        position = Position(game.size, rules=game.rules, komi=game.komi)
        for action in game.actions():
            position.play(action)
        assert position.ended or game.n_moves == 2 * game.size**2
        assert game.by_points == (game.result != 0)


def test_the_same_seed_plays_the_same_games_whatever_runs_beside_them(tmp_path):
    one = played(tmp_path / "a").read_text()
    assert one == played(tmp_path / "b").read_text()
    assert one != played(tmp_path / "c", SelfplayPlan(**{**_fields(POLICY), "seed": 2})).read_text()
    alone = [game for number in range(3) for game in play_numbers(HashEvaluator(), POLICY, range(number, number + 1))]
    beside = sorted(play_numbers(HashEvaluator(), POLICY, range(3)), key=lambda game: game.plan.number)
    assert [game.turns for game in alone] == [game.turns for game in beside]


def _fields(plan):
    return {name: getattr(plan, name) for name in plan.__slots__}


@pytest.mark.parametrize("torn", ["", '{"part": 1, "ga'])
def test_a_killed_run_goes_on_as_if_it_had_not_been(tmp_path, torn):
    whole = played(tmp_path / "whole").read_bytes()
    folder = tmp_path / "killed"
    table = played(folder, games=6)
    with table.open("ab") as file:  # killed while it wrote the second part
        file.write(b"5\t24\ttromp-taylor\tB+")
    with (folder / "manifest.jsonl").open("a") as file:
        file.write(torn)
    assert played(folder).read_bytes() == whole
    lines = (folder / "manifest.jsonl").read_text().splitlines()
    assert [json.loads(line)["part"] for line in lines[1:]] == [0, 1]


@pytest.mark.parametrize("line", ["x", "[]", "{}", '{"part": 1, "games": 6, "table_bytes": 9}', '{"part": 0}'])
def test_a_damaged_line_of_the_manifest_is_named(tmp_path, line):
    played(tmp_path, games=6)
    manifest = tmp_path / "manifest.jsonl"
    manifest.write_text(manifest.read_text().splitlines()[0] + f"\n{line}\n")
    with pytest.raises(SelfplayError, match=r"manifest\.jsonl"):
        GameStore(tmp_path, POLICY, "hash")


def test_a_folder_of_another_plan_or_net_or_a_damaged_one_is_refused(tmp_path):
    table = played(tmp_path, games=6)
    with pytest.raises(SelfplayError, match="another net"):
        GameStore(tmp_path, POLICY, "other")
    with pytest.raises(SelfplayError, match="another plan"):
        GameStore(tmp_path, SelfplayPlan(**{**_fields(POLICY), "seed": 7}), "hash")
    table.write_bytes(table.read_bytes()[:-10])
    with pytest.raises(SelfplayError, match="the manifest knows of"):
        GameStore(tmp_path, POLICY, "hash")


def test_a_batch_larger_than_the_evaluator_takes_is_cut_into_equal_pieces():
    recording = RecordingEvaluator(HashEvaluator(max_batch=4))

    def game(rows):
        rows.spatial[:] = rows.globals_[:] = 0
        rows.spatial[0, 0, 0, 0] = number = next(numbers)
        answer, row = yield 1
        return number, float(answer.value[row])

    numbers = iter(range(1, 8))
    lockstep = Lockstep(recording, 5, slots=7)
    got = dict(lockstep.run(iter([game] * 7)))
    assert {len(call.spatial) for call in recording.calls} == {4}
    for number, value in got.items():
        spatial, globals_ = recording.allocate(1, 5, 5)
        spatial[0, 0, 0, 0] = number
        assert value == float(recording.inner.evaluate(spatial, globals_).value[0])


def test_pick_follows_the_temperature():
    policy, rng = np.array([0.1, 0.6, 0.3, 0.0]), np.random.default_rng(0)
    assert {pick(policy, 0.0, rng) for _ in range(20)} == {1}
    counts = np.bincount([pick(policy, 1.0, rng) for _ in range(4000)], minlength=4)
    assert np.allclose(counts / 4000, policy, atol=0.03)
    counts = np.bincount([pick(policy, 0.5, rng) for _ in range(4000)], minlength=4)
    assert np.allclose(counts / 4000, policy**2 / (policy**2).sum(), atol=0.03)


def test_what_is_drawn_for_a_game(tmp_path):
    plan = SelfplayPlan(sizes=(9, 19), komi_spread=10.0, playout_share=0.2, rules={"japanese": 1.0, "chinese": 1.0})
    games = [draw_game(plan, number) for number in range(2000)]
    assert games[7] == draw_game(plan, 7)
    assert {game.size for game in games} == {9, 19}
    assert 0.16 < sum(game.to_the_end for game in games) / 2000 < 0.24
    assert 0.4 < sum(game.komi == fair_komi(game.size, game.rules) for game in games) / 2000 < 0.6
    assert {game.hot_moves for game in games} == {30, 7}
    assert all(game.komi * 2 == round(game.komi * 2) for game in games)


def test_sizes_and_rules_as_they_are_written():
    assert parse_sizes("7,10-12") == (7, 10, 11, 12)
    assert parse_weights(["japanese=0.5", "tromp-taylor"]) == {"japanese": 0.5, "tromp-taylor": 1.0}
    for wrong in ("", "9-", "x", "9-7"):
        with pytest.raises(ConfigError):
            SelfplayPlan(sizes=parse_sizes(wrong)).check()
    with pytest.raises(ConfigError):
        SelfplayPlan(sizes=(4,)).check()
    with pytest.raises(ConfigError):
        parse_weights(["chinese=much"])
