"""Scores of finished games: every rule by hand, laws between rules on random boards, and recounts of real games."""

import csv
import lzma

import numpy as np
import pytest
import scoring_oracle as oracle

from engine.board import scoring
from engine.board.position import Position
from engine.board.rules import Rules

COLORS = {".": 0, "X": 1, "O": 2, "B": 1, "W": 2}
RULES_OF_RECORDS = {"Chinese": "chinese-kgs", "Japanese": "japanese", "AGA": "aga", "NZ": "new-zealand"}
TERRITORY = Rules(ko="SIMPLE", scoring="TERRITORY")
# Black: 8 stones, one more on the right edge that may be dead, 4 empty points. White: 8 stones, 2 empty points, and the
# corner too once that stone is dead. One dame in the middle.
FINISHED = "..XO. .XXOX XX.OO .XOO. XXOO."


def board_of(text, width=None):
    """Read rows of letters, separated by blanks (or all in one, with a width), as a [H, W] array."""
    return np.array([COLORS[c] for c in text if c != " "], dtype=np.uint8).reshape(-1, width or text.index(" "))


def position_of(text, rules="chinese", komi=0.0):
    """Make a position with these stones."""
    board = board_of(text)
    position = Position(board.shape[1], board.shape[0], rules=rules, komi=komi)
    position.set_up([(int(color), action) for action, color in enumerate(board.reshape(-1)) if color])
    return position


def dead_at(position, *points):
    """Return a dead-stone map with these (row, column) points."""
    dead = np.zeros((position.height, position.width), dtype=bool)
    for point in points:
        dead[point] = True
    return dead


@pytest.mark.parametrize(
    ("rules", "komi", "dead", "score"),
    [
        ("chinese", 0.0, [], (9 + 4) - (8 + 2)),
        ("chinese", 0.0, [(1, 4)], (8 + 4) - (8 + 4)),
        ("chinese", 7.5, [(1, 4)], -7.5),
        ("chinese", -3.0, [(1, 4)], 3),
        ("tromp-taylor", 0.0, [], (9 + 4) - (8 + 2)),
        (TERRITORY, 0.0, [], 4 - 2),
        (TERRITORY, 0.0, [(1, 4)], 4 - (4 + 1)),
        ("japanese", 0.5, [(1, 4)], 4 - (4 + 1) - 0.5),
        ("stone-scoring", 0.0, [(1, 4)], (8 + 4 - 2) - (8 + 4 - 2)),
    ],
)
def test_scores_by_hand(rules, komi, dead, score):
    position = position_of(FINISHED, rules, komi)
    assert scoring.score(position, dead=dead_at(position, *dead)) == score


def test_eyes_in_seki_count_without_a_tax_only():
    stones = ".X.O. XX.OO"
    for rules, owners in (("japanese", stones), (TERRITORY, "XX.OO XX.OO"), ("chinese", "XX.OO XX.OO")):
        np.testing.assert_array_equal(scoring.territory(position_of(stones, rules)), board_of(owners))


def test_a_point_that_must_connect_is_no_territory():
    stones = "...OX... OOOOXXXX ....O.X."
    np.testing.assert_array_equal(
        scoring.territory(position_of(stones, "japanese")), board_of("OOOOXXXX OOOOXXXX OOO.O.XX")
    )
    assert scoring.score(position_of(stones, "japanese")) == 4 - 6
    assert scoring.score(position_of(stones, TERRITORY)) == 4 - 7


def test_marked_ownership_is_taken_as_it_is():
    position = position_of(FINISHED, "japanese")
    marks = board_of("BBBWW BBBWW BB.WW BBWW. BBWW.")
    assert scoring.score(position, ownership=marks) == 4 - (2 + 1)
    np.testing.assert_array_equal(scoring.territory(position, ownership=marks), marks)


def test_float_ownership_names_the_dead_chains():
    position = position_of(FINISHED)
    ownership = np.where(board_of("BBBWW BBBWW BBBWW BBWWW BBWWW") == 1, 0.9, -0.8)
    np.testing.assert_array_equal(scoring.dead_stones(position, ownership), dead_at(position, (1, 4)))
    assert scoring.score(position, ownership=ownership) == scoring.score(position, dead=dead_at(position, (1, 4)))


@pytest.mark.parametrize(("rules", "score"), [("japanese", 23 + 1), (TERRITORY, 23 + 1), ("chinese", 25)])
def test_prisoners_count_under_territory_rules_only(rules, score):
    position = Position(5, 5, rules=rules, komi=0.0)
    for action in (1, 0, 5):  # Black takes the corner stone
        position.play(action)
    assert position.prisoners(2) == 1
    assert scoring.score(position) == score


@pytest.mark.parametrize("board", ["XX.X XXXX XXXX .XXX", ".X.X XXXX"])
def test_group_tax(board):
    position = position_of(board, "stone-scoring")
    assert scoring.score(position) == position.area - 2


@pytest.mark.parametrize(("bonus", "stones", "points"), [("0", 3, 0), ("N", 3, 3), ("N-1", 3, 2), ("N", 1, 0)])
def test_handicap_bonus(bonus, stones, points):
    position = Position(5, 5, rules=Rules(white_handicap_bonus=bonus), komi=0.5)
    position.set_up([(1, action) for action in range(stones)], 2)
    assert scoring.score(position) == 25 - 0.5 - points


def test_the_button_is_half_a_point():
    for first_passer, score in ((1, 0.5), (2, -0.5)):
        position = Position(5, 5, rules="aga-button", komi=0.0)
        position.play(position.area, first_passer)
        assert scoring.score(position) == score


def test_wrong_shapes_are_refused():
    position = Position(5, 4)
    for arguments in ({"dead": np.zeros((5, 4))}, {"ownership": np.zeros((5, 5))}, {"ownership": np.zeros(20, int)}):
        with pytest.raises(ValueError, match="shape"):
            scoring.score(position, **arguments)
    with pytest.raises(ValueError, match="not both"):
        scoring.score(position, dead=np.zeros((4, 5)), ownership=np.zeros((4, 5)))


def random_game(rng, width, height, rules):
    """Play random legal moves to a random length; return the position and some of its chains as dead stones."""
    position = Position(width, height, rules=rules, komi=0.0)
    for _ in range(int(rng.integers(4, 3 * width * height))):
        legal = np.flatnonzero(position.legal_mask()[:-1])
        if len(legal):
            position.play(int(rng.choice(legal)))
    dead = np.zeros((height, width), dtype=bool)
    for chain in oracle.components_by_color(position.board()):
        if rng.random() < 0.2:
            for point in chain:
                dead[point] = True
    return position, dead


def test_area_and_territory_differ_by_the_stones_played():
    rng = np.random.default_rng(1)
    for _ in range(60):
        area, dead = random_game(rng, int(rng.integers(3, 9)), int(rng.integers(3, 9)), Rules())
        territory = area.copy()
        territory.set_rules(TERRITORY)
        played = [color for color, action in area.moves if action != area.area]
        difference = played.count(1) - played.count(2)
        assert scoring.score(area, dead=dead) == scoring.score(territory, dead=dead) + difference


def test_without_dead_stones_area_scoring_is_tromp_taylor():
    rng = np.random.default_rng(2)
    for _ in range(30):
        position, _ = random_game(rng, 6, 7, "tromp-taylor")
        assert scoring.score(position) == scoring.tromp_taylor(position)[1]


@pytest.mark.parametrize("tax", ["NONE", "SEKI"])
def test_territory_agrees_with_the_oracle(tax):
    rng = np.random.default_rng(3)
    for _ in range(50):
        width, height = int(rng.integers(2, 9)), int(rng.integers(3, 9))
        position, dead = random_game(rng, width, height, Rules(scoring="TERRITORY", tax=tax))
        live = np.where(dead, 0, position.board())
        owner = oracle.territory(live, tax == "SEKI")
        np.testing.assert_array_equal(scoring.territory(position, dead=dead), np.where(live, live, owner))


def records(shared_dir, name):
    """Yield the rows of a file of judged games."""
    with lzma.open(shared_dir / "data" / "judged" / f"{name}.tsv.xz", "rt") as file:
        yield from csv.DictReader(file, delimiter="\t")


def replay(record):
    """Play a record out under its rules and komi."""
    size = int(record["size"])
    position = Position(size, rules=RULES_OF_RECORDS[record["rules"]], komi=float(record["komi"]))

    def action(text):
        return size * size if text == "zz" else (ord(text[1]) - 97) * size + ord(text[0]) - 97

    if record["setup_black"]:
        position.set_up([(1, action(point)) for point in record["setup_black"].split(",")], 2)
    moves = record["moves"]
    for i in range(0, len(moves), 2):
        position.play(action(moves[i : i + 2]), allow_superko=True)
    np.testing.assert_array_equal(position.board(), board_of(record["board"], size))
    return position


def recorded_score(record):
    """Return Black's margin."""
    return {"B": 1, "W": -1}.get(record["result"][0], 0) * float(record["result"][2:] or 0)


# White passes between the set-up and Black's next move, which is no handicap stone: the server counted so.
FREE_MOVE = "2017-10-123"
# Games where the marks differ from what the colours of the living stones tell (a connection that the players saw and
# the dame rule does not, or the reverse): one point each.
OTHER_MARKS = {
    "2016-10-030", "2018-03-039", "2018-09-209", "2017-10-082", "2018-01-003", "2018-01-233", "2017-03-068",
    "2017-02-095", "2016-12-059", "2018-05-075", "2016-09-169", "2016-09-183", "2017-12-086",
}  # fmt: skip


def check_kgs(record):
    position = replay(record)
    owners = board_of(record["ownership"], position.width)
    dead = (position.board() != 0) & (owners == 3 - position.board())
    want = recorded_score(record)
    assert scoring.score(position, ownership=owners) == want, record["id"]
    given_dead = scoring.score(position, dead=dead)
    if record["id"] in OTHER_MARKS:
        assert abs(given_dead - want) == 1, record["id"]
    else:
        assert given_dead == want, record["id"]


def check_goquest(record):
    position = replay(record)
    dead = np.array([c == "1" for c in record["dead"]]).reshape(9, 9)
    assert scoring.score(position, dead=dead) == recorded_score(record), record["id"]
    assert scoring.score(position, ownership=board_of(record["owner_area"], 9)) == recorded_score(record), record["id"]


def test_recounts_of_real_games(shared_dir):
    for i, record in enumerate(records(shared_dir, "kgs_19x19")):
        if i % 12 == 0 or record["id"] in OTHER_MARKS or record["id"] == FREE_MOVE:
            check_kgs(record)
    for i, record in enumerate(records(shared_dir, "goquest_9x9")):
        if i % 12 == 0:
            check_goquest(record)


@pytest.mark.slow
def test_recounts_of_all_real_games(shared_dir):
    for record in records(shared_dir, "kgs_19x19"):
        check_kgs(record)
    for record in records(shared_dir, "goquest_9x9"):
        check_goquest(record)
