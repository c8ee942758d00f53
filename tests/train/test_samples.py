"""The stream of samples: reproducible, varied as the plan says, and never a game that is kept for evaluation."""

import dataclasses
import lzma
from collections import Counter
from importlib import resources

import pytest

from engine.train.recipe import read_recipe
from engine.train.records import Game, read_any
from engine.train.samples import Sample, SamplePlan, SourcePlan, draw, draw_source, replay
from engine.train.selection import Selection, held_out, opening_key
from engine.train.shards import game_number


@pytest.fixture
def collection(tmp_path):
    rows = ["size\tkomi\trules\tresult\tdate\tsetup_black\tsetup_white\tfirst\tmoves"]
    for number in range(300):
        row = number % 8
        moves = "".join(chr(97 + (i * 7 + number) % 9) + chr(97 + (i + row) % 9) for i in range(9))
        moves += chr(97 + number // 81) + "i" + chr(97 + number // 9 % 9) + "h"
        rows.append(f"9\t7\tChinese\tB+R\t\t\t\tB\t{moves}zz")
    with lzma.open(tmp_path / "c.tsv.xz", "wt") as file:
        file.write("\n".join(rows) + "\n")
    return tmp_path


PLAN = SamplePlan((SourcePlan("c.tsv.xz", 200, 3),), seed=5)


def test_the_stream_is_a_function_of_the_plan(collection):
    assert list(draw(PLAN, collection)) == list(draw(PLAN, collection))
    assert list(draw(PLAN, collection)) != list(draw(dataclasses.replace(PLAN, seed=6), collection))


def test_the_plan_is_kept(collection):
    plan = dataclasses.replace(PLAN, astray_share=0.5, pass_share=0.2, rules={"chinese": 0.5, "japanese": 0.5})
    samples = list(draw(plan, collection))
    assert 100 < len(samples) <= 200
    assert max(Counter(sample.game.moves for sample in samples).values()) <= 3
    assert 0.3 < sum(sample.astray > 0 for sample in samples) / len(samples) < 0.7
    assert 0.05 < sum(sample.passed for sample in samples) / len(samples) < 0.4
    assert {sample.rules for sample in samples} == {"chinese", "japanese"}
    assert all(sample.komi * 2 == int(sample.komi * 2) for sample in samples)
    for sample in samples:
        assert (sample.played == -1) == bool(sample.astray or sample.passed or sample.ply == sample.game.n_moves)


def test_no_held_out_game_is_drawn_from_a_made_up_collection(collection):
    games = list(read_any(collection / "c.tsv.xz"))
    kept = {game.moves for game in games if held_out(game)}
    plan = dataclasses.replace(PLAN, sources=(SourcePlan("c.tsv.xz", 100_000, 20),))
    drawn = {sample.game.moves for sample in draw(plan, collection)}
    assert len(kept) > 10 and len(drawn) > 100
    assert not kept & drawn


def test_going_astray_keeps_to_the_rules_and_the_seed():
    game = Game(9, "eedddeedccgg", komi=7.0)
    plain = replay(Sample(game, 4, 0, False, "chinese", 7.0, 9))
    astray = replay(Sample(game, 4, 3, True, "chinese", 7.0, 9))
    assert plain.n_moves == 4 and astray.n_moves == 8
    assert astray.moves[-1] == (2, 81) and astray.to_play == 1
    assert astray.moves == replay(Sample(game, 4, 3, True, "chinese", 7.0, 9)).moves
    assert astray.moves != replay(Sample(game, 4, 3, True, "chinese", 7.0, 10)).moves


def test_handicap_games_are_set_up():
    game = Game(19, "qdnc", first=2, setup_black="ddpp")
    position = replay(Sample(game, 1, 0, False, "chinese", 0.5, 0))
    assert position.handicap == 2 and position.to_play == 1 and position.moves == [(2, 3 * 19 + 16)]


def judged_moves(shared_dir):
    """Moves of the judged games that are kept for evaluation, by their own tables."""
    kept = set()
    for path in sorted((shared_dir / "data" / "judged").glob("*.tsv.xz")):
        kept |= {game_number(game.moves) for game in read_any(path) if held_out(game)}
    return kept


@pytest.mark.parametrize("name", ["go9x9", "kgs_6d_a", pytest.param("kgs_6d_b", marks=pytest.mark.slow)])
def test_no_held_out_judged_game_is_drawn_from_the_real_collections(shared_dir, name):
    kept = judged_moves(shared_dir)
    assert 900 < len(kept) < 1200
    path = f"games/{name}.tsv.xz"
    twins = {game_number(game.moves) for game in read_any(shared_dir / "data" / path)} & kept
    assert len(twins) > 90  # they are there to be drawn
    plan = read_recipe("first").samples
    source = SourcePlan(path, 10**6, 1)
    drawn = draw_source(plan, source, shared_dir / "data", Selection())
    assert len(drawn) > 8000
    assert not {game_number(sample.game.moves) for sample in drawn} & kept


def test_the_recipe_keeps_the_alphago_games_out(shared_dir):
    plan = read_recipe("first").samples
    root = shared_dir / "data"
    selection = Selection.excluding(root / path for path in plan.exclude)
    assert len(selection.excluded) == 50
    assert list(selection.select(read_any(root / "alphago50"))) == []


def shipped_recipes():
    """Names of the recipes that come with the package and have sources of their own."""
    folder = resources.files("engine.train") / "recipes"
    names = sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))
    return [name for name in names if read_recipe(name).samples.sources]


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped_recipes())
def test_no_recipe_draws_a_held_out_or_an_alphago_game(shared_dir, name):
    """The whole stream of every recipe that ships, from the real collections."""
    root, plan = shared_dir / "data", read_recipe(name).samples
    if not all((root / source.path).exists() for source in plan.sources):
        pytest.skip(f"recipe {name} draws from games that are not here")
    drawn = {game.moves: game for game in (sample.game for sample in draw(plan, root))}
    assert len(drawn) > 1000
    assert not any(held_out(game) for game in drawn.values())
    assert not {game_number(moves) for moves in drawn} & judged_moves(shared_dir)
    alphago = {opening_key(game) for game in read_any(root / "alphago50")}
    assert len(alphago) == 50 and not alphago & {opening_key(game) for game in drawn.values()}
