"""A net that chooses moves but judges nothing: play, passes and answers, alone and with a second net's value."""

import re

import numpy as np
import pytest

from engine.board.position import Position
from engine.evaluator_fakes import HashEvaluator
from engine.player.policy_only import is_eye, moves_to_play, open_points, useful_moves


class MovesAlone(HashEvaluator):
    """A policy hashed from the position, without a value, and maps of two later moves."""

    policy_only = True
    name = "moves"

    def evaluate(self, spatial, globals_, *, ownership=False):
        from dataclasses import replace

        answer = super().evaluate(spatial, globals_)
        points = answer.policy_logits[:, :-1]
        answer.policy_logits[:, -1] = -20
        return replace(
            answer, value=np.zeros_like(answer.value), lead=None, score_mean=None, score_stdev=None, no_result=None,
            later_logits=np.stack([points[:, ::-1], points[:, ::-1] * 2], axis=1))  # fmt: skip


@pytest.fixture
def client(make_client):
    client = make_client(MovesAlone("darkforest-25"))
    client.ok("boardsize 7")
    return client


def policy_of(client):
    """Return {vertex: probability} of kata-raw-nn."""
    rows = client.ok("kata-raw-nn 0").split("\n")[2:9]
    return {f"{'ABCDEFG'[x]}{7 - y}": float(v) for y, row in enumerate(rows) for x, v in enumerate(row.split())}


def test_it_plays_its_likeliest_move(client):
    for n in range(20):
        policy = {vertex: share for vertex, share in policy_of(client).items() if share == share}
        move = client.ok(f"genmove {'bw'[n % 2]}")
        assert move == max(policy, key=policy.get)


@pytest.mark.parametrize("rules", ["chinese", "japanese", "tromp-taylor", "aga-button"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_game_against_itself_ends_with_two_passes_and_living_stones(make_client, rules, seed):
    client = make_client(MovesAlone("darkforest-25", seed=seed))
    client.ok("boardsize 7")
    client.ok(f"kata-set-rules {rules}")
    moves = []
    while moves[-2:] != ["pass", "pass"]:
        moves.append(client.ok(f"genmove {'bw'[len(moves) % 2]}"))
        assert len(moves) < 400 and moves[-1] != "resign"
    board = client.game.position.board()
    assert (board == 1).any() or (board == 2).any()
    assert re.fullmatch(r"[BW]\+[\d.]+|0", client.ok("final_score"))


def test_analysis_invents_no_figures(client):
    client.send("lz-analyze b 5\n")
    line = client.read_until(r"^info [^\n]*\n").split("\n")[-2]
    client.send("\n")
    client.read_until(r"\n")
    assert re.fullmatch(r"(info move [A-G][1-7] visits 0 prior \d+ order \d+ pv [A-G][1-7] ?)+", line + " ")
    shares = [int(n) for n in re.findall(r"prior (\d+)", line)]
    assert shares == sorted(shares, reverse=True) and len(shares) > 3
    client.send("kata-analyze 5 rootInfo true ownership true\n")
    line = client.read_until(r"^info [^\n]*\n").split("\n")[-2]
    client.send("\n")
    client.read_until(r"\n")
    assert "winrate" not in line and "score" not in line and "utility" not in line and "ownership" not in line
    assert line.endswith("rootInfo visits 1")
    answer = client.ok("kata-genmove_analyze b 5")
    assert "winrate" not in answer and "play " in answer
    raw = client.ok("kata-raw-nn 0")
    assert raw.startswith("symmetry 0\npolicy\n") and "white" not in raw


def test_moves_left_out_of_an_analysis_stay_out(client):
    best = max(policy_of(client).items(), key=lambda item: item[1])[0]
    client.send(f"lz-analyze b 5 avoid b {best} 1\n")
    line = client.read_until(r"^info [^\n]*\n")
    client.send("\n")
    client.read_until(r"\n")
    assert best not in re.findall(r"move (\S+)", line)


def test_next_moves_are_listed_one_move_a_line(client):
    client.ok("play b D4")
    lines = client.ok("keisei-next_moves 3").split("\n")
    assert [line.split()[:2] for line in lines] == [["move", "1"], ["move", "2"], ["move", "3"]]
    for line in lines:
        vertices, shares = line.split()[2::2], [float(x) for x in line.split()[3::2]]
        assert len(vertices) == 3 and "D4" not in vertices and shares == sorted(shares, reverse=True)
    assert lines[1].split()[2] == lines[2].split()[2]
    assert client.error("keisei-next_moves 0") == client.error("keisei-next_moves x") == "syntax error"
    assert client.error("keisei-next_moves 1 2") == "syntax error"


def test_other_nets_list_one_move(make_client):
    client = make_client(HashEvaluator())
    client.ok("boardsize 5")
    assert client.ok("keisei-next_moves").count("\n") == 0


def board_of(*rows):
    """Return a position from rows of .XO, the top first, Black to move."""
    position = Position(len(rows[0]), len(rows), rules="chinese", komi=0)
    text = "".join(rows)
    position.set_up([(".XO".index(c), i) for i, c in enumerate(text) if c != "."], to_play=1)
    return position


def test_eyes():
    position = board_of(".XX..", "X.X..", "XXO..", ".X.O.", "X....")
    board = position.board().ravel().tolist()
    assert is_eye(board, (5, 5), 0, 1) and is_eye(board, (5, 5), 6, 1) and is_eye(board, (5, 5), 15, 1)
    assert not is_eye(board, (5, 5), 0, 2) and not is_eye(board, (5, 5), 20 + 1, 1)
    false = board_of(".XO..", "X.X..", "OX.X.", "..X..", ".....")
    board = false.board().ravel().tolist()
    assert not is_eye(board, (5, 5), 6, 1)  # two hostile diagonals
    assert is_eye(board, (5, 5), 12, 1)
    edge = board_of(".XO..", "XO...", ".....", ".....", ".....")
    assert not is_eye(edge.board().ravel().tolist(), (5, 5), 0, 1)  # one is too many in the corner


def test_a_game_is_over_when_no_border_is_open():
    open_border = board_of(".X.O.", ".X.O.", ".X.O.", ".XXO.", ".XOO.")
    assert open_points(open_border) == {2, 7, 12}
    ranked = list(range(26))
    assert moves_to_play(open_border, 1, ranked)
    closed = board_of("..XO.", "..XO.", "..XO.", "..XO.", "..XO.")
    closed.play(25)
    closed.play(25)
    assert open_points(closed) == set() and useful_moves(closed, 1, ranked)
    assert moves_to_play(closed, 1, ranked) == [] and moves_to_play(closed, 2, ranked) == []
    closed.set_rules("tromp-taylor")
    assert moves_to_play(closed, 1, ranked) == [] and moves_to_play(closed, 2, ranked)  # White is behind
    assert moves_to_play(Position(5), 1, ranked)


def test_inside_the_search_it_has_the_other_nets_value(make_client):
    from engine.evaluator_fakes import TwoStepEvaluator
    from engine.nn.two_nets import TwoNets

    moves, judge = TwoStepEvaluator(MovesAlone("darkforest-25")), TwoStepEvaluator(HashEvaluator(seed=3))
    client = make_client(TwoNets(moves, judge))
    client.ok("boardsize 7")
    client.ok("kata-set-param search.move_count 4")
    client.ok("kata-set-param player.visits 60")
    answer = client.ok("kata-genmove_analyze b 1000")
    assert "winrate" in answer and 1 < len(re.findall("info move", answer)) <= 4
    assert client.ok("kata-raw-nn 0").count("whiteWin") == 1
    assert client.ok("keisei-next_moves").count("\n") == 2


def test_displays_and_servers_lines_without_a_judgment(client):
    import json

    from engine.gtp.commands.displays import ANALYZE_COMMANDS

    client.ok("genmove b")
    client.controller.live = [].append
    client.ok("keisei-settings live_graphics 1")
    client.ok("genmove w")
    for line in ANALYZE_COMMANDS:
        command = line.split("/", 2)[2].replace("%c", "b").replace("%p", "C3")
        if command.startswith("keisei-ownership"):
            assert client.error(command) == "this net does not judge points"
        else:
            text = client.ok(command)
            assert "%" not in text or "next_moves" in command
    client.send("cgos-genmove_analyze b\n")
    header, line, play = client.reply().split("\n")
    data = json.loads(line)
    assert header == "=" and play.startswith("play ") and "winrate" not in data and "ownership" not in data
    assert data["moves"] and "winrate" not in data["moves"][0] and data["moves"][0]["pv"]
