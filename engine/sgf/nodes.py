"""From the nodes of one line of play to a GameRecord, node by node, with a way back to where a variation begins."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.board.position import BLACK, WHITE

from .record import GameRecord
from .values import Node, ValueReader, encoding_of, fail, recognise_rules

COLOR_NAMES = {"B": BLACK, "BLACK": BLACK, "1": BLACK, "W": WHITE, "WHITE": WHITE, "2": WHITE}


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a line of play has been read. Taking one and going back to it cost the same however long the line is."""

    moves: int
    comments: int
    setup: tuple[tuple[int, int], ...]
    setup_line: int
    to_play: int


class NodeReader:
    """Reads the nodes of a game from the root on.

    Args:
        root: the first node; `add` takes it too.
        line: of the file, on which it stands; for errors, as everywhere here.
        name: of the file, likewise.
        encoding: None for the one that the root names.
        comments: False leaves them out of the records.

    Raises SgfError, as `add` does.
    """

    def __init__(self, root: Node, line: int, name: str, *, encoding: str | None = None, comments: bool = True) -> None:
        reader = self._reader = ValueReader(name, encoding or encoding_of(root))
        self._with_comments = comments
        if reader.text(root, "GM").strip() not in ("", "1"):
            fail(name, line, f"not a game of Go: GM[{reader.text(root, 'GM')}]")
        reader.width, reader.height = reader.size(root, line)
        rules_text = reader.text(root, "RU").strip()
        self._game = GameRecord(
            width=reader.width,
            height=reader.height,
            name=name,
            komi=reader.komi(root, line),
            rules=recognise_rules(rules_text),
            rules_text=rules_text,
            handicap=reader.handicap(root, line),
            black=reader.text(root, "PB"),
            white=reader.text(root, "PW"),
            result=reader.text(root, "RE").strip(),
            date=reader.text(root, "DT"),
        )
        self._moves: list[tuple[int, int]] = []
        self._lines: list[int] = []
        self._comments: list[tuple[int, str]] = []  # (moves before it, text)
        self._setup: tuple[tuple[int, int], ...] = ()  # (color, action), by action
        self._setup_line = 1
        self._to_play = 0

    @property
    def n_moves(self) -> int:
        """Moves so far."""
        return len(self._moves)

    def add(self, node: Node, line: int) -> None:
        """Take the next node."""
        reader = self._reader
        set_up = [key for key in ("AB", "AW", "AE") if key in node]
        if set_up:
            self._set_up(node, set_up, line)
        if "PL" in node and not self._moves:
            text = reader.text(node, "PL").strip()
            if text.upper() not in COLOR_NAMES:
                fail(reader.name, line, f"no color: PL[{text[:20]}]")
            self._to_play = COLOR_NAMES[text.upper()]
        if "B" in node and "W" in node:
            fail(reader.name, line, "a node with a move of both colors")
        for key, color in (("B", BLACK), ("W", WHITE)):
            if key in node:
                self._moves.append((color, reader.point(node[key][0], line, may_pass=True)))
                self._lines.append(line)
        if self._with_comments and "C" in node:
            comment = reader.text(node, "C")
            if comment:
                self._comments.append((len(self._moves), comment))

    def _set_up(self, node: Node, keys: list[str], line: int) -> None:
        if self._moves:
            text = f"stones set up ({keys[0]}) after move {len(self._moves)}: not supported"
            fail(self._reader.name, line, text)
        stones = {action: color for color, action in self._setup}
        for key in keys:
            self._setup_line = line
            for action in self._reader.points(node[key], line):
                stones.pop(action, None)
                if key != "AE":
                    stones[action] = BLACK if key == "AB" else WHITE
        self._setup = tuple((color, action) for action, color in sorted(stones.items()))

    def mark(self) -> Mark:
        """Return where the line is."""
        return Mark(len(self._moves), len(self._comments), self._setup, self._setup_line, self._to_play)

    def back(self, mark: Mark) -> None:
        """Forget the nodes taken after that mark, also those of which `add` has raised an error."""
        del self._moves[mark.moves :], self._lines[mark.moves :], self._comments[mark.comments :]
        self._setup, self._setup_line, self._to_play = mark.setup, mark.setup_line, mark.to_play

    def record(self) -> GameRecord:
        """Return the record of the nodes taken so far."""
        texts: dict[int, list[str]] = {}
        for before, text in self._comments:
            texts.setdefault(before, []).append(text)
        to_play = self._to_play
        if self._moves:
            to_play = self._moves[0][0]
        elif not to_play:
            to_play = WHITE if self._setup and all(color == BLACK for color, _ in self._setup) else BLACK
        return replace(
            self._game,
            setup=self._setup,
            to_play=to_play,
            moves=tuple(self._moves),
            comments={before: "\n".join(parts) for before, parts in texts.items()},
            setup_line=self._setup_line,
            lines=tuple(self._lines),
        )
