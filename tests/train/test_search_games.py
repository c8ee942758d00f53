"""Self-play with search: the visits, the result, the noise, and when to give up."""

import dataclasses
import json

import numpy as np
import pytest

from engine.board.position import BLACK, WHITE, Position
from engine.board.scoring import score
from engine.evaluator_fakes import HashEvaluator, UniformEvaluator
from engine.search.root import Limits, RootOptions
from engine.search.searcher import Searcher
from engine.train.dataset import make_batch
from engine.train.selfplay import search_game as module
from engine.train.selfplay.game import PlayedGame, Turn
from engine.train.selfplay.plan import GamePlan, SelfplayPlan, draw_game
from engine.train.selfplay.positions import records_of
from engine.train.selfplay.resign import HIGHEST, LEAST_RESIGNATIONS, judge, learn_threshold, lows_of
from engine.train.selfplay.run import known_threshold, play, play_numbers
from engine.train.selfplay.search_game import search_params
from engine.train.selfplay.store import GameStore
from engine.train.shards import ShardFolder, make_header

PLAN = SelfplayPlan(sizes=(5,), visits=12, leaves=2, games_at_once=4, part_games=4)


def games_of(plan=PLAN, count=4, threshold=None, evaluator=None):
    found = play_numbers(evaluator or HashEvaluator(max_batch=16), plan, range(count), threshold)
    return sorted(found, key=lambda game: game.plan.number)


def test_pi_is_the_visits_and_sums_to_one(monkeypatch):
    seen = []

    def spy(result):
        seen.append(result)
        return original(result)

    original = module.best_value
    monkeypatch.setattr(module, "best_value", spy)
    game = games_of(count=1)[0]
    assert len(seen) == len(game.turns)
    for turn, result in zip(game.turns, seen, strict=True):
        visits = np.zeros(26)
        for move in result.moves:
            visits[move.action] = move.edge_visits
        assert turn.policy.sum() == pytest.approx(1.0, abs=1e-6)
        np.testing.assert_allclose(turn.policy, visits / visits.sum(), atol=1e-6)
        assert visits.sum() == result.visits - 1 >= 11
        assert turn.policy[turn.action] > 0


def test_games_are_the_same_for_a_seed_however_many_run_at_once():
    one = games_of(count=5)
    assert [g.turns for g in one[:2]] != [g.turns for g in one[1:3]]
    for slots in (1, 3):
        again = games_of(dataclasses.replace(PLAN, games_at_once=slots), count=5)
        for a, b in zip(one, again, strict=True):
            assert [t.action for t in a.turns] == [t.action for t in b.turns]
            assert all((s.policy == t.policy).all() for s, t in zip(a.turns, b.turns, strict=True))
    other = games_of(dataclasses.replace(PLAN, seed=9))
    assert [t.action for t in other[0].turns] != [t.action for t in one[0].turns]


def test_noise_is_at_the_roots_of_self_play_alone():
    """With the same tree below, only the root's priors differ from a search without noise."""
    params = search_params(PLAN)
    position = Position(5, rules="tromp-taylor", komi=24.0)
    priors = {}
    for noise in (False, True):
        searcher = Searcher(HashEvaluator(max_batch=16), params, seed=3)
        searcher.set_position(position)
        result = searcher.search(Limits(visits=400), root=RootOptions(noise=noise))
        priors[noise] = {move.action: move.prior for move in result.moves}, result.raw.policy
        best = result.most_visited
        position_below = position.copy()
        position_below.play(best)
        searcher.set_position(position_below)  # the tree is kept; the next root is searched without noise
        below = searcher.search(Limits(visits=401))
        for move in below.moves:
            assert move.prior == pytest.approx(float(below.raw.policy[move.action]), abs=2e-3)
    (plain, raw), (noisy, raw_too) = priors[False], priors[True]
    np.testing.assert_array_equal(raw, raw_too)
    assert all(plain[action] == pytest.approx(float(raw[action]), abs=2e-3) for action in plain)
    assert max(abs(noisy[action] - float(raw[action])) for action in noisy) > 0.02
    share = params.noise_fraction
    assert all(noisy[action] >= (1 - share) * float(raw[action]) - 2e-3 for action in noisy)


def test_z_has_the_sign_of_the_mover_s_result():
    header = make_header("alphagozero-17", ("search_policy", "z", "played", "result", "final_score"))
    for game in games_of(count=3):
        records = records_of(game, header)
        position = Position(5, rules="tromp-taylor", komi=game.plan.komi)
        colors = []
        for turn in game.turns:
            colors.append(position.to_play)
            position.play(turn.action)
        assert score(position) == game.margin
        signs = [0 if game.margin == 0 else 1 if (game.margin > 0) == (color == BLACK) else -1 for color in colors]
        assert records["z"].tolist() == signs and records["result"].tolist() == signs
        expected = [game.margin if color == BLACK else -game.margin for color in colors]
        assert records["final_score"].tolist() == expected


def test_positions_are_the_play_code_s_and_turn_with_their_policy(tmp_path):
    from engine.board.planes import encode_position

    play(HashEvaluator("alphagozero-17", max_batch=16), PLAN, 4, GameStore(tmp_path, PLAN, "hash"))
    folder = ShardFolder(tmp_path / "shards")
    assert len(folder.entries) == 1
    records = folder.open(folder.entries[0]["name"])
    batch = make_batch(records, folder.header, 5)
    games = games_of(evaluator=HashEvaluator("alphagozero-17", max_batch=16))
    row = 0
    for game in games:
        position = Position(5, rules="tromp-taylor", komi=game.plan.komi)
        for turn in game.turns:
            spatial, _ = encode_position(position, "alphagozero-17")
            np.testing.assert_array_equal(batch.spatial[row].numpy(), spatial)
            pi = batch.targets["search_policy"][row].numpy()
            np.testing.assert_allclose(pi, turn.policy, rtol=0.05, atol=1e-6)
            assert ((pi > 0) <= (position.legal_mask() > 0)).all()
            position.play(turn.action)
            row += 1
    assert row == len(records) == json.loads((tmp_path / "manifest.jsonl").read_text().splitlines()[1])["positions"]


@pytest.mark.parametrize("after", ["shards", "table"])
def test_a_run_killed_between_its_writes_comes_out_the_same(tmp_path, monkeypatch, after):
    def run(path):
        play(HashEvaluator("alphagozero-17", max_batch=16), PLAN, 8, GameStore(path, PLAN, "hash"))
        names = sorted(p.relative_to(path) for p in path.rglob("*") if p.is_file() and p.name != "manifest.jsonl")
        return {name: (path / name).read_bytes() for name in names}

    whole = run(tmp_path / "whole")

    class Killed(BaseException):
        pass

    write, calls = GameStore.write, []

    def dying(self, games, note):
        calls.append(1)
        if len(calls) == 2:
            if after == "table":
                with (self.path / "games.tsv").open("a") as table:
                    table.write("half a ga")
                with (self.path / "shards" / "manifest.jsonl").open("a") as manifest:
                    manifest.write('{"name": "5x5-2')
            raise Killed
        return write(self, games, note)

    monkeypatch.setattr(GameStore, "write", dying)
    with pytest.raises(Killed):
        run(tmp_path / "killed")
    monkeypatch.setattr(GameStore, "write", write)
    assert run(tmp_path / "killed") == whole
    entries = (tmp_path / "killed" / "shards" / "manifest.jsonl").read_text().splitlines()
    assert len(entries) == 3 and all(json.loads(line) for line in entries)


def test_games_to_look_at_are_sgf_with_what_was_known_at_each_move(tmp_path):
    from engine.sgf import read

    store = GameStore(tmp_path, PLAN, "hash 0")
    play(HashEvaluator("alphagozero-17", max_batch=16), PLAN, 8, store, sgf=1)
    assert sorted(path.name for path in (tmp_path / "sgf").iterdir()) == ["000000.sgf", "000004.sgf"]
    record = read(tmp_path / "sgf" / "000000.sgf")
    game = games_of(evaluator=HashEvaluator("alphagozero-17", max_batch=16))[0]
    assert record.moves == tuple((turn.color, turn.action) for turn in game.turns)
    assert (record.komi, record.result, record.black) == (24.0, game.result, "hash")
    text = record.comments[1]
    assert text.startswith(f"value {game.turns[0].value:+.2f}, visits ") and text.endswith("%")


# ---------------------------------------------------------------------------------------------------- resignation


def finished(values, winner, to_the_end=True):
    """A game whose movers thought so of their chances; Black begins."""
    plan = GamePlan(0, 5, "tromp-taylor", 24.0, 0, 50, to_the_end, 1)
    turns = [Turn(BLACK if i % 2 == 0 else WHITE, 25, None, value) for i, value in enumerate(values)]
    return PlayedGame(plan, turns, winner, 1.0 if winner == BLACK else -1.0 if winner else 0.0)


def test_lows_are_the_winner_s_and_the_loser_s():
    assert lows_of(finished([0.5, -0.2, 0.7, -0.9], BLACK)) == (0.5, -0.9)
    assert lows_of(finished([0.5, -0.2, -0.3, -0.9], WHITE)) == (-0.9, -0.3)
    assert lows_of(finished([0.5, -0.2, 0.7, -0.9], 0)) == (-0.9, 1.0)


def test_the_threshold_is_the_highest_that_is_rarely_wrong():
    rng = np.random.default_rng(0)
    lows = [(float(rng.uniform(-0.97, -0.5)), float(rng.uniform(-1.0, -0.9))) for _ in range(400)]
    threshold = learn_threshold(lows, 0.05)
    resigned, wrong = judge(lows, threshold)
    assert wrong <= 0.05 * resigned and resigned > 100
    higher = min(kept for kept, _ in lows if kept > threshold)
    assert threshold < higher < HIGHEST
    resigned, wrong = judge(lows, higher)
    assert wrong > 0.05 * resigned
    for share in (0.0, 0.2):
        resigned, wrong = judge(lows, learn_threshold(lows, share))
        assert wrong <= share * resigned
    assert learn_threshold([(0.5, -0.99)] * 100, 0.05) == HIGHEST
    assert learn_threshold([(0.5, -0.99)] * (LEAST_RESIGNATIONS - 1), 0.05) is None
    assert learn_threshold([(-0.99, -0.99)] * 100, 0.05) is None  # every resignation would be wrong
    assert learn_threshold([(-0.99, -0.99)] * 400 + [(0.5, -0.99)] * 500, 0.05) == HIGHEST  # the old ones are forgotten


def test_a_side_resigns_below_the_threshold_unless_the_game_is_played_to_its_end():
    pessimist = UniformEvaluator(max_batch=16, value=-0.9)  # whoever is to move thinks the game lost, both in turn
    plan = dataclasses.replace(PLAN, visits=2, leaves=1, playout_share=0.5)
    games = list(play_numbers(pessimist, plan, range(16), 0.95))
    to_the_end = [draw_game(plan, number).to_the_end for number in range(16)]
    assert 3 < sum(to_the_end) < 13
    for game in games:
        if game.plan.to_the_end:
            assert game.margin is not None and game.turns
        else:
            assert game.margin is None and not game.turns and game.winner == WHITE and game.result == "W+R"


def test_wrong_resignations_stay_rare_in_a_whole_run(tmp_path):
    """Values that are right nine times in ten: the learned threshold must stay below the wrong ones."""
    plan = dataclasses.replace(PLAN, playout_share=0.5, part_games=16, visits=3, games_at_once=16)
    play(HashEvaluator(max_batch=64), plan, 64, GameStore(tmp_path, plan, "hash"))
    parts = [json.loads(line) for line in (tmp_path / "manifest.jsonl").read_text().splitlines()[1:]]
    assert parts[0]["resign"]["threshold"] is None and len(parts[0]["resign"]["lows"]) == 16
    for i, part in enumerate(parts):
        assert part["resign"]["threshold"] == known_threshold(plan, parts[:i])
        lows = [tuple(pair) for earlier in parts[:i] for pair in earlier["resign"]["lows"]]
        if part["resign"]["threshold"] is not None:
            resigned, wrong = judge(lows, part["resign"]["threshold"])
            assert wrong <= 0.05 * resigned
        else:
            assert part["resigned"] == 0
