"""Moves as SGF letter pairs run together (`aa` = top left, `zz` = a pass), the form of the tables of games."""

from __future__ import annotations

from collections.abc import Iterable

from engine.errors import SgfError


def letters_to_actions(letters: str, size: int = 19) -> list[int]:
    """Turn letter pairs into dense actions of a size x size board.

    Raises:
        SgfError: a pair is neither a point of the board nor `zz`.
    """
    actions = []
    for start in range(0, len(letters), 2):
        pair = letters[start : start + 2]
        column, row = ord(pair[0]) - 97, ord(pair[1:] or "?") - 97
        if pair == "zz":
            actions.append(size * size)
        elif 0 <= column < size and 0 <= row < size:
            actions.append(row * size + column)
        else:
            raise SgfError(f"not a move on {size}x{size}: {pair!r} at letter {start + 1}")
    return actions


def actions_to_letters(actions: Iterable[int], size: int = 19) -> str:
    """Turn dense actions of a size x size board into letter pairs."""
    return "".join("zz" if a == size * size else chr(97 + a % size) + chr(97 + a // size) for a in actions)
