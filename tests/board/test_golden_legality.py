"""The legality answers of KataGo on 400 long random games, 2x2 to 7x7, under every named rule set, superko included."""

import dataclasses
import gzip
import json

import pytest

from engine.board.position import Position
from engine.board.vertex import parse_color, parse_vertex


@pytest.fixture(scope="module")
def games(shared_dir):
    path = shared_dir / "data" / "golden" / "legal_small_boards.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no golden data: {path.name} is absent")
    with gzip.open(path, "rt", encoding="ascii") as lines:
        return [json.loads(line) for line in lines]


def test_every_legality_bit_agrees(games):
    wrong = []
    for number, game in enumerate(games):
        size = game["size"]
        position = Position(size, rules=game["rules"], komi=game["komi"])
        position.set_up([(1, parse_vertex(vertex, size, size)) for vertex in game["handicap"]])
        for color, vertex in game["moves"]:
            position.play(parse_vertex(vertex, size, size), parse_color(color), tolerant=True)
        expected = [int(p is not None) for p in game["raw"]["policy"]]
        answer = position.legal_mask(parse_color(game["to_play"]))
        if list(answer[:-1]) != expected or not answer[-1]:
            wrong.append((number, game["rules"], size))
    assert len(games) == 400
    assert wrong == []


def test_the_golden_games_exercise_superko_and_suicide(games):
    """The comparison above would be idle if no answer hung on superko or on suicide."""
    superko = suicide = 0
    for game in games:
        size = game["size"]
        position = Position(size, rules=game["rules"])
        for color, vertex in game["moves"]:
            position.play(parse_vertex(vertex, size, size), parse_color(color), tolerant=True)
        superko += sum(position.breaks_superko(action) for action in range(size * size))
        allowed = position.legal_mask().sum()
        position.set_rules(dataclasses.replace(position.rules, suicide=not position.rules.suicide))
        suicide += position.legal_mask().sum() != allowed
    assert superko >= 2
    assert suicide > 50
