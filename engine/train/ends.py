"""What is known of the end of a game: its score, and who owns each point.

A judged record says who owns what. Of other records it is known where the game was played out: when every stone on the
board is taken to be alive, the count gives exactly the recorded margin, so nothing was removed as dead.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError

from .records import BLACK, Game, RecordError
from .samples import Sample, replay

if TYPE_CHECKING:
    from engine.board.position import Position

MOST_NEUTRAL = 0.15  # of the points of a game that was played out; a board with more was left unfinished


def final_score(sample: Sample, to_play: int) -> float:
    """Return the points by which to_play won the record, with the sample's komi; NaN where that is not known.

    It is known where the result was counted, by the same kind of rules (area or territory) as the sample's.
    """
    game = sample.game
    if game.margin is None or game.komi is None or not scoring_of(game.rules):
        return float("nan")
    if scoring_of(game.rules) != scoring_of(sample.rules):
        return float("nan")
    black = game.margin + game.komi - sample.komi
    return black if to_play == BLACK else -black


def final_owners(game: Game) -> NDArray[np.int8] | None:
    """Return who owns each point [P] at the end, 127 Black, -127 White, 0 neutral; None where that is not known."""
    if game.ownership:
        letters = np.frombuffer(game.ownership.encode("ascii"), np.uint8)
        owners: NDArray[np.int8] = 127 * ((letters == ord("B")).astype(np.int8) - (letters == ord("W")).astype(np.int8))
        return owners
    if game.margin is None or game.komi is None or not scoring_of(game.rules):
        return None
    return _played_out(game)


@lru_cache(maxsize=4096)
def _played_out(game: Game) -> NDArray[np.int8] | None:
    from engine.board.scoring import score, tromp_taylor

    try:
        position = end_of(game)
        counted = score(position)
        owners, _ = tromp_taylor(position)
    except EngineError:
        return None
    flat = owners.ravel()
    if counted != game.margin or (flat == 0).sum() > MOST_NEUTRAL * flat.size:
        return None
    return np.where(flat == BLACK, 127, np.where(flat == 0, 0, -127)).astype(np.int8)


def end_of(game: Game) -> Position:
    """Return the position after the last move, under the record's rules and komi.

    Raises:
        RecordError: a move is illegal, or the rules are not known.
    """
    rules = rules_of(game.rules)
    if not rules or game.komi is None:
        raise RecordError(f"{game.source}: rules {game.rules!r} or komi are not known")
    return replay(Sample(game, game.n_moves, 0, False, rules, game.komi, 0))


@cache
def rules_of(text: str) -> str:
    """Return the rule set that a record's rules name, "" if they are not known."""
    from engine.sgf import recognise_rules

    plain = {"area": "chinese", "territory": "japanese"}.get(text.strip().lower(), text)
    found = recognise_rules(plain)
    return found.to_json() if found else ""


@cache
def scoring_of(text: str) -> str:
    """Return "AREA" or "TERRITORY" for rules as records or plans name them; "" if they are not known."""
    from engine.board.rules import Rules

    rules = rules_of(text)
    return Rules.from_json(rules).scoring if rules else ""
