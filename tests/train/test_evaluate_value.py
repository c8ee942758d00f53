"""`keisei evaluate value`: comparisons with record, truth and teacher, on games small enough to count by hand."""

import json

import numpy as np
import pytest
from teacher_fake import Teacher

from engine.evaluator import Evaluation
from engine.sgf import actions_to_letters
from engine.train import evaluate_value
from engine.train.evaluate_value import choose, groups, look, phase_of, summarise, table_text, under_rules
from engine.train.records import Game, RecordError, write_table
from engine.train.samples import Sample
from engine.train.selection import held_out

OWNERS = "B" * 45 + "W" * 36


def some_games(count=40, **more):
    rng = np.random.default_rng(2)
    settings = {"komi": 7.0, "rules": "Chinese", "result": 1, "margin": 2.0, "ownership": OWNERS, **more}
    return [Game(9, actions_to_letters(rng.permutation(81)[:30], 9), **settings) for _ in range(count)]


class Oracle:
    """Says what a function of the game's side to move says; the same of every position."""

    encoding, max_batch, name = "katago-v7", 16, "oracle"

    def allocate(self, batch, width, height):
        return np.zeros((batch, 22, height, width), np.float32), np.zeros((batch, 19), np.float32)

    def evaluate(self, spatial, globals_, *, ownership=False):
        rows = len(spatial)
        black = np.where(globals_[:, 5] < 0, 1, -1)  # komi is against Black: self komi is negative for Black
        owners = np.where(np.arange(81) < 45, 1, -1)
        return Evaluation(
            np.zeros((rows, 82), np.float32),
            black.astype(np.float32),
            lead=2.0 * black,
            ownership=(owners[None] * black[:, None]).astype(np.float32),
        )


def test_a_net_that_knows_the_end_has_no_error():
    samples = [Sample(game, ply, 0, False, "", 0.0, 0) for ply, game in enumerate(some_games(20))]
    figures = groups(look([Oracle()], samples, "area"))
    assert set(figures) == {"area", "area, size 9", "area, phase opening", "area, phase middle"}
    whole = figures["area"]
    assert whole["positions"] == 20 and whole["winner"] == 1.0 and whole["winner_of"] == 20
    assert whole["score_error"] == 0 and whole["owner_error"] == 0 and whole["owner_wrong"] == 0
    wrong = Oracle()
    wrong.evaluate = lambda *args, **kwargs: flipped(Oracle().evaluate(*args, **kwargs))
    whole = groups(look([wrong], samples, "area"))["area"]
    assert whole["winner"] == 0 and whole["score_error"] == 4
    assert whole["owner_wrong"] == 1 and whole["owner_error"] == 2


def flipped(said):
    return Evaluation(said.policy_logits, -said.value, lead=-said.lead, ownership=-said.ownership)


def test_under_other_rules_the_records_result_is_not_asked_for():
    samples = [Sample(game, 10, 0, False, "", 0.0, 0) for game in some_games(5)]
    whole = groups(look([Oracle()], samples, "territory"))["territory"]
    assert "winner" not in whole and "score_error" not in whole and whole["owner_error"] == 0
    territory, area = (under_rules(samples[0], family) for family in ("territory", "area"))
    assert (territory.rules, territory.komi) == ("japanese", 6.5) and area.komi == 7.0 and "AREA" in area.rules


def test_a_net_agrees_with_itself_and_less_with_another():
    samples = [Sample(game, 20, 0, False, "", 0.0, 0) for game in some_games(12)]
    same = groups(look([Teacher(), Teacher()], samples, "area"))["area"]
    assert same["teacher_top1"] == 1 and same["teacher_kl"] == pytest.approx(0, abs=1e-6)
    assert same["teacher_value"] == same["teacher_lead"] == same["teacher_owner"] == 0
    other = groups(look([Oracle(), Teacher()], samples, "area"))["area"]
    assert other["teacher_kl"] > 0.5 and other["teacher_value"] > 0.1


def test_the_choice_is_seeded_held_out_and_one_a_game():
    games = some_games(200)
    samples = choose(games, positions=8, seed=3, last=False)
    assert samples == choose(games, positions=8, seed=3, last=False) != choose(games, positions=8, seed=4, last=False)
    assert len({sample.game.moves for sample in samples}) == len(samples) == 8
    assert all(held_out(sample.game) for sample in samples)
    assert [sample.ply for sample in choose(games[:5], positions=9, seed=1, last=True)] == [30] * 5


def test_phases_and_means():
    game = Game(9, "")
    assert [phase_of(Sample(game, ply, 0, False, "", 0, 0)) for ply in (0, 12, 13, 36, 37, 400)] == [
        "opening", "opening", "middle", "middle", "end", "end",
    ]  # fmt: skip
    rows = [{"rules": "area", "top1": 1.0, "teacher_value_sq": 4.0}, {"rules": "area", "teacher_value_sq": 0.0}]
    assert summarise(rows) == {"positions": 2, "top1": 1.0, "teacher_value": round(2**0.5, 4)}


def test_the_command_prints_a_table_or_json(tmp_path, monkeypatch, capsys):
    write_table(tmp_path / "g.tsv", some_games(30))
    monkeypatch.setattr(evaluate_value, "open_net", lambda *_args, **_kwargs: (Oracle(), "oracle"))
    words = ["--games", str(tmp_path / "g.tsv"), "--last"]
    assert evaluate_value.main([*words, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    area = figures["area"]
    assert area["winner"] == 1 and area["winner_right"] == area["winner_of"] == figures["territory"]["positions"] > 20
    evaluate_value.main(words)
    lines = capsys.readouterr().out.splitlines()
    assert "winner" in lines[0] and lines[1].startswith("area") and lines == table_text(figures).splitlines()
    write_table(tmp_path / "none.tsv", [])
    with pytest.raises(RecordError, match="held-out"):
        evaluate_value.main(["--games", str(tmp_path / "none.tsv")])
