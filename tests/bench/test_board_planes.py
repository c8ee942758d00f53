"""The encoding part of the board benchmark: its games are games, and its table has its lines."""

import argparse

import pytest

from engine.bench import board_planes, records
from engine.board.position import Position
from engine.errors import SgfError
from engine.sgf import letters_to_actions


def options(*words):
    parser = argparse.ArgumentParser()
    board_planes.add_options(parser)
    return parser.parse_args(words)


@pytest.mark.parametrize("number", range(len(records.GAMES)))
def test_the_games_are_legal(number):
    position = Position(19, rules="chinese-ogs")
    for action in letters_to_actions(records.GAMES[number]):
        position.play(action, allow_superko=True)
    assert position.n_moves > 150


def test_actions_are_read_from_pairs_of_letters():
    assert letters_to_actions("aasszz") == [0, 360, 361]
    for text in ("aat", "a", "ta", "A1"):
        with pytest.raises(SgfError):
            letters_to_actions(text)


def test_games_of_a_table_are_read(tmp_path):
    table = tmp_path / "games.tsv"
    row = "19\t6.5\t\tB+R\t1900\t{}\t\tB\t{}"
    table.write_text("header\n" + row.format("", "aabb") + "\n" + row.format("dd", "aa") + "\n", encoding="utf-8")
    assert records.read_games(table, 5) == [[0, 20]]
    figures = board_planes.planes_figures(options("--records", str(table), "--oracles", "/nowhere"), rounds=1)
    assert [figure.unit for figure in figures] == ["µs"] * 3
    assert all(figure.value > 0 for figure in figures)
    assert figures[0].plain is None


def test_the_slow_encoder_is_found_in_the_source_tree(pytestconfig):
    folder = pytestconfig.rootpath / "tests" / "oracles"
    game = letters_to_actions(records.GAMES[0])[:60]
    assert board_planes.plain_mean([game], folder) > 100
