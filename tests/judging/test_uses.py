"""One position has one answer wherever it is asked, before and after the final passes: GTP, command line, Python.

A `keisei gtp` of its own is asked about all positions with known answers and about real games.
"""

from __future__ import annotations

import doctest
import json
import subprocess
from pathlib import Path

import child
from judge_checks import position_of
from judged_positions import CASES

from engine import cli
from engine.board.vertex import format_vertex
from engine.sgf import from_position, write

ROOT = Path(__file__).resolve().parent.parent.parent
LISTS = ("alive", "dead", "seki", "black_territory", "white_territory", "dame")
ASKED = ["final_score", *(f"final_status_list {word}" for word in LISTS), "keisei-judge"]
COUNTED = [case for case in CASES if case.area is not None]


def gtp(lines: list[str]) -> list[str]:
    """The replies of one engine to all these lines; a failed one fails the test."""
    command, environment = child.python("-m", "engine", "gtp", "--set", "net.threads=1")
    done = subprocess.run(
        command, env=environment, input="\n".join([*lines, "quit"]) + "\n", text=True, capture_output=True,
        timeout=600, check=True,
    )  # fmt: skip
    replies = done.stdout.split("\n\n")[: len(lines)]
    assert len(replies) == len(lines) and all(reply.startswith("=") for reply in replies), done.stdout[-500:]
    return [reply[1:].strip() for reply in replies]


def answers(games: list[list[str]]) -> list[tuple[list[str], list[str]]]:
    """For each game, given as commands, what is answered before and after both sides pass."""
    lines, starts = [], []
    for game in games:
        starts.append(len(lines) + len(game))
        lines += [*game, *ASKED, "play b pass", "play w pass", *ASKED]
    replies, n = gtp(lines), len(ASKED)
    return [(replies[at : at + n], replies[at + n + 2 : at + 2 * n + 2]) for at in starts]


def same_before_and_after(before: list[str], after: list[str]) -> None:
    assert before[:-1] == after[:-1]
    first, second = json.loads(before[-1]), json.loads(after[-1])
    moves = {"moves", "to_play"}
    assert {k: v for k, v in first.items() if k not in moves} == {k: v for k, v in second.items() if k not in moves}
    assert second["moves"] == first["moves"] + 2


def test_every_position_has_its_answer_over_gtp(capsys, tmp_path):
    asked = [(case, rules) for case in COUNTED for rules in ("chinese", "japanese")]
    games = []
    for case, rules in asked:
        position = position_of(case.rows, rules)
        stones = " ".join(
            f"{'bw'[color - 1]} {format_vertex(action, position.width, position.height)}"
            for action, color in enumerate(position.board().ravel().tolist())
            if color
        )
        games.append([f"boardsize {position.width}", f"kata-set-rules {rules}", "komi 0", f"set_position {stones}"])
    for (case, rules), (before, after) in zip(asked, answers(games), strict=True):
        same_before_and_after(before, after)
        score = case.area if rules == "chinese" else case.territory
        text = "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"
        assert before[0] == text, (case.name, rules)
        position = position_of(case.rows, rules)
        for vertices, listed in ((case.dead, before[2]), (case.seki, before[3])):
            named = {stone for vertex in vertices.split() for stone in position.chain(at(vertex, position))}
            assert set(listed.split()) == {format_vertex(a, position.width, position.height) for a in named}, case.name
    path = tmp_path / "last.sgf"
    path.write_text(write(from_position(position)), encoding="utf-8")
    assert cli.main(["judge", str(path), "--json", "--set", "net.threads=1"]) == 0
    said, reply = json.loads(capsys.readouterr().out), json.loads(before[-1])
    assert {key: said[key] for key in ("score", "chains", "dame", "open")} == {
        key: reply[key] for key in ("score", "chains", "dame", "open")
    }


def at(vertex, position):
    from engine.board.vertex import parse_vertex

    return parse_vertex(vertex, position.width, position.height)


def test_final_passes_change_nothing_in_real_games(shared_dir, tmp_path):
    from engine.evaluate.thresholds import validation_games
    from engine.judge.board import without_final_passes
    from engine.train.judged import replay_judged

    games = []
    for number, game in enumerate(validation_games(shared_dir / "data" / "judged" / "kgs_19x19.tsv.xz", 20, 30)):
        path = tmp_path / f"{number}.sgf"
        path.write_text(write(from_position(without_final_passes(replay_judged(game)))), encoding="utf-8")
        games.append([f"loadsgf {path}"])
    assert len(games) == 30
    for before, after in answers(games):
        same_before_and_after(before, after)


def test_single_points_and_the_estimate():
    case = next(case for case in CASES if case.name == "seki with a dame outside")
    position = position_of(case.rows, "chinese")
    stones = " ".join(
        f"{'bw'[color - 1]} {format_vertex(action, 9, 9)}"
        for action, color in enumerate(position.board().ravel().tolist())
        if color
    )
    points = {"f9": "seki", "b9": "seki", "e7": "dame", "g9": "alive", "h9": "white_territory", "a1": "black_territory"}
    replies = gtp(["boardsize 9", "kata-set-rules chinese", "komi 0.5", f"set_position {stones}",
                   *(f"final_status {point}" for point in points), "estimate_score", "final_score"])  # fmt: skip
    assert replies[4:-2] == list(points.values())
    assert replies[-2] == "W+10.5 (lower bound: W+11.5, upper: W+9.5)" and replies[-1] == "W+10.5"


def test_the_python_of_the_manual_runs():
    failed, tried = doctest.testfile(str(ROOT / "docs" / "judge.md"), module_relative=False, verbose=False)
    assert tried >= 5 and failed == 0
