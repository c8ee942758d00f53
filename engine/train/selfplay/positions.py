"""From games with search to training records: every position with its visits and the result, in shards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.board.planes import ENCODINGS, encode_into

from ..plane_store import store_planes
from ..shards import Header, ShardWriter, game_number, make_header
from ..targets import pack_policy
from .game import PlayedGame, begin
from .store import letters

TARGETS = ("search_policy", "z", "played", "result", "final_score")
FOLDER = "shards"


def write_positions(folder: Path, encoding: str, games: Sequence[PlayedGame], part: int, net: str) -> int:
    """Write the positions of a part's games, one shard a board size; a shard that is there already is kept.

    Returns: the number of positions.
    """
    header = make_header(encoding, TARGETS, teacher=net)
    total = 0
    for size in sorted({game.plan.size for game in games}):
        records = np.concatenate([records_of(game, header) for game in games if game.plan.size == size])
        total += len(records)
        writer = ShardWriter(folder / FOLDER, header, size, capacity=max(1, len(records)), part=f"{part}/selfplay")
        if not writer.number:  # else a run was killed after this shard and before its part's line
            writer.append(records, len(records))
    return total


def records_of(game: PlayedGame, header: Header) -> NDArray[Any]:
    """Return the records of one game's positions, those that were searched."""
    turns = [turn for turn in game.turns if turn.policy is not None]
    size = game.plan.size
    records = header.empty(size, len(turns))
    spatial = np.zeros((len(turns), ENCODINGS[header.encoding][0], size, size), np.float32)
    globals_ = np.zeros((len(turns), ENCODINGS[header.encoding][1]), np.float32)
    position, row = begin(game.plan), 0
    for ply, turn in enumerate(game.turns):
        if turn.policy is not None:
            encode_into(position, header.encoding, spatial[row], globals_[row])
            record = records[row]
            record["search_policy"] = pack_policy(turn.policy)
            record["z"] = record["result"] = game.outcome(turn.color)
            record["played"], record["ply"] = turn.action, ply
            if game.margin is not None:
                record["final_score"] = game.margin if turn.color == 1 else -game.margin
            row += 1
        position.play(turn.action)
    records["globals"] = globals_
    records["game"] = game_number(letters(game))
    if len(turns):
        store_planes(records, header.encoding, spatial)
    return records
