"""What is played at the end of a game: passes, captures, nobody's points, own eyes, cleaning up, resigning."""

from __future__ import annotations

import time

import pytest
from drawn_net import FINISHED, OWNERS, Drawn, genmove, make_player, place
from judged_positions import CASES

from engine.board.position import BLACK, WHITE, Position
from engine.board.rules import parse_rules
from engine.board.vertex import parse_vertex
from engine.judge import judge
from engine.judge.asking import GivenOpinion
from engine.player import decide, ending
from engine.player.choosing import RESIGN
from engine.player.settings import PlayerSettings
from engine.player.stop import StopToken
from engine.player.thinking import Wish

WITH_DAME = ["..X.O..", "..X.O..", "..X.O..", "..X.O..", "..X.O..", "..X.O..", "..X.O.."]
DAME_OWNERS = ["XXX.OOO"] * 7
TROMP_TAYLOR = parse_rules("tromp-taylor")


def stones(rows):
    return Position(len(rows[0]), len(rows)), [
        (BLACK if stone == "X" else WHITE, y * len(rows[0]) + x)
        for y, row in enumerate(rows) for x, stone in enumerate(row) if stone != "."
    ]  # fmt: skip


def position_of(rows, rules="chinese"):
    position, found = stones(rows)
    position.set_up(found)
    position.set_rules(rules)
    return position


def chosen(player, color):
    return player.move_text(genmove(player, color, play=False))


# ------------------------------------------------------------------------------------------------ passing


@pytest.mark.parametrize("rules", ["chinese", "japanese", "aga", "korean"])
@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_passes_first_once_the_board_is_settled(rules, color):
    """The net likes a move inside its own territory as well as a pass (pachi 146, KataGo 580)."""
    player = make_player(Drawn(OWNERS, FINISHED, favourites=(0, 45, 49)))
    place(player, FINISHED, color)
    player.set_rules(parse_rules(rules))
    player.set_komi(-7.5 if color == BLACK else 6.5)
    assert chosen(player, color) == "pass"


def test_no_game_is_over_before_it_began():
    """A net that gives all points to one side calls an empty board settled."""
    player = make_player(Drawn(["X" * 9] * 9, ["." * 9] * 9, value=0.9, lead=70))
    for color in (BLACK, WHITE):
        player.new_board(9, 9)
        assert chosen(player, color) != "pass"


def test_does_not_pass_first_where_the_setting_forbids_it():
    player = make_player(Drawn(OWNERS, FINISHED, favourites=(0, 45)), friendly_pass=False)
    place(player, FINISHED)
    assert chosen(player, BLACK) != "pass"


def test_the_loser_plays_on_while_its_search_has_hope():
    player = make_player(Drawn(OWNERS, FINISHED, favourites=(0, 45)))
    place(player, FINISHED)
    player.set_komi(20)
    assert chosen(player, BLACK) != "pass"
    hopeless = make_player(Drawn(OWNERS, FINISHED, value=-0.9, lead=-27, favourites=(0, 45, 49)))
    place(hopeless, FINISHED)
    hopeless.set_komi(20)
    assert chosen(hopeless, BLACK) == "pass"


@pytest.mark.parametrize(("rules", "takes"), [("chinese", True), ("tromp-taylor", True), ("japanese", False)])
def test_takes_nobodys_points_where_they_count(rules, takes):
    player = make_player(Drawn(DAME_OWNERS, WITH_DAME, favourites=(0, 49)))
    place(player, WITH_DAME)
    player.set_rules(parse_rules(rules))
    player.set_komi(-0.5)
    vertex = chosen(player, BLACK)
    assert vertex.startswith("D") if takes else vertex == "pass"


def test_a_whole_game_from_there_ends_in_time():
    """Under area rules seven points are taken in turn, then both pass."""
    player = make_player(Drawn(DAME_OWNERS, WITH_DAME, value=0.9, lead=0.5, favourites=(0, 48, 49)))
    place(player, WITH_DAME)
    player.set_komi(0.5)
    moves = []
    while not player.game.position.ended and len(moves) < 40:
        moves.append(player.move_text(genmove(player, player.to_play)))
    assert player.game.position.ended and len(moves) <= 9 and moves[-2:] == ["pass", "pass"]


# ------------------------------------------------------------------------------------------------ own eyes

EYES = ["X.X..", "XXX..", "OOOOO", "O.O.O", "OOOOO"]


def test_never_fills_an_own_eye():
    position = position_of(EYES)
    assert ending.own_eyes(position, BLACK) == {1} and ending.own_eyes(position, WHITE) == {16, 18}
    assert ending.without_eyes(position, BLACK, [1, 3, 25]) == [3, 25]
    assert ending.without_eyes(position, BLACK, [1]) == [25]
    assert ending.without_eyes(position, BLACK, [3, 1]) == [3]  # the first may turn out to repeat a position


def test_a_net_that_wants_to_fill_an_eye_does_not():
    player = make_player(Drawn(["XXX.."] * 2 + ["OOOOO"] * 3, EYES, favourites=(1,)), visits=1, friendly_pass=False)
    place(player, EYES)
    assert genmove(player, BLACK, play=False).action != 1


def test_an_eye_may_be_filled_to_save_a_chain_in_atari():
    position = position_of(["X.X..", "OXXO.", ".OXO.", "..OO.", "....."])
    assert position.liberties(0) == [1] and 1 not in ending.own_eyes(position, BLACK)


def test_a_false_eye_is_no_eye():
    position = position_of([".XO..", "XOO..", "O....", ".....", "....."])
    assert ending.own_eyes(position, BLACK) == set()


# ------------------------------------------------------------------------------------------------ capturing

DEAD_INSIDE = ["...XO..", ".O.XO..", "...XO..", "...XO..", "...XO..", "...XO..", "...XO.."]


@pytest.mark.parametrize("rules", ["tromp-taylor", '{"ko":"POSITIONAL","scoring":"AREA","suicide":false}'])
def test_captures_all_dead_stones_before_passing_where_they_count(rules):
    player = make_player(Drawn(["XXXXOOO"] * 7, DEAD_INSIDE, value=0.95, lead=6.5, favourites=(49, 6)))
    place(player, DEAD_INSIDE)
    player.set_rules(parse_rules(rules))
    player.set_komi(0.5)
    for _ in range(8):
        genmove(player, BLACK)
        genmove(player, WHITE)
        if player.game.position.ended:
            break
    position = player.game.position
    assert position.ended and position.color_at(8) == 0
    assert player.final_score(token=StopToken()) == 6.5


def test_passes_at_once_with_dead_stones_left_where_players_agree_on_them():
    player = make_player(Drawn(["XXXXOOO"] * 7, DEAD_INSIDE, favourites=(1, 49)))
    place(player, DEAD_INSIDE)
    player.set_rules(parse_rules("chinese"))
    player.set_komi(0.5)
    assert chosen(player, BLACK) == "pass"


def test_connects_before_a_liberty_is_taken_that_would_cost_stones():
    """Black at J1 would be in atari; J3 first. From a game of the net against itself."""
    rows = [
        "...XX.XXX",
        "X......XX",
        "XX.....X.",
        "XXXXXXX..",
        "OX.X.X.X.",
        "OXXOX.XXX",
        "OXOOOX.X.",
        "OOOOOXXOX",
        "..OOOOOO.",
    ]
    position = position_of(rows, TROMP_TAYLOR)
    owner = position.board().astype("float32") * 0 + 1
    moves = ending.capturing_moves(position, BLACK, judge(position, GivenOpinion(owner)))
    at = {word: parse_vertex(word, 9, 9) for word in ("J1", "J3", "A1", "B1")}
    assert at["J3"] in moves and at["J1"] not in moves
    position.play(at["J3"], BLACK)
    assert ending.capturing_moves(position, BLACK, judge(position, GivenOpinion(owner)))[0] == at["J1"]


def test_a_capturing_move_that_would_lose_stones_is_not_played():
    """The dead stone's last liberty is a point where Black would be in atari."""
    rows = ["O.X..", "OXXX.", "OOOO.", ".....", "....."]
    position = position_of(rows, TROMP_TAYLOR)
    judgment = judge(position, GivenOpinion(position.board().astype("float32") * 0 + 1))
    for action in ending.capturing_moves(position, BLACK, judgment):
        after = position.copy()
        assert after.play(action, BLACK) or len(after.liberties(action)) > 1 or len(after.liberties(0)) == 1


@pytest.mark.parametrize("case", [case for case in CASES if case.dead and not case.open], ids=lambda case: case.name)
@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_cleaning_up_touches_dead_stones_alone(case, color):
    """Every move offered is beside a dead stone of the opponent's, fills no own eye, and can be played."""
    position = position_of(case.rows)
    dead = {parse_vertex(word, position.width, position.height) for word in case.dead.split()}
    dead = {stone for first in dead for stone in position.chain(first)}
    owner = position.board().astype("float32")
    owner[owner == 2] = -1
    for stone in dead:
        owner.flat[stone] = -owner.flat[stone]
    judgment = judge(position, GivenOpinion(owner))
    around = {a for stone in dead if position.color_at(stone) != color for a in position.liberties(stone)}
    moves = ending.capturing_moves(position, color, judgment)
    eyes = ending.own_eyes(position, color)
    assert set(moves) <= around if judgment.dead == dead else True
    assert not eyes.intersection(moves) and all(position.is_legal(action, color) for action in moves)


# ------------------------------------------------------------------------------------------------ KGS's clean-up


def test_cleanup_captures_the_dead_and_then_passes_and_never_resigns():
    player = make_player(Drawn(OWNERS, FINISHED, value=0.99, favourites=(49,)))
    place(player, FINISHED)
    player.play(BLACK, 49)
    player.play(WHITE, 49)
    before = [c for s, c in player.final_status(token=StopToken()) if s == "dead"]
    assert sorted(map(len, before)) == [1, 1]
    words = []
    for _ in range(10):
        words.append(player.move_text(player.cleanup(WHITE, Wish())))
        assert words[-1] != "resign"
        if words[-1] == "pass":
            break
        player.play(BLACK, 49)
    board = player.game.position.board()
    assert words[-1] == "pass" and board.flat[12] == 0 and board.flat[22] == WHITE  # Black's is gone, its own stays
    assert len(words) <= 6


def test_cleanup_passes_at_once_where_nothing_is_dead():
    player = make_player(Drawn(DAME_OWNERS, WITH_DAME))
    place(player, WITH_DAME)
    assert player.move_text(player.cleanup(BLACK, Wish())) == "pass"


def test_the_dead_list_is_empty_after_both_cleaned_up():
    player = make_player(Drawn(OWNERS, FINISHED, favourites=(49,)))
    place(player, FINISHED)
    for _ in range(12):
        both = [player.move_text(player.cleanup(color, Wish())) for color in (BLACK, WHITE)]
        if both == ["pass", "pass"]:
            break
    assert not [c for s, c in player.final_status(token=StopToken()) if s == "dead"]


# ------------------------------------------------------------------------------------------------ after the end


@pytest.mark.parametrize("rules", ["chinese", "japanese", "tromp-taylor"])
def test_status_and_score_are_the_same_before_between_and_after_the_passes(rules):
    player = make_player(Drawn(OWNERS, FINISHED, favourites=(49,)), clean_up=False)
    place(player, FINISHED)
    player.set_rules(parse_rules(rules))
    player.set_komi(0.5)

    def said():
        return player.final_status(token=StopToken()), player.final_score(token=StopToken())

    seen = [said()]
    for color in (BLACK, WHITE):
        player.play(color, 49)
        seen.append(said())
    assert player.game.position.ended and seen[0] == seen[1] == seen[2]


def test_a_judge_that_searches_says_the_same_after_the_passes():
    """Its search would find something else each time: what genmove assumed is kept (pachi 45, 63, KataGo 366)."""
    from dataclasses import replace

    player = make_player(Drawn(OWNERS, FINISHED, favourites=(49,)))
    place(player, FINISHED)
    told = player.judgment(token=StopToken())
    judging = player._thinker._judge
    judging.judge = lambda position: replace(told, score=told.score + 100, chains=())
    player.play(BLACK, 49)
    player.play(WHITE, 49)
    again = player.judgment(token=StopToken())
    assert (again.score, again.chains, again.passed) == (told.score, told.chains, True)
    player.set_komi(1.5)
    assert player.judgment(token=StopToken()).score == told.score + 100


def test_a_net_that_owns_nothing_settles_nothing():
    from engine.evaluator_fakes import HashEvaluator

    player = make_player(HashEvaluator(), visits=30)
    place(player, WITH_DAME)
    player.set_komi(-30)
    assert chosen(player, BLACK) != "pass"


def test_obeys_after_two_passes_and_after_resigning():
    player = make_player(Drawn(OWNERS, FINISHED, value=-1.0, lead=-50, favourites=(0,)), resign_moves=1)
    place(player, FINISHED)
    player.play(BLACK, 49)
    player.play(WHITE, 49)
    assert player.game.position.ended
    player.play(BLACK, 0)
    player.undo()
    assert genmove(player, BLACK).action in range(-1, 50)
    player.play(WHITE, 6)
    player.undo()
    assert player.final_score(token=StopToken()) is not None


# ------------------------------------------------------------------------------------------------ resigning


def plays(*words, size=9):
    position = Position(size)
    for color, word in words:
        position.play(parse_vertex(word, size, size), {"b": BLACK, "w": WHITE}[color])
    return position


def test_handicap_stones_are_seen_however_they_came():
    """gtp2ogs 65, Sabaki 409, pachi 82: they come as plays of Black, or with White passing between."""
    assert decide.handicap_stones(plays(("b", "c3"), ("b", "g7"))) == 2
    assert decide.handicap_stones(plays(("b", "c3"), ("w", "pass"), ("b", "g7"), ("w", "pass"), ("b", "e5"))) == 3
    assert decide.handicap_stones(plays(("b", "c3"), ("b", "g7"), ("w", "e5"), ("b", "c7"))) == 2
    assert decide.handicap_stones(plays(("b", "c3"), ("w", "e5"), ("b", "g7"))) == 0
    assert decide.handicap_stones(plays()) == 0
    placed = Position(9)
    placed.set_up([(BLACK, 20), (BLACK, 60)])
    assert decide.handicap_stones(placed) == 2
    problem = Position(9)
    problem.set_up([(BLACK, 20), (BLACK, 60), (WHITE, 40)])
    assert decide.handicap_stones(problem) == 0


def test_no_resigning_in_the_opening_of_a_handicap_game_sent_as_plays():
    settings = {"resign_moves": 1, "visits": 2}
    hopeless = Drawn(value=1.0, lead=60)  # Black wins
    player = make_player(hopeless, **settings)
    player.new_board(9, 9)
    for action in (20, 24, 56, 60):
        player.play(BLACK, action)
    assert genmove(player, WHITE, play=True).action != RESIGN
    even = make_player(hopeless, **settings)
    even.new_board(9, 9)
    even.play(BLACK, 20)
    assert genmove(even, WHITE).action == RESIGN
    sooner = make_player(hopeless, resign_handicap=0.0, **settings)
    sooner.new_board(9, 9)
    for action in (20, 24, 56, 60):
        sooner.play(BLACK, action)
    assert genmove(sooner, WHITE).action == RESIGN


def test_does_not_resign_a_settled_game_that_the_judge_calls_won():
    """A value head may be wrong where nothing is left to play; the count is not."""
    player = make_player(Drawn(OWNERS, FINISHED, value=1.0, lead=30, favourites=(49,)), resign_moves=1)
    place(player, FINISHED)
    for _ in range(15):
        player.play(BLACK, 49)
        player.play(WHITE, 49)
    player.set_komi(3.5)
    assert genmove(player, WHITE).action != RESIGN
    player.set_komi(-30)
    assert genmove(player, WHITE).action == RESIGN


def test_settings_of_resigning():
    assert PlayerSettings().resign_handicap == pytest.approx(0.35)


# ------------------------------------------------------------------------------------------------ little time


def test_without_time_for_the_judge_a_side_passes_only_if_that_does_not_lose():
    position = position_of(DEAD_INSIDE, TROMP_TAYLOR)
    position.set_komi(0.5)
    assert ending.in_haste(position, BLACK, [49, 3]) == [3, 49]  # 28 points with the dead stone's, 20 without
    assert ending.in_haste(position, WHITE, [49, 3]) == [49, 3]
    position.set_rules("chinese")
    assert ending.in_haste(position, BLACK, [49, 3]) == [49, 3]


def test_the_end_of_a_game_is_in_time():
    """Judging comes out of the move's time; a judge that takes too long is not asked (KataGo 1105)."""
    player = make_player(Drawn(OWNERS, FINISHED, favourites=(49, 0)), visits=None, lag=0.02)
    asked = []
    judge_of = player._thinker.judge
    player._thinker.judge = lambda *args: asked.append(time.sleep(0.3)) or judge_of(*args)
    player._thinker._judge_seconds = {(7, 7): 0.3}
    place(player, FINISHED)
    player.play(BLACK, 49)
    player.set_time(0, 0.3, 1)
    genmove(player, WHITE)
    assert not asked
    player.undo()
    player.set_time(0, 3, 1)
    genmove(player, WHITE)
    assert asked
