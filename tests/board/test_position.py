"""`Position` as Python sees it: sizes, komi, rules, undo, copies, keys, and errors that leave it as it was."""

import copy

import numpy as np
import pytest

from engine.board.position import BLACK, EMPTY, WHITE, Position
from engine.board.rules import NAMED, Rules
from engine.board.selfcheck import count_legal_positions, fault_of, past_board
from engine.errors import ConfigError, EngineError, IllegalMove, UnsupportedBoardSize


@pytest.mark.parametrize(("width", "height"), [(2, 2), (25, 25), (2, 25), (25, 2), (9, 13), (19, 19)])
def test_sizes_from_2_to_25(width, height):
    position = Position(width, height)
    assert (position.width, position.height, position.area) == (width, height, width * height)
    assert position.board().shape == (height, width)
    assert position.legal_mask().tolist() == [1] * (width * height + 1)
    for action in range(0, width * height - 1, 3):
        position.play(action, BLACK)
    assert fault_of(position) is None
    assert position.liberties(width * height - 1) == []


@pytest.mark.parametrize(
    "size", [(1,), (26,), (0,), (-3,), (1, 9), (9, 1), (19, 26), (26, 19), (10**6, 10**6), (10**12,), (9, -(10**12))]
)
def test_other_sizes_are_refused(size):
    with pytest.raises(UnsupportedBoardSize):
        Position(*size)


def test_defaults():
    assert Position().width == 19
    assert Position().komi == 7.5
    assert Position(9).komi == 7.0
    assert Position(9, 13).komi == 7.5
    assert Position().rules == NAMED["chinese-ogs"]
    assert Position().to_play == BLACK
    assert (BLACK, WHITE, EMPTY) == (1, 2, 0)


def test_rules_by_object_name_or_json():
    assert Position(rules=Rules(ko="SIMPLE")).rules == Rules(ko="SIMPLE")
    assert Position(rules="New Zealand").rules == NAMED["new-zealand"]
    assert Position(rules='{"ko": "SIMPLE"}').rules.ko == "SIMPLE"
    with pytest.raises(ConfigError):
        Position(rules="nihon")


@pytest.mark.parametrize("komi", [-3.5, 0, 0.5, 150.0, 7.25])
def test_any_komi(komi):
    position = Position(5, komi=komi)
    assert position.komi == komi
    position.set_komi(-komi)
    assert position.komi == -komi


@pytest.mark.parametrize("komi", [float("nan"), float("inf"), -float("inf"), 1e9])
def test_komi_must_be_a_number(komi):
    position = Position(5, komi=6.7)
    with pytest.raises(ConfigError):
        position.set_komi(komi)
    with pytest.raises(ConfigError):
        Position(5, komi=komi)
    assert position.komi == 6.7


def test_actions_run_from_the_top_left():
    position = Position(3, 2)
    position.play(1)
    assert position.board().tolist() == [[0, 1, 0], [0, 0, 0]]
    assert position.color_at(1) == BLACK
    assert position.liberties(1) == [0, 2, 4]


def test_board_and_mask_are_copies():
    position = Position(3)
    position.board()[:] = 2
    position.legal_mask()[:] = 0
    position.moves.append((1, 1))
    assert position.board().sum() == 0
    assert position.is_legal(0)
    assert position.n_moves == 0
    assert position.board().dtype == position.legal_mask().dtype == np.uint8


@pytest.mark.parametrize(("action", "reason"), [(81, None), (82, "off board"), (-1, "off board"), (10, "occupied")])
def test_play_refuses_what_is_no_point(action, reason):
    position = Position(9)
    position.play(10)
    if reason is None:
        position.play(action)
        return
    with pytest.raises(IllegalMove) as refusal:
        position.play(action)
    assert refusal.value.reason == reason
    assert position.moves == [(BLACK, 10)]
    assert not position.is_legal(action)


@pytest.mark.parametrize("color", [0, 3, -1, "b"])
def test_colors_are_1_and_2(color):
    position = Position(9)
    with pytest.raises(ValueError):
        position.play(0, color)
    with pytest.raises(ValueError):
        position.to_play = color
    assert position.n_moves == 0


def test_colors_in_any_order_and_to_play():
    position = Position(9)
    for color in (BLACK, BLACK, WHITE, WHITE, WHITE, BLACK):
        position.play(position.n_moves, color)
        assert position.to_play == 3 - color
    position.to_play = BLACK
    position.play(50)
    assert position.moves[-1] == (BLACK, 50)


def state_of(position):
    return (
        position.board().tolist(), position.hash, position.moves, position.setup_stones, position.to_play,
        position.ko_action, position.ended, position.handicap, position.prisoners(BLACK), position.prisoners(WHITE),
        position.legal_mask(BLACK).tolist(), position.legal_mask(WHITE).tolist(), position.rules, position.komi,
        position.situation_key(),
        [past_board(position, plies) for plies in range(8)],
    )


def a_game(position, seed, n_moves):
    rng = np.random.default_rng(seed)
    for _ in range(n_moves):
        legal = np.flatnonzero(position.legal_mask())
        position.play(int(rng.choice(legal)))


@pytest.mark.parametrize("rules", ["tromp-taylor", "aga-button", "japanese"])
def test_undo_goes_back_through_a_whole_game(rules):
    position = Position(4, rules=rules)
    position.set_up([(BLACK, 0), (WHITE, 9)], WHITE)
    states = [state_of(position)]
    for number in range(60):
        a_game(position, number, 1)
        states.append(state_of(position))
    for state in reversed(states[:-1]):
        position.undo()
        assert state_of(position) == state
    with pytest.raises(EngineError, match="cannot undo"):
        position.undo()
    assert state_of(position) == states[0]


def test_undo_is_cheap_enough_to_walk_back_a_long_game():
    position = Position(19)
    a_game(position, 1, 400)
    while position.n_moves:
        position.undo()
    assert position.hash == 0


@pytest.mark.parametrize("copier", [Position.copy, copy.copy, copy.deepcopy])
def test_a_copy_lives_on_its_own(copier):
    position = Position(5, 4, rules="aga", komi=3)
    position.set_up([(BLACK, 2)])
    a_game(position, 7, 30)
    before = state_of(position)
    other = copier(position)
    assert state_of(other) == before
    a_game(other, 8, 20)
    assert state_of(position) == before
    for _ in range(20):
        other.undo()
    assert state_of(other) == before


def test_history_keeps_eight_boards():
    position = Position(3)
    boards = [position.board().ravel().tolist()]
    for action in (0, 1, 4, 9, 3, 2, 9, 5, 6, 8, 9):
        position.play(action)
        boards.append(position.board().ravel().tolist())
    assert [past_board(position, plies) for plies in range(8)] == boards[::-1][:8]
    assert past_board(position, 8) is None


def test_set_rules_keeps_the_game_and_looks_back():
    # A ko taken back after two passes: only superko forbids it.
    position = Position(4, rules="chinese")
    position.set_up([(1, 1), (2, 2), (1, 4), (1, 6), (2, 7), (1, 9), (2, 10)], WHITE)
    position.play(5)
    position.play(16)
    position.play(16)
    assert position.is_legal(6, BLACK)
    position.set_rules("tromp-taylor")
    assert position.breaks_superko(6, BLACK)
    assert position.n_moves == 3
    position.set_rules(Rules(ko="SIMPLE"))
    assert position.is_legal(6, BLACK)
    with pytest.raises(ConfigError):
        position.set_rules("nonsense")
    assert position.rules == Rules(ko="SIMPLE")


def test_clear_and_set_up_start_anew():
    position = Position(5, rules="aga", komi=2.5)
    a_game(position, 3, 20)
    position.set_up([(WHITE, 3), (BLACK, 4)], WHITE)
    assert position.setup_stones == [(WHITE, 3), (BLACK, 4)]
    assert (position.n_moves, position.to_play, position.prisoners(BLACK)) == (0, WHITE, 0)
    position.clear()
    fresh = Position(5, rules="aga", komi=2.5)
    assert state_of(position) == state_of(fresh)


def test_situation_key_tells_apart_what_plays_differently():
    keys = set()
    position = Position(4, rules="chinese")
    position.set_up([(1, 1), (2, 2), (1, 4), (1, 6), (2, 7), (1, 9), (2, 10)], WHITE)
    keys.add(position.situation_key(BLACK))
    keys.add(position.situation_key(WHITE))
    position.play(5)  # takes the ko at 6
    with_ko = position.situation_key(BLACK)
    keys |= {with_ko, position.situation_key(WHITE)}
    position.play(16)
    keys.add(position.situation_key(WHITE))
    position.play(16)
    assert position.ended
    keys |= {position.situation_key(WHITE), position.situation_key(BLACK)}
    same_stones = Position(4, rules="chinese")
    same_stones.set_up([(c, a) for a, c in enumerate(position.board().ravel().tolist()) if c])
    keys.add(same_stones.situation_key(BLACK))
    assert same_stones.hash == position.hash
    assert len(keys) == 8
    assert with_ko == position_after_ko().situation_key(BLACK)


def position_after_ko():
    position = Position(4, rules="chinese")
    position.set_up([(1, 1), (2, 2), (1, 4), (1, 6), (2, 7), (1, 9), (2, 10)], BLACK)
    position.play(15, BLACK)
    position.undo()
    position.play(5, WHITE)
    return position


@pytest.mark.parametrize(
    ("width", "height", "count"), [(2, 2, 57), (3, 2, 489), (2, 3, 489), (4, 2, 4125), (5, 2, 35117), (3, 3, 12675)]
)
def test_the_number_of_legal_positions(width, height, count):
    """Source: Tromp and Farnebäck, "Combinatorics of Go", 2007."""
    assert count_legal_positions(width, height) == count


@pytest.mark.parametrize(("side", "count"), [(2, 57), (3, 12675)])
def test_set_up_takes_exactly_the_legal_positions(side, count):
    position = Position(side)
    accepted = 0
    for code in range(3 ** (side * side)):
        cells = [code // 3**action % 3 for action in range(side * side)]
        try:
            position.set_up([(color, action) for action, color in enumerate(cells) if color])
        except IllegalMove:
            continue
        accepted += 1
        assert position.board().ravel().tolist() == cells
    assert accepted == count


@pytest.mark.slow
def test_the_number_of_legal_positions_on_4x4():
    assert count_legal_positions(4, 4) == 24_318_165
