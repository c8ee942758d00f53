"""Settings of the player: how long it thinks, when it passes and resigns, which rules it starts with."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config import setting


@dataclass(frozen=True, slots=True)
class PlayerSettings:
    """Section `player`."""

    visits: int | None = setting(
        None, "Visits of the tree after which a move is chosen; none: as many as the time allows.", unit="visits", low=1
    )
    time: float | None = setting(
        None,
        "Longest thought about a move, 0: every move at once; none: the clock decides.",
        unit="s",
        low=0.0,
        high=1e6,
    )
    default_visits: int = setting(
        400, "Visits a move when neither visits nor time is set and the controller gave no clock.", unit="visits", low=1
    )
    lag: float = setting(
        0.15, "Time kept back at each move for the way to the server and back.", unit="s", low=0.0, high=60.0
    )
    attentive: bool = setting(
        True,
        "With a clock, spend more time on unclear moves and stop when the move cannot change any more; else give every "
        "move its even share.",
    )
    rules: str = setting("chinese-ogs", "Rules until the controller names others: a name or KataGo's JSON object.")
    seed: int | None = setting(
        None, "Seed of everything random, for games that repeat exactly; none: another one each game.", low=0
    )
    strict_play: bool = setting(False, "Refuse a superko repeat in `play`; else it is played, with a note on stderr.")
    ponder: bool = setting(False, "Think on the opponent's time too.")
    ponder_visits: int = setting(
        100_000, "Visits of the tree at which thinking on the opponent's time stops.", unit="visits", low=1
    )
    resign: bool = setting(True, "Resign hopeless games.")
    resign_winrate: float = setting(0.03, "A move below this winrate counts as hopeless.", low=0.0, high=0.5)
    resign_lead: float = setting(
        5.0, "Hopeless only if this far behind, where the net tells.", unit="points", low=0.0, high=1000.0
    )
    resign_moves: int = setting(4, "Hopeless moves in a row before resigning.", unit="moves", low=1)
    resign_handicap: float = setting(
        0.35,
        "Never resign a handicap game before so many moves, as a share of the board's points.",
        low=0.0,
        high=10.0,
    )
    friendly_pass: bool = setting(
        True,
        "Pass when the board is settled and a pass costs nothing, and after the opponent's pass when that wins; else "
        "only when the search passes.",
    )
    clean_up: bool = setting(
        True,
        "Where all stones on the board count as alive, capture the opponent's dead stones before passing even when "
        "the game is won without that.",
    )
    avoid_repetition: bool = setting(
        True, "Choose no move that repeats a whole-board position or is suicide, even where the rules allow it."
    )
    analysis_visits: int = setting(
        1_000_000, "Visits of the tree at which an analysis rests until it is ended.", unit="visits", low=1
    )
