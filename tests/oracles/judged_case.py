"""What a position with a known answer is made of, for the tests of the judge; the positions are in positions_*.py.

A position has a board (X Black, O White, . empty), the chains that a person would name with their status, the score
under area and under territory rules (komi 0, no prisoners), and the reason. Stones that no list names live. Open
positions say who settles what where, and the score only where the rules say what it is if nobody does.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One position. Vertices name a stone of a chain, or a point."""

    name: str
    rows: tuple[str, ...]
    reason: str
    dead: str = ""
    seki: str = ""
    area: float | None = None
    territory: float | None = None
    dame: str = ""  # all of them, those of sekis left out
    filled: str = ""  # points of a side that it must fill in the end
    open: str = ""  # a stone or point of what is open; empty: nothing is, but dame under area rules
    black_move: str = ""  # settles it for Black
    white_move: str = ""
    j89: bool = False  # a kind that the life-and-death examples of the Japanese rules of 1989 treat
    gnugo: bool = False  # GNU Go 3.8 at level 10 names the same dead stones


def corner(*rows: str) -> tuple[str, ...]:
    """A 9x9 board: the problem in the 6 by 5 points of the upper left, a White wall with three eyes, Black below."""
    problem = [*rows, *["OOOOOO"] * (5 - len(rows))]
    walls = ("O.O", "OOO", "O.O", "OOO", "O.O")
    top = [row + wall for row, wall in zip(problem, walls, strict=True)]
    return side(*top, "OOOOOOOOO")


def side(*rows: str) -> tuple[str, ...]:
    """A 9x9 board: the problem in the six rows above, a Black wall with eyes in the three rows below."""
    assert len(rows) == 6
    return (*rows, "XXXXXXXXX", "XXXXXXXXX", ".X.X.X.X.")
