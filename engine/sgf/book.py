"""All the beginnings that an SGF file holds: of every game in it, and of every variation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sgfmill import sgf_grammar

from engine.errors import SgfError
from engine.files import read_small, reason

from .reader import parse, record_of
from .record import GameRecord
from .values import Node


def read_beginnings(path: str | Path, moves: int) -> list[GameRecord]:
    """Return the beginnings of a file, in the order of the text: each the nodes up to the move of that number.

    Two that are alike node by node come once. What is shorter comes too. Games that are not fit (of another kind than
    Go, with stones set up between moves) are left out if others are.

    Raises SgfError if the file cannot be read, or if nothing in it can.
    """
    try:
        data = read_small(path)
    except (OSError, ValueError) as error:
        raise SgfError(f"{path}: {reason(error)}") from None
    name = str(path)
    try:
        trees = sgf_grammar.parse_sgf_collection(data)
    except ValueError:
        return [parse(data, name)]  # the first game may be whole; else this says where it is broken
    found, errors = [], []
    for tree in trees:
        for nodes in _beginnings(tree, moves):
            try:
                found.append(record_of(nodes, [1] * len(nodes), name))
            except SgfError as error:
                errors.append(error)
    if errors and not found:
        parse(data, name)  # which names the line
        raise errors[0]
    return found


def _beginnings(tree: Any, moves: int) -> Iterator[list[Node]]:
    """Yield the lines of a tree of sgfmill's, each cut off after so many moves.

    A variation that begins later than that is none. Without recursion: a file may nest deeper than Python does.
    """
    waiting: list[tuple[Any, list[Node], int]] = [(tree, [], 0)]
    while waiting:
        part, before, played = waiting.pop()
        nodes = list(before)
        for node in part.sequence:
            if played >= moves:
                break
            nodes.append(node)
            played += ("B" in node) + ("W" in node)
        if played >= moves or not part.children:
            yield nodes
        else:
            waiting.extend((child, nodes, played) for child in reversed(part.children))
