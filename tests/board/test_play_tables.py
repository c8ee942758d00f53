"""Small positions drawn by hand: captures, ko, snapback, suicide, superko."""

import pytest

from engine.board.position import BLACK, WHITE, Position
from engine.board.rules import Rules
from engine.board.selfcheck import fault_of, repeats
from engine.board.vertex import format_vertex, parse_color, parse_vertex
from engine.errors import IllegalMove


def draw(diagram, **options):
    """A position from rows of `.`, `#` (Black), `o` (White), top row first."""
    rows = [line.split() for line in diagram.strip().splitlines()]
    position = Position(len(rows[0]), len(rows), **options)
    cells = [cell for row in rows for cell in row]
    to_play = options.pop("to_play", None)
    position.set_up([(".#o".index(cell), action) for action, cell in enumerate(cells) if cell != "."], to_play)
    return position


def drawn(position):
    return "\n".join(" ".join(".#o"[cell] for cell in row) for row in position.board())


def at(position, vertex):
    return parse_vertex(vertex, position.width, position.height)


def play(position, moves):
    """Play "B D4 W pass …"; return what the last one captured."""
    words = moves.split()
    captured = 0
    for color, vertex in zip(words[::2], words[1::2], strict=True):
        captured = position.play(at(position, vertex), parse_color(color))
        assert fault_of(position) is None
    return captured


def same(diagram, position):
    return "\n".join(line.strip() for line in diagram.strip().splitlines()) == drawn(position)


CAPTURES = [
    ("one stone", ". # .\n# o #\n. . .", "B B1", ". # .\n# . #\n. # .", 1),
    ("corner", "o # .\n. . .\n. . .", "B A2", ". # .\n# . .\n. . .", 1),
    ("two chains at once", ". # o\n# o .\no . .", "B C2", None, None),
    ("a chain of three", "o o o\n# # .\n. . .", "B C2", ". . .\n# # #\n. . .", 3),
    ("capture before suicide", ". o #\no # #\n# # .", "B A3", "# . #\n. # #\n# # .", 2),
    ("two stones of suicide", "# . o\no o .\n. . .", "B B3", ". . o\no o .\n. . .", 2),
]


@pytest.mark.parametrize(("name", "before", "move", "after", "count"), CAPTURES, ids=[row[0] for row in CAPTURES])
def test_captures(name, before, move, after, count):
    position = draw(before, rules=Rules(suicide=True))
    captured = play(position, move)
    if after is not None:
        assert same(after, position)
        assert captured == count


def test_prisoners_count_stones_of_each_color():
    position = draw("o o o\n# # .\n. . .")
    play(position, "B C2")
    assert (position.prisoners(BLACK), position.prisoners(WHITE)) == (0, 3)
    position = draw("# . o\no o .\n. . .", rules="tromp-taylor")
    play(position, "B B3")
    assert (position.prisoners(BLACK), position.prisoners(WHITE)) == (2, 0)


KO = """
    . # o .
    # . # o
    . # o .
    . . . .
"""


def ko_taken(rules):
    # White takes at B3; Black may not take back at C3 at once.
    position = draw(KO, rules=rules)
    play(position, "W B3")
    return position


@pytest.mark.parametrize("rules", ["chinese", "japanese", "chinese-ogs", "aga", "tromp-taylor"])
def test_simple_ko_forbids_taking_back_at_once(rules):
    position = ko_taken(rules)
    assert format_vertex(position.ko_action, 4, 4) == "C3"
    with pytest.raises(IllegalMove) as refusal:
        position.play(at(position, "C3"), BLACK)
    assert str(refusal.value) == "illegal move: C3 (ko)"
    play(position, "B A1 W D1 B C3")
    assert format_vertex(position.ko_action, 4, 4) == "B3"


def test_ko_binds_only_the_side_that_was_captured_from():
    position = ko_taken("chinese")
    assert not position.is_legal(at(position, "C3"), BLACK)
    assert position.is_legal(at(position, "C3"), WHITE)
    play(position, "W A1")  # White again: the ko is over
    assert position.ko_action is None
    assert position.is_legal(at(position, "C3"), BLACK)


def test_a_pass_lifts_simple_ko_but_not_superko():
    simple, positional = ko_taken("chinese"), ko_taken("chinese-ogs")
    play(simple, "B pass W pass")
    play(positional, "B pass W pass")
    assert simple.is_legal(at(simple, "C3"), BLACK)
    assert not positional.is_legal(at(positional, "C3"), BLACK)
    assert positional.breaks_superko(at(positional, "C3"), BLACK)


def test_snapback_is_no_ko():
    position = draw(". # # # .\n# o o o #\n# o . . #", rules="chinese")
    assert play(position, "B C1") == 0  # the throw-in
    assert play(position, "W D1") == 1
    assert position.ko_action is None
    assert play(position, "B C1") == 5
    assert same(". # # # .\n# . . . #\n# . # . #", position)


SUICIDE = [
    ("single", ". o .\no . .\n. . .", "A3", False, False),
    ("single in an eye", "o o o\no . o\n. o o", "B2", False, False),
    ("two", "# . o\no o .\n. . .", "B3", False, True),
    ("whole board but one", ". # #\n# # #\n# # #", "A3", False, True),
    ("joins a chain with liberties", "# . o\n. o .\n. . .", "B3", True, True),
    ("captures", "# . o\no o #\n# # .", "B3", True, True),
]


@pytest.mark.parametrize(("name", "diagram", "vertex", "plain", "suicide"), SUICIDE, ids=[row[0] for row in SUICIDE])
def test_suicide(name, diagram, vertex, plain, suicide):
    for rules, legal in ((Rules(ko="SIMPLE"), plain), (Rules(ko="SIMPLE", suicide=True), suicide)):
        position = draw(diagram, rules=rules)
        assert position.is_legal(at(position, vertex), BLACK) is legal
        if not legal:
            with pytest.raises(IllegalMove, match=r"\(suicide\)"):
                position.play(at(position, vertex), BLACK)
            assert same(diagram, position)


SEND_TWO = """
    . . . .
    o o # .
    . # . #
"""


@pytest.mark.parametrize(("ko", "first", "second"), [
    ("SIMPLE", None, None), ("POSITIONAL", "superko", None), ("SITUATIONAL", None, "superko"),
])
def test_sending_two_returning_one(ko, first, second):
    # Black A1, White C1 takes two, Black B1 takes one: the set-up stands again, now with White to move.
    position = draw(SEND_TWO, rules=Rules(ko=ko))
    assert play(position, "B A1 W C1") == 2
    assert refusal_of(position, "B1") == first
    if first is None:
        assert play(position, "B B1") == 1
        assert same(SEND_TWO, position)
        assert repeats(position) is False  # in both the set-up had Black to move
        play(position, "W pass")  # Black could send the two stones again
        assert refusal_of(position, "A1") == second


def refusal_of(position, vertex):
    """Why the side to move may not play there, None if it may; the position stays as it is."""
    try:
        position.play(at(position, vertex))
    except IllegalMove as error:
        return error.reason
    position.undo()
    return None


def test_superko_kinds_differ_on_a_pass():
    # After W B3 x C3 and both passing, taking back repeats the set-up: forbidden to all by position, and, since it was
    # White to move there (the set-up says Black here), allowed by situation.
    verdict = {}
    for ko in ("SIMPLE", "POSITIONAL", "SITUATIONAL"):
        position = draw(KO, rules=Rules(ko=ko))  # set up with Black to move
        play(position, "W B3 B pass W pass")
        verdict[ko] = position.is_legal(at(position, "C3"), BLACK)
    assert verdict == {"SIMPLE": True, "POSITIONAL": False, "SITUATIONAL": True}
    for ko in verdict:
        position = draw(KO, rules=Rules(ko=ko))
        position.to_play = WHITE
        play(position, "W B3 B pass W pass")
        verdict[ko] = position.is_legal(at(position, "C3"), BLACK)
    assert verdict == {"SIMPLE": True, "POSITIONAL": False, "SITUATIONAL": False}


@pytest.mark.parametrize(
    ("rules", "reason"), [("tromp-taylor", "superko"), ("new-zealand", None), ("chinese", "suicide")]
)
def test_suicide_may_break_superko(rules, reason):
    # Two stones put in and lost by suicide: the set-up stands again, with White to move instead of Black.
    position = draw(". . o .\no o o .\n. . . .", rules=rules)
    play(position, "B A3 W pass")
    assert refusal_of(position, "B3") == reason


def test_allow_superko_and_tolerant():
    position = ko_taken("chinese-ogs")
    play(position, "B pass W pass")
    with pytest.raises(IllegalMove, match="superko"):
        position.play(at(position, "C3"), BLACK)
    assert position.play(at(position, "C3"), BLACK, allow_superko=True) == 1
    assert repeats(position)
    position.undo()
    assert not repeats(position) or position.moves[-1][1] == position.area
    position = ko_taken("chinese-ogs")
    with pytest.raises(IllegalMove, match="ko"):
        position.play(at(position, "C3"), BLACK, allow_superko=True)
    assert position.play(at(position, "C3"), BLACK, tolerant=True) == 1
    position = draw("# . o\no o .\n. . .")
    assert position.play(at(position, "B3"), BLACK, tolerant=True) == 2
    position = draw(". o .\no . .\n. . .")
    with pytest.raises(IllegalMove, match="suicide"):
        position.play(at(position, "A3"), BLACK, tolerant=True)


def test_the_set_up_position_counts_for_superko():
    position = draw(KO, rules="chinese-ogs")
    position.to_play = WHITE
    play(position, "W B3 B A1 W D1")
    assert position.is_legal(at(position, "C3"), BLACK)  # A1 and D1 are new
    position = draw(KO, rules="chinese-ogs")
    play(position, "W B3 B pass W pass")
    assert position.breaks_superko(at(position, "C3"), BLACK)
