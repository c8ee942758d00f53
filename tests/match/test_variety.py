"""Openings: other ones in each game, the same ones for a seed."""

import pytest

from engine import factory
from engine.player.net import ReadyNet
from engine.player.thinking import Wish

PLIES = 8


def openings(seed, games, *, anew=False):
    """Return the first moves of some games that one player plays against itself."""
    values = {"player": {"visits": 6, "seed": seed, "resign": False}, "search": {"batch_size": 1}}
    settings = factory.make_settings(factory.preset("gtp"), values)
    net = ReadyNet(factory.load("fake:hash", settings.net))
    player = factory.make_player(settings, net)
    player.new_board(9, 9)
    found = []
    for _ in range(games):
        player.clear_board()
        for _ in range(PLIES):
            player.genmove(player.to_play, Wish())
            if anew:  # as controllers do that send the whole game before each move
                moves = player.game.position.moves
                player.clear_board()
                for color, action in moves:
                    player.play(color, action)
        found.append(tuple(player.game.position.moves))
    return found


@pytest.mark.parametrize("anew", [False, True])
def test_a_seed_repeats_every_game_and_another_seed_plays_otherwise(anew):
    first = openings(5, 3, anew=anew)
    assert len(set(first)) == 1 and len(first[0]) == PLIES
    assert openings(5, 1, anew=anew) == first[:1]
    assert openings(6, 1, anew=anew) != first[:1]


def test_without_a_seed_games_differ():
    assert len(set(openings(None, 6))) >= 5
