"""Properties that hold for any game: recounts, undo, refusals that change nothing, symmetry."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.board.geometry import symmetry_tables
from engine.board.position import Position
from engine.board.rules import Rules
from engine.board.selfcheck import fault_of, past_board
from engine.errors import IllegalMove

rule_sets = st.builds(
    Rules, ko=st.sampled_from(["SIMPLE", "POSITIONAL", "SITUATIONAL"]), suicide=st.booleans(), has_button=st.booleans()
)
sizes = st.tuples(st.integers(2, 7), st.integers(2, 7))
squares = st.integers(2, 6).map(lambda side: (side, side))
# A move is a color (1, 2 or None for the side to move) and a number that picks an action.
moves = st.tuples(st.sampled_from([None, None, None, 1, 2]), st.integers(0, 2**16))
long_games = st.builds(
    lambda seed, n: [(None, number) for number in random.Random(seed).choices(range(2**16), k=n)],
    st.integers(0, 2**32), st.integers(50, 250),
)
games = st.lists(moves, max_size=60) | long_games


def state_of(position):
    return (
        position.board().tolist(), position.hash, position.moves, position.to_play, position.ko_action, position.ended,
        position.handicap, position.prisoners(1), position.prisoners(2), position.situation_key(),
        position.legal_mask(1).tolist(), position.legal_mask(2).tolist(), [past_board(position, i) for i in range(8)],
    )


def played(size, rules, game):
    """The position after a game, with the actions that were legal; illegal ones are left out."""
    position = Position(*size, rules=rules)
    for color, number in game:
        action = number % (position.area + 1)
        if position.is_legal(action, color):
            position.play(action, color)
    return position


@settings(deadline=None, max_examples=150)
@given(sizes, rule_sets, games)
def test_inner_state_agrees_with_a_recount(size, rules, game):
    assert fault_of(played(size, rules, game)) is None


@settings(deadline=None, max_examples=100)
@given(sizes, rule_sets, games)
def test_hash_is_that_of_the_stones_alone(size, rules, game):
    position = played(size, rules, game)
    cells = position.board().ravel().tolist()
    scratch = Position(*size, rules=rules)
    scratch.set_up([(color, action) for action, color in enumerate(cells) if color])
    assert scratch.hash == position.hash
    assert [scratch.liberties(a) for a in range(position.area)] == [position.liberties(a) for a in range(position.area)]


@settings(deadline=None, max_examples=100)
@given(sizes, rule_sets, games, st.integers(0, 2**16), st.sampled_from([1, 2]))
def test_undo_restores_everything(size, rules, game, number, color):
    position = played(size, rules, game)
    if position.n_moves:
        position.play(position.area)  # a side to play set by hand is not part of the record
        position.undo()
    before = state_of(position)
    action = number % (position.area + 1)
    if position.is_legal(action, color):
        position.play(action, color)
        position.undo()
    assert state_of(position) == before


@settings(deadline=None, max_examples=60)
@given(sizes, rule_sets, games)
def test_an_illegal_move_changes_nothing(size, rules, game):
    position = played(size, rules, game)
    before = state_of(position)
    for color in (1, 2):
        for action in [*range(position.area), -1, position.area + 1]:
            if not position.is_legal(action, color):
                try:
                    position.play(action, color)
                except IllegalMove:
                    continue
                raise AssertionError((action, color))
    assert state_of(position) == before


@settings(deadline=None, max_examples=60)
@given(squares | sizes, rule_sets, games, st.integers(0, 7))
def test_symmetries_commute_with_play(size, rules, game, symmetry):
    width, height = size
    tables = symmetry_tables(width, height)
    table = tables[symmetry % len(tables)]
    position, turned = Position(*size, rules=rules), Position(*size, rules=rules)
    for color, number in game:
        action = number % (position.area + 1)
        assert position.is_legal(action, color) == turned.is_legal(table[action], color)
        if position.is_legal(action, color):
            assert position.play(action, color) == turned.play(table[action], color)
    cells, turned_cells = position.board().ravel(), turned.board().ravel()
    assert all(cells[action] == turned_cells[table[action]] for action in range(position.area))
    assert position.legal_mask().sum() == turned.legal_mask().sum()


@settings(deadline=None, max_examples=60)
@given(sizes, rule_sets, games)
def test_the_same_game_makes_the_same_position(size, rules, game):
    assert state_of(played(size, rules, game)) == state_of(played(size, rules, game))
    assert state_of(played(size, rules, game)) == state_of(played(size, rules, game).copy())
