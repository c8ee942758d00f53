"""Game records as training reads them: tables of games (`.tsv`, `.tsv.xz`) and folders of SGF files.

A record is the set-up, the moves and what was said of the result; nothing here knows rules of play, so an illegal move
is found later, by whoever replays the game. Which games a stage may see is for selection.py to say.
"""

from __future__ import annotations

import logging
import lzma
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from engine.errors import EngineError
from engine.sgf.letters import letters_to_actions as letters_to_actions

log = logging.getLogger(__name__)

COLUMNS = ("size", "komi", "rules", "result", "first", "moves", "setup_black", "setup_white", "ownership", "owner_area")
RESULT = re.compile(r"([BW])\+(.*)$")
WRITTEN = ("size", "komi", "rules", "result", "setup_black", "setup_white", "first", "moves", "ownership")
BLACK, WHITE = 1, 2

Fault = Callable[[str, str], None]  # (where, why) of a record that is left out


class RecordError(EngineError):
    """A game record that cannot be used. The message says where it stood and why."""


@dataclass(frozen=True, slots=True)
class Game:
    """One game. Moves and set-up stones are SGF letter pairs run together (`aa` = top left); `zz` is a pass."""

    size: int
    moves: str
    first: int = BLACK  # color of the first move; colors alternate
    setup_black: str = ""
    setup_white: str = ""
    komi: float | None = None  # None: unknown
    rules: str = ""  # as written in the record
    result: int = 0  # BLACK, WHITE, or 0: drawn, unknown or void
    by_points: bool = False  # the result was counted, not resigned or lost on time
    source: str = ""
    margin: float | None = None  # Black's points - White's - komi, where the result was counted
    ownership: str = ""  # who owns each point at the end, where that is known: `B`, `W`, `.` from the top left

    @property
    def n_moves(self) -> int:
        """Number of moves, passes included."""
        return len(self.moves) // 2

    def actions(self) -> list[int]:
        """Return the moves as dense actions (row-major from the top left, size * size = pass)."""
        return letters_to_actions(self.moves, self.size)


def parse_result(text: str) -> tuple[int, bool]:
    """Return (winner or 0, whether it was counted in points) of an SGF result such as `B+R` or `W+3.50`."""
    match = RESULT.match(text.strip())
    if not match:
        return 0, False
    return (BLACK if match.group(1) == "B" else WHITE), match.group(2)[:1].isdigit()


def parse_margin(text: str) -> float | None:
    """Return the points by which Black won of a counted SGF result, negative if White did; 0 of a draw, else None."""
    match = RESULT.match(text.strip())
    if not match:
        return 0.0 if text.strip().lower() in ("0", "draw", "jigo") else None
    try:
        points = float(match.group(2))
    except ValueError:
        return None
    return points if match.group(1) == "B" else -points


def parse_komi(text: str) -> float | None:
    """Read a komi as collections write it: blank unknown, 375 and 3.75 Chinese half counts, 650 hundredths.

    Raises:
        RecordError: it is not a number.
    """
    if not text.strip():
        return None
    try:
        komi = float(text)
    except ValueError:
        raise RecordError(f"komi {text!r} is not a number") from None
    if abs(komi) >= 100:
        komi /= 100
    if komi in (2.75, 3.75):
        komi *= 2
    return komi if abs(komi) <= 100 else None


def parse_row(fields: dict[str, str], source: str) -> Game:
    """Make a Game of one table row.

    Raises:
        RecordError, SgfError: the size, the komi, the color or a coordinate makes no sense.
    """
    if not fields["size"].isdigit() or not 2 <= int(fields["size"]) <= 25:
        raise RecordError(f"board size {fields['size']!r}")
    size = int(fields["size"])
    handicap = bool(fields["setup_black"]) and not fields["setup_white"]
    first = fields["first"] or ("W" if handicap else "B")
    if first not in ("B", "W"):
        raise RecordError(f"first color {first!r}")
    result, by_points = parse_result(fields["result"])
    game = Game(
        size=size,
        moves=fields["moves"],
        first=BLACK if first == "B" else WHITE,
        setup_black=fields["setup_black"].replace(",", ""),
        setup_white=fields["setup_white"].replace(",", ""),
        komi=parse_komi(fields["komi"]),
        rules=fields["rules"],
        result=result,
        by_points=by_points,
        source=source,
        margin=parse_margin(fields["result"]),
        ownership=fields["ownership"] or fields["owner_area"],
    )
    if game.ownership and (len(game.ownership) != size * size or set(game.ownership) - set("BW.")):
        raise RecordError("the ownership is not one of B, W or . for every point")
    for letters in (game.moves, game.setup_black, game.setup_white):
        letters_to_actions(letters, size)
    return game


def read_table(path: Path, fault: Fault | None = None) -> Iterator[Game]:
    """Yield the games of a `.tsv` or `.tsv.xz` table; rows that cannot be used are left out and reported.

    Columns are found by the header line; all but `size` and `moves` may be absent.

    Args:
        path: the table.
        fault: gets the place and the reason of each row left out; by default they are counted and logged.

    Raises:
        RecordError: the header has no `size` or no `moves`, or the file is damaged.
    """
    opener = lzma.open if path.suffix == ".xz" else open
    source, bad = path.name.split(".")[0], 0
    try:
        with opener(path, "rt", encoding="utf-8-sig", errors="replace") as lines:  # a bad byte costs its row
            header = next(lines, "").rstrip("\n").split("\t")
            if "size" not in header or "moves" not in header:
                raise RecordError(f"{path}: the first line names no columns 'size' and 'moves'")
            for number, line in enumerate(lines, start=2):
                values = line.rstrip("\n").split("\t")
                fields = dict.fromkeys(COLUMNS, "") | dict(zip(header, values, strict=False))
                try:
                    if len(values) != len(header):
                        raise RecordError(f"{len(values)} fields, the header has {len(header)}")
                    game = parse_row(fields, source)
                except EngineError as error:
                    bad += 1
                    (fault or log_quietly)(f"{path}:{number}", str(error))
                    continue
                yield game
    except (lzma.LZMAError, EOFError) as error:
        raise RecordError(f"{path}: {error}") from error
    if bad and fault is None:
        log.warning("%s: %d rows left out (unusable)", path, bad)


def read_sgf(path: Path) -> Game:
    """Read the main line of one SGF file. Black stones played one after another at its start count as handicap.

    Raises:
        SgfError: the file is no game record.
        RecordError: the board is no square, or the colors do not alternate.
    """
    from engine.sgf import actions_to_letters, read

    record = read(path)
    size, moves = record.width, list(record.moves)
    if record.height != size:
        raise RecordError(f"{path}: a {size}x{record.height} board")
    setup = list(record.setup)
    while len(moves) > 1 and moves[0][0] == moves[1][0] == BLACK and moves[0][1] < size * size:
        setup.append(moves.pop(0))
    if len(setup) > len(record.setup):  # the last of them is a handicap stone too, if White follows
        setup.append(moves.pop(0))
    colors = [color for color, _ in moves]
    if any(a == b for a, b in pairwise(colors)):
        raise RecordError(f"{path}: the colors do not alternate")
    black, white = (actions_to_letters((a for c, a in setup if c == color), size) for color in (BLACK, WHITE))
    result, by_points = parse_result(record.result)
    return Game(
        size=size,
        moves=actions_to_letters((action for _, action in moves), size),
        first=colors[0] if colors else WHITE if len(setup) > len(record.setup) else record.to_play,
        setup_black=black,
        setup_white=white,
        komi=record.komi,
        rules=record.rules_text,
        result=result,
        by_points=by_points,
        source=path.parent.name,
        margin=parse_margin(record.result),
    )


def read_any(path: Path, fault: Fault | None = None) -> Iterator[Game]:
    """Yield the games of a table, of an SGF file, or of every SGF file below a folder.

    Args:
        path: of either.
        fault: gets the place and the reason of every row or file left out; by default they are logged.

    Raises:
        RecordError: there is nothing there.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() == ".sgf")
        for file in files:
            try:
                game = read_sgf(file)
            except EngineError as error:
                (fault or log_fault)(str(file), str(error).removeprefix(f"{file}: ").removeprefix(f"{file}:"))
                continue
            yield game
        if not files:
            raise RecordError(f"{path}: no SGF files below this folder")
    elif not path.is_file():
        raise RecordError(f"{path}: no such file")
    elif path.suffix.lower() == ".sgf":
        yield read_sgf(path)
    else:
        yield from read_table(path, fault)


def log_fault(where: str, reason: str) -> None:
    """Log what was left out and why."""
    log.warning("left out: %s: %s", where, reason)


def log_quietly(where: str, reason: str) -> None:
    """Log it for those who look for it."""
    log.debug("left out: %s: %s", where, reason)


def write_table(path: Path, games: Iterable[Game]) -> int:
    """Write games as a table that `read_table` reads (`.xz`: compressed), replacing the file; return how many.

    The result is written again from what is known of it: by points, or `+R` for any other win.
    """
    temporary = path.with_name(path.name + ".part")
    opener = lzma.open if path.suffix == ".xz" else open
    count = 0
    try:
        with opener(temporary, "wt", encoding="utf-8") as file:
            file.write("\t".join(WRITTEN) + "\n")
            for game in games:
                count += 1
                file.write("\t".join(fields_of(game)) + "\n")
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)  # halves of a table are nothing to keep
        raise
    return count


def fields_of(game: Game) -> tuple[str, ...]:
    """Return a game's fields, in the order of WRITTEN."""
    return (
        str(game.size),
        "" if game.komi is None else f"{game.komi:g}",
        " ".join(game.rules.split()),
        result_text(game),
        game.setup_black,
        game.setup_white,
        "BW"[game.first - 1],
        game.moves,
        game.ownership,
    )


def result_text(game: Game) -> str:
    """Return an SGF result: `B+3.5`, `W+R`, `0`, or nothing."""
    if game.margin is not None:
        return f"B+{game.margin:g}" if game.margin > 0 else f"W+{-game.margin:g}" if game.margin < 0 else "0"
    return f"{'?BW'[game.result]}+R" if game.result else ""
