"""Helpers of the net tests: golden answers of KataGo, positions from them, nets by their short name."""

import gzip
import json

import numpy as np
import pytest
import torch

from engine.board.planes import encode_position, transform_ownership, transform_policy
from engine.board.position import BLACK, WHITE, Position
from engine.board.vertex import parse_vertex

torch.set_num_threads(1)  # small tensors; threads only wait for one another
NETS = {"b6": "g170-b6c96", "b7tf": "b7c96h3tfrs", "b7kv": "b7c96h6kv3", "b10": "b10c384h6nbttflrs"}


@pytest.fixture(scope="session")
def net_file(shared_dir):
    """Return a function from a short name in NETS to the file."""
    return lambda key: shared_dir / "nets" / f"{NETS[key]}.bin.gz"


@pytest.fixture(scope="session")
def golden(shared_dir):
    """Return a function from a short name to the golden records of that net."""

    def read(key):
        with gzip.open(shared_dir / "data" / "golden" / f"raw_{key}.jsonl.gz", "rt", encoding="ascii") as file:
            return [json.loads(line) for line in file]

    return read


def position_of(record):
    """Replay a golden record. Moves that its rules forbid were played all the same."""
    size = record["size"]
    position = Position(size, rules=record["rules"], komi=record["komi"])
    if record["handicap"]:
        stones = [(BLACK, parse_vertex(v, size, size)) for v in record["handicap"]]
        position.set_up(stones, to_play=WHITE)
    for color, vertex in record["moves"]:
        position.play(parse_vertex(vertex, size, size), BLACK if color == "B" else WHITE, tolerant=True)
    return position


class Judge:
    """Compares an evaluator's answers with golden records and keeps the largest difference of each quantity."""

    def __init__(self, evaluator):
        self.evaluator = evaluator
        self.worst = {}

    def compare(self, record):
        size, symmetry, raw = record["size"], record["symmetry"], record["raw"]
        position = position_of(record)
        to_play = BLACK if record["to_play"] == "B" else WHITE
        spatial, globals_ = encode_position(
            position,
            self.evaluator.encoding,
            to_play=to_play,
            symmetry=symmetry,
            pass_alive_under_suicide=self.evaluator.net.spec["pass_alive_under_suicide"],
        )
        out = self.evaluator.evaluate(spatial[None], globals_[None], ownership=True)
        white = 1.0 if to_play == WHITE else -1.0
        logits = transform_policy(out.policy_logits[0], size, size, symmetry, inverse=True)
        ownership = white * transform_ownership(out.ownership[0], size, size, symmetry, inverse=True)
        golden_policy = np.array([*raw["policy"], raw["policyPass"]], dtype=float)  # None becomes nan
        legal = ~np.isnan(golden_policy)
        policy = np.exp(logits[legal] - logits[legal].max())
        policy /= policy.sum()
        square = out.score_mean[0] ** 2 + out.score_stdev[0] ** 2
        winrate = (1 - out.no_result[0] + white * out.value[0]) / 2
        differences = {
            "policy": np.abs(policy - golden_policy[legal]).max(),
            "winrate": winrate - raw["whiteWin"],
            "no_result": out.no_result[0] - raw["noResult"],
            "lead": white * out.lead[0] - raw["whiteLead"],
            "score_mean": white * out.score_mean[0] - raw["whiteScoreSelfplay"],
            "score_square": (square - raw["whiteScoreSelfplaySq"]) / (1 + raw["whiteScoreSelfplaySq"]),
            "var_time": out.var_time_left[0] - raw["varTimeLeft"],
            "value_error": out.shortterm_value_error[0] - raw["shorttermWinlossError"],
            "score_error": out.shortterm_score_error[0] - raw["shorttermScoreError"],
            "ownership": np.abs(ownership - np.array(raw["whiteOwnership"], dtype=float)).max(),
        }
        for key, value in differences.items():
            self.worst[key] = max(self.worst.get(key, 0.0), abs(float(value)))


@pytest.fixture(scope="session")
def judge():
    """Return the Judge class."""
    return Judge
