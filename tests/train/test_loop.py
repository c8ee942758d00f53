"""The loop on a tiny board: generations, going on after a kill, the gate, ratings; and the kind of net it trains."""

import dataclasses
import json
import math

import numpy as np
import pytest
import torch

from engine.errors import ConfigError
from engine.evaluator_fakes import HashEvaluator, UniformEvaluator
from engine.nn import NetSettings, load_net, make_evaluator
from engine.train.alphagozero import AlphaGoZero
from engine.train.dataset import Batch
from engine.train.recipe import read_recipe
from engine.train.selfplay.arena import Score, as_player, play_match, settled
from engine.train.selfplay.loop import Loop
from engine.train.selfplay.plan import SelfplayPlan
from engine.train.selfplay.rate import best_nets, pairs_of, plot, rate, ratings, read_lines
from engine.train.selfplay.store import SelfplayError

RECIPE = """
name = "tiny"
[net]
kind = "alphago-zero"
size = 5
blocks = 1
channels = 8
value_hidden = 8
[train]
batch = 16
shares = { "5" = 1.0 }
schedule = "constant"
learning_rate = 3e-3
ema = 0.5
validate_positions = 64
[selfplay]
sizes = [5]
visits = 6
most_moves = 1.0
leaves = 2
games_at_once = 8
[loop]
generations = 2
games = 6
window = 2
passes = 0.5
gate_games = 4
gate_share = 0.5
"""


@pytest.fixture
def recipe(tmp_path):
    (tmp_path / "tiny.toml").write_text(RECIPE)
    return read_recipe(str(tmp_path / "tiny.toml"))


def open_net(path):
    net = load_net(path)
    settings = NetSettings(device="cpu", runtime="torch", precision="float32", threads=1, max_batch=16)
    return make_evaluator(net, settings), f"{net.description.name} {net.description.sha256}"


def without_times(lines):
    return [{key: value for key, value in line.items() if not key.endswith("seconds")} for line in lines]


def test_a_whole_loop_and_the_same_one_killed_at_every_stage(recipe, tmp_path, monkeypatch):
    whole = Loop(recipe, tmp_path / "whole", open_net)
    lines = list(whole.run())
    assert [line["generation"] for line in lines] == [0, 1] and lines == read_lines(whole.folder / "generations.jsonl")
    for i, line in enumerate(lines):
        assert line["player"] == (lines[i - 1]["best"] if i else 0)
        assert line["accepted"] == (line["gate"]["share"] >= 0.5)
        assert line["best"] == (i + 1 if line["accepted"] else line["player"])
        assert line["games"] == 6 and line["positions"] == line["moves"] > 0
        assert line["training"]["steps"] == round(line["positions"] * 0.5 / 16)
    assert whole.net(2).exists()
    first = json.loads((whole.generation(1) / "manifest.jsonl").read_text().splitlines()[0])
    assert first["net"].startswith(f"{lines[0]['best']:04d} ")

    class Killed(BaseException):
        pass

    def dies(*_, **__):
        raise Killed

    folder = tmp_path / "killed"
    for target in (
        "engine.train.selfplay.loop.play",
        "engine.train.selfplay.learn.learn",
        "engine.train.run.Run.averaged",  # trained, but not a whole net yet
        "engine.train.selfplay.loop.play_match",
    ):
        with monkeypatch.context() as patch:
            patch.setattr(target, dies)
            with pytest.raises(Killed):
                list(Loop(recipe, folder, open_net).run())
    again = Loop(recipe, folder, open_net)
    assert not again.lines
    next(again.run())
    with (folder / "generations.jsonl").open("a") as file:
        file.write('{"generation": 1, "pla')
    again = Loop(recipe, folder, open_net)
    list(again.run())
    assert without_times(again.lines) == without_times(lines)
    assert again.net(2).read_bytes() == whole.net(2).read_bytes()
    assert list(Loop(recipe, folder, open_net).run()) == []


@pytest.mark.parametrize("text", ["x\n", "[]\n", "{}\n", '{"best": "x"}\n', "\xff\n"])
def test_damaged_generations_are_one_error(recipe, tmp_path, text):
    Loop(recipe, tmp_path, open_net)
    (tmp_path / "generations.jsonl").write_bytes(text.encode("latin-1"))
    with pytest.raises(SelfplayError, match=r"generations\.jsonl"):
        Loop(recipe, tmp_path, open_net)
    (tmp_path / "matches.jsonl").write_text("x\n")
    with pytest.raises(SelfplayError, match=r"matches\.jsonl"):
        read_lines(tmp_path / "matches.jsonl")


def test_a_folder_of_another_recipe_is_refused_but_more_generations_are_not(recipe, tmp_path):
    Loop(recipe, tmp_path / "run", open_net)
    more = dataclasses.replace(recipe, loop={**recipe.loop, "generations": 5})
    assert Loop(more, tmp_path / "run", open_net).loop.generations == 5
    other = dataclasses.replace(recipe, selfplay={**recipe.selfplay, "visits": 7})
    with pytest.raises(SelfplayError, match="another recipe"):
        Loop(other, tmp_path / "run", open_net)
    for section, wrong in (("selfplay", {"visits": 1}), ("selfplay", {"visit": 9}), ("loop", {"games": 0})):
        with pytest.raises(ConfigError):
            bad = dataclasses.replace(recipe, **{section: {**getattr(recipe, section), **wrong}})
            Loop(bad, tmp_path / "new", open_net)


def test_ratings_and_the_plot_of_a_loop(recipe, tmp_path):
    quick = dataclasses.replace(recipe, selfplay={**recipe.selfplay, "visits": 2, "leaves": 1, "most_moves": 0.6})
    loop = Loop(quick, tmp_path / "run", open_net)
    list(loop.run())
    loop.lines[0] |= {"accepted": True, "best": 1}
    loop.lines[1] |= {"accepted": True, "best": 2}
    played = list(rate(loop, 4))
    assert [(line["net"], line["against"]) for line in played] == [(1, 0), (2, 0), (2, 1)]
    assert all(line["won"] + line["drawn"] + line["lost"] == 4 for line in played)
    assert list(rate(loop, 4)) == [] and read_lines(loop.folder / "ratings.jsonl") == played
    plot(loop, tmp_path / "strength.png")
    assert (tmp_path / "strength.png").read_bytes().startswith(b"\x89PNG")


def test_ratings_are_what_the_results_say():
    lines = [
        {"net": 1, "against": 0, "won": 300, "drawn": 0, "lost": 100},
        {"net": 2, "against": 1, "won": 0, "drawn": 400, "lost": 0},
        {"net": 3, "against": 0, "won": 40, "drawn": 0, "lost": 0},
    ]
    found = ratings(lines)
    assert found[0] == (0.0, 0.0)
    assert found[1][0] == pytest.approx(400 * math.log10(3), abs=5)  # 75 % of the points
    assert found[2][0] == pytest.approx(found[1][0], abs=5)
    assert 300 < found[3][0] < 1500 and found[3][1] > 3 * found[1][1]
    assert 10 < found[1][1] < 30  # 400 games: about 20 Elo


def test_which_nets_are_rated_against_which():
    lines = [{"accepted": n in (0, 2, 3, 5), "best": n + 1} for n in range(6)]
    assert best_nets(lines) == [0, 1, 3, 4, 6]
    assert pairs_of([0, 1, 3, 4, 6]) == [(1, 0), (3, 0), (3, 1), (4, 0), (4, 3), (6, 0), (6, 4), (6, 1)]


PLAN = SelfplayPlan(sizes=(5,), visits=8, leaves=2, games_at_once=6, komi=24.5)


def test_a_match_gives_each_side_both_colors_and_counts_for_the_first():
    seen = []

    class Spy(HashEvaluator):
        def evaluate(self, *args, **kwargs):
            seen.append(len(args[0]))
            return super().evaluate(*args, **kwargs)

    a, b = Spy(max_batch=8, seed=1), HashEvaluator(max_batch=8, seed=2)
    score = play_match((a, b), PLAN, 12)
    assert score.games == 12 and max(seen) <= 8
    again = play_match((b, a), PLAN, 12)
    assert again.games == 12
    same = play_match((HashEvaluator(max_batch=8, seed=1), HashEvaluator(max_batch=8, seed=2)), PLAN, 12)
    assert same == score
    twin = HashEvaluator(max_batch=8, seed=1)
    itself = play_match((a, twin), dataclasses.replace(PLAN, temperature=0.0), 12)
    assert itself.share == 0.5  # the same games twice, colors exchanged


def test_a_match_ends_when_it_is_settled():
    assert settled(Score(won=3), 4, 0.75) and settled(Score(lost=2), 4, 0.75)
    assert not settled(Score(won=2, lost=1), 4, 0.75) and not settled(Score(lost=4), 8, None)
    assert settled(Score(drawn=4), 4, 0.5)
    strong = UniformEvaluator(max_batch=8)
    score = play_match((strong, strong), PLAN, 40, need=0.0)
    assert score.games == 0


def test_wilson_interval():
    low, high = Score(won=39, lost=1).interval()
    assert (round(low, 3), round(high, 3)) == (0.871, 0.996)


# ---------------------------------------------------------------------------------------------------- the kind of net


class Outputs:
    def __init__(self, policy, value):
        self.policy, self.value = torch.tensor(policy)[:, None], torch.tensor(value)[:, None]


def test_the_loss_is_the_paper_s():
    rng = np.random.default_rng(0)
    logits, raw = rng.normal(size=(3, 26)), rng.normal(size=3)
    pi = rng.dirichlet(np.ones(26), size=3)
    pi[0] = np.eye(26)[4]
    z = np.array([1.0, 0.0, -1.0])
    expected_policy = -np.mean([(pi[i] * (logits[i] - np.log(np.exp(logits[i]).sum()))).sum() for i in range(3)])
    expected_value = np.mean((z - np.tanh(raw)) ** 2)
    kind = AlphaGoZero({}, {"value": 0.5})
    batch = Batch(
        torch.zeros(3, 17, 5, 5), torch.zeros(3, 0), {"search_policy": torch.tensor(pi), "z": torch.tensor(z)}
    )
    terms = kind.losses(Outputs(logits, raw), batch)
    assert float(terms["policy"]) == pytest.approx(expected_policy, rel=1e-5)
    assert float(terms["value"]) == pytest.approx(expected_value, rel=1e-5)
    assert float(terms["total"]) == pytest.approx(expected_policy + 0.5 * expected_value, rel=1e-5)
    figures = kind.summarise(kind.measures(Outputs(logits, raw), batch))
    assert figures["top1_search"] == pytest.approx(np.mean(logits.argmax(1) == pi.argmax(1)), abs=1e-3)
    assert figures["winner"] == pytest.approx(((raw[0] > 0) + (raw[2] < 0)) / 2)


def test_the_recipes_that_come_with_the_package_are_whole(tmp_path):
    for name in ("alphagozero", "zero7"):
        loop = Loop(read_recipe(name), tmp_path / name, open_net)
        assert loop.encoding == "alphagozero-17"
    spec = read_recipe("alphagozero").net
    assert (spec["blocks"], spec["channels"]) == (19, 256)
    with pytest.raises(ConfigError):
        AlphaGoZero({"width": 3}, {})


class FondOfPassing(HashEvaluator):
    """Gives the pass most of the policy, so that searches late in a game see little but ends of the game."""

    def evaluate(self, *args, **kwargs):
        evaluation = super().evaluate(*args, **kwargs)
        evaluation.policy_logits[:, -1] += 5.0
        return evaluation


def test_a_search_that_needs_no_evaluation_ends_like_any_other():
    def found_at_once():
        return "found"
        yield 1

    def game():
        assert (yield from as_player(1, found_at_once())) == "found"
        yield "went on"

    assert next(game()) == "went on"
    plan = dataclasses.replace(PLAN, visits=4, leaves=1, temperature=2.0, temperature_moves=1000)
    score = play_match((FondOfPassing(max_batch=8, seed=1), FondOfPassing(max_batch=8, seed=2)), plan, 60)
    assert score.games == 60
