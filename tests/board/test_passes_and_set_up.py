"""Tables of how passes end a game, how handicap stones are counted, and which set-ups are refused."""

import pytest

from engine.board.position import BLACK, WHITE, Position
from engine.board.selfcheck import fault_of
from engine.board.vertex import parse_color, parse_vertex
from engine.errors import IllegalMove


def play(position, moves):
    """Play "B D4 W pass …"."""
    words = moves.split()
    for color, vertex in zip(words[::2], words[1::2], strict=True):
        position.play(parse_vertex(vertex, position.width, position.height), parse_color(color))


PASSES = [
    ("chinese", "B pass", False),
    ("chinese", "B pass W pass", True),
    ("chinese", "B pass W pass B pass", True),
    ("chinese", "B pass W A1 B pass", False),
    ("chinese", "B pass W pass B A1", False),
    ("chinese", "B pass B pass", True),
    ("aga-button", "B pass W pass", False),
    ("aga-button", "B pass W pass B pass", True),
    ("aga-button", "B A1 W pass B C3 W pass B pass", True),
    ("aga-button", "B A1 W pass B pass", False),
]


@pytest.mark.parametrize(("rules", "moves", "ended"), PASSES)
def test_two_passes_end_the_game_the_button_not_counted(rules, moves, ended):
    position = Position(3, rules=rules)
    play(position, moves)
    assert position.ended is ended


HANDICAP = [
    ([], "B A1 W C3", 0),
    ([], "B A1", 0),
    ([], "B A1 B C3", 2),
    ([], "B A1 B C3 W B2 B A3", 2),
    ([], "B A1 W pass B C3", 0),
    ([], "B A1 B pass B C3", 0),
    ([(BLACK, 0), (BLACK, 8)], "W pass B A1", 2),
    ([], "B pass B C3", 0),
    ([], "W A1 B C3 B A3", 0),
    ([(BLACK, 0)], "W C1", 0),
    ([(BLACK, 0)], "B C1", 2),
    ([(BLACK, 0), (BLACK, 8)], "", 2),
    ([(BLACK, 0), (BLACK, 8)], "W B2 B A1", 2),
    ([(BLACK, 0), (BLACK, 8)], "B A1", 3),
    ([(BLACK, 0), (BLACK, 8), (WHITE, 4)], "", 0),
]


@pytest.mark.parametrize(("stones", "moves", "count"), HANDICAP)
def test_handicap_counts_black_stones_before_whites_first(stones, moves, count):
    position = Position(3)
    position.set_up(stones)
    play(position, moves)
    assert position.handicap == count


BAD_SETUPS = [
    ([(BLACK, 0), (WHITE, 0)], "occupied"),
    ([(BLACK, 9)], "off board"),
    ([(BLACK, -1)], "off board"),
    ([(BLACK, 0), (WHITE, 1), (WHITE, 3)], "suicide"),
    ([(BLACK, action) for action in range(9)], "suicide"),
]


@pytest.mark.parametrize(("stones", "reason"), BAD_SETUPS)
def test_an_impossible_set_up_changes_nothing(stones, reason):
    position = Position(3)
    play(position, "B A1 W B2")
    before = position.board().tolist()
    with pytest.raises(IllegalMove) as refusal:
        position.set_up(stones)
    assert refusal.value.reason == reason
    assert position.board().tolist() == before
    assert position.moves == [(BLACK, 6), (WHITE, 4)]
    assert fault_of(position) is None
