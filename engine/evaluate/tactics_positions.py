"""The positions of the tactics suite: readable text files, a board and its known answer in each paragraph.

A paragraph is `[name]`, lines `key: value` and the board's rows from the top, X black, O white, . empty. Keys: kind,
play (black or white), komi, answer (any of these solves it) or avoid (any other move does), reason, and at will goal
(save or kill, and a vertex, for those that can be read to the end), moves (played on the board before the question,
like `W D4`) and checked (by what beside the reading).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.board.position import BLACK, WHITE, Position
from engine.board.vertex import format_vertex, parse_vertex
from engine.errors import EngineError, IllegalMove, InvalidVertex

FOLDER = Path(__file__).parent / "positions"
COLORS = {"black": BLACK, "white": WHITE, "b": BLACK, "w": WHITE}
STONES = {"X": BLACK, "O": WHITE, ".": 0}
KEYS = ("kind", "play", "komi", "answer", "avoid", "reason", "goal", "moves", "checked")
RULES = "chinese-ogs"


@dataclass(frozen=True, slots=True)
class Tactic:
    """One position and what is known of it."""

    name: str
    kind: str
    color: int  # to play
    position: Position  # as it stands when the question is asked
    answers: frozenset[int]  # any of these solves it; empty: any move but those to avoid
    avoid: frozenset[int]
    reason: str
    goal: tuple[str, int] | None = None  # "save" or "kill", and a stone
    checked: str = ""

    def solved_by(self, action: int) -> bool:
        """Tell whether a move (an action; -1 for a resignation) solves it."""
        return action in self.answers if self.answers else action >= 0 and action not in self.avoid

    @property
    def diagram(self) -> str:
        """Return the board as text, rows from the top."""
        return "\n".join(" ".join(".XO"[stone] for stone in row) for row in self.position.board())


def read_tactics(paths: Iterable[Path] = ()) -> list[Tactic]:
    """Return the positions of these files, of the suite's own without any. Raises EngineError."""
    files = sorted(paths) or sorted(FOLDER.glob("*.txt"))
    found: list[Tactic] = []
    for path in files:
        try:
            text = path.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise EngineError(f"cannot read {path}: {error}") from None
        found += [parse_tactic(paragraph) for paragraph in paragraphs(text)]
    names = [tactic.name for tactic in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise EngineError(f"two positions are called {twice[0]}")
    if not found:
        raise EngineError("there are no positions")
    return found


def paragraphs(text: str) -> list[list[str]]:
    """Return the lines of each paragraph, without comments."""
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith("#")]
    return [part.split("\n") for part in re.split(r"\n{2,}", "\n".join(lines).strip("\n")) if part.strip()]


def parse_tactic(lines: list[str]) -> Tactic:
    """Return the position of a paragraph. Raises EngineError, naming it."""
    match = re.fullmatch(r"\[([\w.+-]+)\]", lines[0])
    if match is None:
        raise EngineError(f"a position begins with its name in brackets, not with {lines[0][:40]!r}")
    name, values, rows = match[1], {}, []
    for line in lines[1:]:
        key, colon, value = line.partition(":")
        if colon and key in KEYS:
            values[key] = value.strip()
        else:
            rows.append(line.replace(" ", ""))
    try:
        return _tactic(name, values, rows)
    except (EngineError, LookupError, ValueError) as error:
        raise EngineError(f"position {name}: {error if isinstance(error, EngineError) else repr(error)}") from None


def _tactic(name: str, values: dict[str, str], rows: list[str]) -> Tactic:
    width, height = len(rows[0]) if rows else 0, len(rows)
    if not rows or any(len(row) != width or set(row) - set(STONES) for row in rows):
        raise EngineError("the board's rows must be equally long, of X, O and . alone")
    color = COLORS[values["play"].lower()]
    position = Position(width, height, rules=RULES, komi=float(values["komi"]))
    stones = [(STONES[sign], y * width + x) for y, row in enumerate(rows) for x, sign in enumerate(row) if sign != "."]
    words = values.get("moves", "").split()
    moves = [(COLORS[words[i].lower()], parse_vertex(words[i + 1], width, height)) for i in range(0, len(words), 2)]
    position.set_up(stones, moves[0][0] if moves else color)
    for mover, action in moves:
        position.play(action, mover)
    position.to_play = color

    def actions(key: str) -> frozenset[int]:
        return frozenset(parse_vertex(word, width, height) for word in values.get(key, "").split())

    answers, avoid = actions("answer"), actions("avoid")
    if bool(answers) == bool(avoid):
        raise EngineError("either answer or avoid")
    for action in answers | avoid:
        if not position.is_legal(action, color):
            raise IllegalMove(format_vertex(action, width, height), "the answer is not legal")
    goal = None
    if "goal" in values:
        deed, vertex = values["goal"].split()
        goal = deed, parse_vertex(vertex, width, height)
        if deed not in ("save", "kill") or position.color_at(goal[1]) != (color if deed == "save" else 3 - color):
            raise InvalidVertex(f"goal: {values['goal']}")
    if not values.get("reason"):
        raise EngineError("no reason is given")
    kind, reason, checked = values["kind"], values["reason"], values.get("checked", "")
    return Tactic(name, kind, color, position, answers, avoid, reason, goal, checked)
