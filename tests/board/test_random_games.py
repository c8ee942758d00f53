"""Random games played side by side on the board, on `sgfmill.boards` and on the flood-fill oracle.

Every move: captures, simple ko, the board, and that the answer on legality agrees. At a few moments of each game: the
whole legality mask of both colors, liberties and chains of all stones, hash from scratch, prisoners. The default run
plays 500 games; all 10 000 and 19x19 are marked slow.
"""

import random

import pytest
from go_oracle import Oracle
from sgfmill import boards

from engine.board.position import Position
from engine.board.rules import Rules
from engine.errors import IllegalMove

KINDS = [Rules(ko=ko, suicide=suicide) for ko in ("SIMPLE", "POSITIONAL", "SITUATIONAL") for suicide in (False, True)]
REASONS = {"occupied", "ko", "superko", "suicide"}
_keys: dict[tuple[int, int, int, int], int] = {}


def stone_key(width, height, color, action):
    """The hash of a board with this one stone."""
    name = (width, height, color, action)
    if name not in _keys:
        alone = Position(width, height)
        alone.set_up([(color, action)])
        _keys[name] = alone.hash
    return _keys[name]


def compare_all(position, oracle):
    width, height = position.width, position.height
    for color in (1, 2):
        assert position.legal_mask(color).tolist() == oracle.legal_mask(color)
    scratch = 0
    for action in range(position.area):
        color = oracle.cells[action]
        assert position.color_at(action) == color
        if color:
            stones, liberties = oracle.chain(action)
            assert position.chain(action) == sorted(stones)
            assert position.liberties(action) == sorted(liberties)
            scratch ^= stone_key(width, height, color, action)
        else:
            assert position.chain(action) == position.liberties(action) == []
    assert position.hash == scratch
    assert {c: position.prisoners(c) for c in (1, 2)} == oracle.prisoners
    assert position.to_play == oracle.to_play


def pick(rng, oracle, color):
    """Pick an action, often one that takes stones back, so that kos and cycles come up; sometimes nonsense."""
    dice = rng.random()
    if dice < 0.03:
        return rng.randrange(oracle.area + 1)
    if dice < 0.06:
        return oracle.area
    empty = [point for point in range(oracle.area) if oracle.cells[point] == 0] or [oracle.area]
    if dice < 0.5:
        tried = rng.sample(empty, min(6, len(empty)))
        return max(tried, key=lambda point: point < oracle.area and len(oracle.after(point, color)[1]) > 0)
    if oracle.banned and dice < 0.8:
        return oracle.banned[0]
    return rng.choice(empty)


def play_game(rng, width, height, rules, n_moves):
    """Play one game on all boards; return how often each reason for refusal came up."""
    position = Position(width, height, rules=rules)
    oracle = Oracle(width, height, ko=rules.ko, suicide=rules.suicide)
    mill = boards.Board(width) if width == height else None
    met = dict.fromkeys(REASONS, 0)
    looks = {rng.randrange(n_moves), n_moves - 1}
    for number in range(n_moves):
        color = position.to_play if rng.random() < 0.95 else 3 - position.to_play
        action = pick(rng, oracle, color)
        reason = oracle.why_illegal(action, color)
        if reason is not None:
            met[reason] += 1
            before = (position.hash, position.moves, position.ko_action)
            assert not position.is_legal(action, color)
            with pytest.raises(IllegalMove) as refusal:
                position.play(action, color)
            assert refusal.value.reason == reason
            assert (position.hash, position.moves, position.ko_action) == before
            continue
        assert position.is_legal(action, color)
        captured = position.play(action, color)
        assert captured == oracle.play(action, color)
        assert position.ko_action == (oracle.banned[0] if oracle.banned else None)
        if mill is not None and action != position.area:
            y, x = divmod(action, width)
            ko = mill.play(y, x, " bw"[color])
            assert position.ko_action == (None if ko is None else ko[0] * width + ko[1])
            assert [[" bw".index(cell or " ") for cell in row] for row in mill.board] == position.board().tolist()
        if number in looks:
            compare_all(position, oracle)
    return met


def a_size(rng):
    """Mostly 5x5 to 9x9; a quarter are rectangles, some small or large."""
    width = rng.choice([2, 3, 4, 5, 5, 6, 6, 7, 7, 8, 9, 9, 13] if rng.random() < 0.3 else [5, 6, 7, 8, 9])
    if rng.random() < 0.75:
        return width, width
    return width, rng.randint(2, 11)


def play_games(first_seed, count):
    met = dict.fromkeys(REASONS, 0)
    for seed in range(first_seed, first_seed + count):
        rng = random.Random(seed)
        width, height = a_size(rng)
        n_moves = 3 * width * height
        for reason, times in play_game(rng, width, height, KINDS[seed % len(KINDS)], n_moves).items():
            met[reason] += times
    return met


def test_random_games_agree_with_sgfmill_and_the_oracle():
    met = play_games(0, 500)
    assert min(met.values()) > 20, f"the games did not exercise everything: {met}"


@pytest.mark.slow
def test_all_random_games_agree_with_sgfmill_and_the_oracle():
    play_games(0, 10_000)


@pytest.mark.slow
def test_random_games_agree_on_19x19():
    for seed in range(40):
        rng = random.Random(10**6 + seed)
        play_game(rng, 19, 19, KINDS[seed % len(KINDS)], 700)


def test_crowded_small_boards_agree_at_every_move():
    """On 2x2 to 4x3 positions come back all the time: superko is looked at after every move."""
    superko = 0
    for seed in range(300):
        rng = random.Random(2 * 10**6 + seed)
        rules = KINDS[seed % len(KINDS)]
        position = Position(rng.randint(2, 4), rng.randint(2, 3), rules=rules)
        oracle = Oracle(position.width, position.height, ko=rules.ko, suicide=rules.suicide)
        for _ in range(150):
            color = position.to_play
            mask = oracle.legal_mask(color)
            assert position.legal_mask().tolist() == mask
            superko += sum(position.breaks_superko(action) for action in range(position.area))
            action = rng.choice([a for a in range(position.area) if mask[a]] or [position.area])
            assert position.play(action) == oracle.play(action, color)
            assert position.board().ravel().tolist() == oracle.cells
    assert superko > 2000
