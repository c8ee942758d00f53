"""Kos on the board: single stones that can be taken, and taken back by one move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.judge.board import Board


@dataclass(frozen=True, slots=True)
class Ko:
    """A stone in atari whose taker would be in atari to its place."""

    chain: int  # the stone's
    stone: int
    mouth: int  # where it is taken, or connected
    holders: frozenset[int]  # chains of its color beside the mouth, itself left out
    takers: frozenset[int]  # chains of the other color beside the stone


def find_kos(board: Board) -> list[Ko]:
    """Return the kos of a board, whoever lives there."""
    found = []
    for chain, stones in enumerate(board.chains):
        if len(stones) != 1 or len(board.liberties[chain]) != 1:
            continue
        (stone,), (mouth,) = stones, board.liberties[chain]
        color = board.color_of(chain)
        beside = [near for near in board.neighbours[mouth] if near != stone]
        if all(board.color[near] == color for near in beside):
            holders = frozenset(board.chain_of[near] for near in beside)
            takers = frozenset(board.chain_of[near] for near in board.neighbours[stone] if near != mouth)
            found.append(Ko(chain, stone, mouth, holders, takers))
    return found


def between_the_living(kos: Sequence[Ko], dead: set[int]) -> list[Ko]:
    """Return the kos in which no dead chain has a part."""
    return [ko for ko in kos if dead.isdisjoint({ko.chain, *ko.holders, *ko.takers})]


def cancelling(board: Board, kos: Sequence[Ko]) -> set[Ko]:
    """Return the kos of which two groups hold one each: who takes the other's loses its own to the answer."""
    return {
        ko
        for ko in kos
        if any(
            board.color_of(ko.chain) != board.color_of(other.chain)
            and ko.holders & other.takers
            and ko.takers & other.holders
            for other in kos
        )
    }
