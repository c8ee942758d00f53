"""The ladder reader: hand-made ladders, and random and professional games against the slow reader."""

import ladder_oracle
import numpy as np
import pytest

from engine.bench.records import GAMES
from engine.board import planes
from engine.board.position import Position
from engine.sgf import letters_to_actions

COLORS = {".": 0, "X": 1, "O": 2}


def position_of(text):
    """Set up rows of `.`, `X` (Black), `O` (White)."""
    rows = text.split()
    position = Position(len(rows[0]), len(rows), rules="tromp-taylor")
    position.set_up([(COLORS[c], i) for i, c in enumerate("".join(rows)) if c != "."])
    return position


def points(board):
    """The set of (row, column) where a map is not zero."""
    return {(int(y), int(x)) for y, x in np.argwhere(board)}


def compare(position):
    """Compare all ladders of a position with the oracle; counts of both, or None if undecided."""
    ko = position.ko_action
    ko = None if ko is None else divmod(ko, position.width)
    try:
        caught, against_black, against_white = ladder_oracle.read_board(position.board().tolist(), ko)
    except ladder_oracle.Undecided:
        return None
    got = planes.read_ladders(position)
    assert points(got[0]) == caught
    assert points(got[1]) == against_black
    assert points(got[2]) == against_white
    return len(caught), len(against_black) + len(against_white)


def test_a_ladder_runs_until_a_breaker_stands_in_its_way():
    """White's stone in the corner of a classic ladder falls; a white stone ahead on the diagonal saves it."""
    board = """
    .........
    .........
    ...X.....
    ..XO.....
    ..X......
    .........
    .........
    .........
    .........
    """
    caught, _, works = planes.read_ladders(position_of(board))
    broken = board.split()
    broken[6] = "......O.."
    free, _, none = planes.read_ladders(position_of(" ".join(broken)))
    assert points(caught) == {(3, 3)}
    assert points(works) == {(3, 4)}
    assert not free.any() and not none.any()


def test_both_colors_are_read_whoever_is_to_move():
    position = position_of("XO... XX... ..... ...OO ...XO")
    for color in (1, 2):
        position.to_play = color
        assert points(planes.read_ladders(position)[0]) == {(0, 1), (4, 3)}


def test_a_chain_in_atari_escapes_by_capturing():
    """Black's stone beside White's corner holds it as long as it is not in atari itself."""
    held = position_of("OX... ..... X.... ..... .....")
    freed = position_of("OXO.. ..... X.... ..... .....")
    assert (0, 0) in points(planes.read_ladders(held)[0])
    assert (0, 0) not in points(planes.read_ladders(freed)[0])
    assert compare(held) and compare(freed)


def test_kos_are_read_as_the_slow_reader_reads_them():
    """Small crowded boards, so that kos stand on the board and arise inside readings."""
    rng = np.random.default_rng(5)
    kos = 0
    while kos < 12:
        position = random_game(rng, 4, 4, int(rng.integers(10, 40)))
        if position.ko_action is not None:
            kos += 1
            compare(position)


def random_game(rng, width, height, length):
    """Play random legal moves."""
    position = Position(width, height, rules="tromp-taylor")
    for _ in range(length):
        legal = np.flatnonzero(position.legal_mask()[:-1])
        if len(legal) == 0:
            break
        position.play(int(rng.choice(legal)))
    return position


@pytest.mark.parametrize(
    ("width", "height", "games"),
    [(2, 2, 20), (3, 3, 80), (5, 5, 300), (4, 7, 200), (7, 7, 200), (9, 9, 150), (13, 9, 40), (19, 19, 12)],
)
def test_random_positions_agree_with_the_slow_reader(width, height, games):
    rng = np.random.default_rng(width * 100 + height)
    caught = works = undecided = 0
    for _ in range(games):
        found = compare(random_game(rng, width, height, int(rng.integers(4, width * height * 2))))
        if found is None:
            undecided += 1
        else:
            caught += found[0]
            works += found[1]
    assert undecided <= games // 4
    if width * height >= 25:
        assert caught > games and works > games // 4


def test_professional_games_agree_with_the_slow_reader(professional_games):
    caught = compared = 0
    for number, game in enumerate(professional_games(12, 40)):
        position = Position(19)
        for n, action in enumerate(game):
            position.play(action)
            if n % 29 == number % 29:
                found = compare(position)
                if found is not None:
                    compared += 1
                    caught += found[0]
    assert compared > 50
    assert caught > 100


def test_remembered_readings_change_nothing(professional_games):
    """Planes 14..17 move by move are the same with a filled table of readings and with an empty one."""
    for game in professional_games(3, 300):
        position = Position(19)
        planes.clear_ladder_cache()
        kept = []
        for action in game:
            position.play(action)
            kept.append(planes.encode_position(position, "katago-v7")[0][14:18].copy())
        position = Position(19)
        for action, expected in zip(game, kept, strict=True):
            position.play(action)
            planes.clear_ladder_cache()
            np.testing.assert_array_equal(planes.encode_position(position, "katago-v7")[0][14:18], expected)


def test_a_game_encoded_move_by_move_reads_every_board_once():
    """The boards one and two moves ago, with the kos that stood on them, are found in the table of readings."""
    positions = kos = 0
    planes.clear_ladder_cache()
    for moves in GAMES[:4]:
        position = Position(19, rules="chinese")
        for action in letters_to_actions(moves):
            position.play(action)
            kos += position.ko_action is not None
            planes.encode_position(position, "katago-v7")
            positions += 1
    looked_up, read = planes.ladder_cache_counts()
    assert kos > 20
    assert positions - 20 <= read <= positions + 2  # games share their first moves; two may lose their place to another
    assert looked_up > 1.9 * positions
