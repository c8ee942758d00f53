"""Reading game records, and which games training may see."""

import hashlib
import lzma

import pytest

from engine.board.symmetry import symmetry_table
from engine.errors import EngineError, SgfError
from engine.train.records import (
    BLACK,
    Game,
    RecordError,
    parse_komi,
    parse_result,
    read_any,
    read_sgf,
)
from engine.train.selection import Selection, held_out, opening_key

HEADER = "size\tkomi\trules\tresult\tdate\tsetup_black\tsetup_white\tfirst\tmoves\n"
GAME = Game(19, "pdddpqdqppqq" * 3)


def table(tmp_path, *rows, header=HEADER):
    path = tmp_path / "some.tsv.xz"
    with lzma.open(path, "wt") as file:
        file.write(header + "".join(row + "\n" for row in rows))
    return path


def test_a_row_becomes_a_game(tmp_path):
    path = table(tmp_path, "19\t0.50\tJapanese\tW+3.50\t2017-01-01\tdd,pp\t\tW\tpdzzdp")
    (game,) = read_any(path)
    assert game == Game(19, "pdzzdp", 2, "ddpp", "", 0.5, "Japanese", 2, True, "some", -3.5)
    assert game.actions() == [3 * 19 + 15, 361, 15 * 19 + 3]


def test_without_a_first_color_white_begins_after_handicap_stones(tmp_path):
    path = tmp_path / "judged.tsv"
    path.write_text("size\tsetup_black\tmoves\n19\tpd,dp\tqcqd\n19\t\tqcqd\n")
    assert [game.first for game in read_any(path)] == [2, 1]


@pytest.mark.parametrize(
    "row",
    [
        "x\t\t\t\t\t\t\tB\tpd",  # size
        "1\t\t\t\t\t\t\tB\taa",
        "9\t\t\t\t\t\t\tB\tpd",  # off the board
        "19\t\t\t\t\t\t\tB\tpdd",  # half a move
        "19\t\t\t\t\t\t\tB\tPD",
        "19\t\t\t\t\tpdx\t\tB\tpd",  # set-up
        "19\tmany\t\t\t\t\t\tB\tpd",  # komi
        "19\t\t\t\t\t\t\tR\tpd",  # color
        "19\t\t\t",  # too few fields
        "",
    ],
)
def test_a_row_that_makes_no_sense_is_left_out_and_the_rest_stays(tmp_path, row, caplog):
    path = table(tmp_path, row, "19\t\t\tB+R\t\t\t\tB\tpddp")
    assert [game.moves for game in read_any(path)] == ["pddp"]
    assert "1 rows left out" in caplog.text


def test_a_table_without_the_columns_is_refused(tmp_path):
    with pytest.raises(RecordError, match="size"):
        list(read_any(table(tmp_path, header="komi\tmoves\n")))
    with pytest.raises(RecordError, match="no such file"):
        list(read_any(tmp_path / "absent.tsv"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(RecordError, match="no SGF"):
        list(read_any(tmp_path / "empty"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B+R", (1, False)),
        ("W+3.50", (2, True)),
        ("W+T", (2, False)),
        ("W", (0, False)),
        ("Jigo", (0, False)),
        ("", (0, False)),
    ],
)
def test_results(text, expected):
    assert parse_result(text) == expected


@pytest.mark.parametrize(
    ("text", "komi"),
    [("6.5", 6.5), ("", None), ("375", 7.5), ("750", 7.5), ("650", 6.5), ("3.75", 7.5), ("-9.50", -9.5)],
)
def test_komi_as_collections_write_it(text, komi):
    assert parse_komi(text) == komi


def test_sgf(tmp_path):
    path = tmp_path / "a.sgf"
    path.write_text("(;GM[1]SZ[9]KM[7]RE[B+R]RU[Chinese]AB[aa][cb];W[ee];B[];W[ic](;B[dd])(;B[ff]))")
    game = read_sgf(path)
    assert game == Game(9, "eezzicdd", 2, game.setup_black, "", 7.0, "Chinese", BLACK, False, tmp_path.name)
    assert sorted((game.setup_black[:2], game.setup_black[2:])) == ["aa", "cb"]
    path.write_text("(;GM[1]SZ[9];B[ee];W[dd];W[cc])")
    with pytest.raises(RecordError, match="alternate"):
        read_sgf(path)
    path.write_text("no game at all")
    with pytest.raises(SgfError, match=r"a\.sgf"):
        read_sgf(path)
    assert issubclass(SgfError, EngineError)


def test_one_game_in_ten_is_held_out_by_its_moves_alone():
    games = [Game(19, GAME.moves + chr(97 + a) + chr(97 + b)) for a in range(19) for b in range(19)]
    out = [game for game in games if held_out(game)]
    assert 15 < len(out) < 60
    for game in out:
        assert int(hashlib.sha1(game.moves.encode()).hexdigest(), 16) % 10 == 0
        assert held_out(Game(19, game.moves + "zzzz", komi=0.5, result=1))  # its twin with passes at the end
    training = list(Selection().select(games))
    evaluation = list(Selection(held_out=True).select(games))
    assert not {g.moves for g in training} & {g.moves for g in evaluation}


def turned(game, symmetry):
    letters = [chr(97 + a % 19) + chr(97 + a // 19) for a in range(361)] + ["zz"]
    target = symmetry_table(19, 19, symmetry)
    return Game(19, "".join(letters[target[action]] for action in game.actions()))


def test_duplicates_and_excluded_games_are_known_in_every_orientation(tmp_path):
    game = next(g for i in range(99) if not held_out(g := Game(19, GAME.moves + chr(97 + i % 19) + "a" + "cc" * 3)))
    for symmetry in range(8):
        assert opening_key(turned(game, symmetry)) == opening_key(game)
    copies = [g for s in range(8) if not held_out(g := turned(game, s))]
    assert len(copies) > 1 and len(list(Selection().select(copies))) == 1
    path = tmp_path / "x.sgf"
    moves = "".join(f";{'BW'[i % 2]}[{game.moves[2 * i : 2 * i + 2]}]" for i in range(game.n_moves))
    path.write_text(f"(;GM[1]SZ[19]{moves})")
    assert list(Selection.excluding([path]).select(copies)) == []
