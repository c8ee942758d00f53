"""`keisei evaluate tactics`: how many of the suite's positions an engine solves, by kind and visits.

Every engine is asked for its move over text commands: nets of Keisei's in this process, any other program by its
command line, so that two searches over one net can be compared. A position is solved if the move is one of its known
answers. docs/match.md has the manual; tactics_positions.py the positions' format.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import sgf
from engine.board.vertex import format_vertex, parse_vertex
from engine.errors import ConfigError, EngineError, InvalidVertex
from engine.match.elo import wilson
from engine.match.engines import LOCAL, Engine, Slot, make_slot, split_name
from engine.match.gtp_client import EngineFailed, GtpError
from engine.match.local import NetPool, parse_local
from engine.match.words import last_lines
from engine.usage import Parser

from .tactics_positions import Tactic, read_tactics

if TYPE_CHECKING:
    from collections.abc import Iterator

VISITS = "1,16,200"
RESIGNED = -1


@dataclass(frozen=True, slots=True)
class Asked:
    """An engine with a number of visits (None: its own)."""

    label: str
    command: str
    visits: int | None

    @property
    def head(self) -> str:
        """Return what the engine is called over its column."""
        return f"{self.label}{'' if self.visits is None else f'@{self.visits}'}"


def ask(slot: Slot, tactic: Tactic, folder: Path) -> str:
    """Return the move that an engine chooses in a position. Raises GtpError and EngineFailed."""
    position = tactic.position
    slot.start()
    square = position.width == position.height
    slot.send(f"boardsize {position.width}" if square else f"boardsize {position.width} {position.height}")
    slot.send("clear_board")
    if "kata-set-rules" in slot.commands:
        slot.send(f"kata-set-rules {position.rules.to_json()}")
    slot.send(f"komi {position.komi:g}")
    if "loadsgf" in slot.commands:
        path = folder / "position.sgf"
        path.write_text(sgf.write(sgf.from_position(position)), "utf-8")
        slot.send(f"loadsgf {path}")
    else:
        for color, action in [*position.setup_stones, *position.moves]:
            slot.send(f"play {'bw'[color - 1]} {format_vertex(action, position.width, position.height)}")
    return slot.send(f"genmove {'bw'[tactic.color - 1]}").strip()


def run(asked: Asked, tactics: Sequence[Tactic], nets: NetPool, *, timeout: float, log: Path) -> list[dict[str, Any]]:
    """Ask one engine about every position. Raises EngineError if it cannot be started at all."""
    slot = make_slot(Engine("engine", asked.command), timeout=timeout, log=log / "engine.log", nets=nets)
    rows: list[dict[str, Any]] = []
    try:
        _start(slot, asked, log / "engine.log")
        for tactic in tactics:
            _show_progress(asked, len(rows), len(tactics))
            started, move, fault = time.monotonic(), "", ""
            try:
                slot.start()
                if asked.visits is not None:
                    slot.send(f"kata-set-param maxVisits {asked.visits}")
                move = ask(slot, tactic, log)
            except EngineFailed as error:
                if error.reason == "start":
                    raise
                fault = str(error)
                slot.drop()
            except GtpError as error:
                fault = str(error)
            solved = not fault and tactic.solved_by(_action(move, tactic))
            rows.append({"engine": asked.label, "visits": asked.visits, "position": tactic.name, "kind": tactic.kind,
                         "move": move, "solved": solved, "seconds": round(time.monotonic() - started, 3),
                         **({"fault": fault} if fault else {})})  # fmt: skip
    finally:
        _show_progress(None, 0, 0)
        slot.close()
    return rows


def _start(slot: Slot, asked: Asked, log: Path) -> None:
    """Start an engine for the first time. Raises EngineError with what it said of why it cannot."""
    try:
        slot.start()
    except EngineFailed as error:
        said = last_lines(log.read_text("utf-8", "replace")) if log.exists() else ""
        raise EngineError(f"{asked.label}: {error}" + (f"; it said: {said}" if said else "")) from None


def _show_progress(asked: Asked | None, done: int, of: int) -> None:
    """Write how far an engine is over the last such line, on a terminal; None: wipe it."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K" + (f"{asked.head}: {done} of {of} positions" if asked else ""))
        sys.stderr.flush()


def _action(move: str, tactic: Tactic) -> int:
    if move.lower() == "resign":
        return RESIGNED
    try:
        return parse_vertex(move, tactic.position.width, tactic.position.height)
    except InvalidVertex:
        return RESIGNED


def shares(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return solved and asked by engine, visits and kind, in the order of appearance; kind "all" last."""
    table: dict[tuple[str, int | None, str], list[bool]] = {}
    for kind in (lambda row: row["kind"]), (lambda row: "all"):
        for row in rows:
            table.setdefault((row["engine"], row["visits"], kind(row)), []).append(row["solved"])
    return [
        {"engine": engine, "visits": visits, "kind": kind, "solved": sum(found), "positions": len(found),
         "interval": [round(x, 4) for x in wilson(sum(found), len(found))]}
        for (engine, visits, kind), found in table.items()
    ]  # fmt: skip


def text_of(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table for people: a line a kind, a column an engine with its visits, and what was missed."""
    found = shares(rows)
    columns = list(dict.fromkeys((row["engine"], row["visits"]) for row in rows))
    heads = [f"{engine}{'' if visits is None else f'@{visits}'}" for engine, visits in columns]
    kinds = list(dict.fromkeys(entry["kind"] for entry in found))
    width = max(len(kind) for kind in kinds)
    lines = [" " * width + "".join(f"  {head:>12}" for head in heads)]
    by_key = {(entry["engine"], entry["visits"], entry["kind"]): entry for entry in found}
    for kind in kinds:
        cells = [by_key[(*column, kind)] for column in columns]
        line = f"{kind:{width}}"
        for cell, head in zip(cells, heads, strict=True):
            text = f"{cell['solved']}/{cell['positions']} {100 * cell['solved'] / cell['positions']:3.0f} %"
            line += f"  {text:>{max(12, len(head))}}"
        lines.append(line)
    for column, head in zip(columns, heads, strict=True):
        missed = [f"{row['position']} {row['move'] or row.get('fault', '')}" for row in rows
                  if (row["engine"], row["visits"]) == column and not row["solved"]]  # fmt: skip
        if missed:
            lines.append(f"\n{head} misses: " + ", ".join(missed))
    return "\n".join(lines)


def engines_of(options: argparse.Namespace) -> Iterator[Asked]:
    """Yield what the options ask for. Raises ConfigError."""
    words = options.visits.split(",")
    if not all(word.isascii() and word.isdigit() and int(word) > 0 for word in words):
        raise ConfigError(f"--visits {options.visits}: numbers from 1 on, separated by commas")
    rest = " ".join(f"--set {word}" for word in ("player.resign=false", "net.threads=1", *options.set))
    nets = options.net or ([] if options.engine else [""])
    for net in nets:
        command = f"{LOCAL}{net} --seed {options.seed} {rest}" if net else f"{LOCAL} --seed {options.seed} {rest}"
        parse_local(command)
        name = Path(net).name.split(".")[0] if net else "keisei"
        yield from (Asked(name, command, int(word)) for word in words)
    for text in options.engine:
        called, command = split_name(text)
        if not command:
            raise ConfigError("--engine: no command")
        label = called or Path(command.split()[0]).name
        if options.tell:
            yield from (Asked(label, command, int(word)) for word in words)
        else:
            yield Asked(label, command, None)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei evaluate tactics`. Errors go to the caller as EngineError."""
    parser = Parser(prog="keisei evaluate tactics", description=__doc__)
    parser.add_argument("--net", action="append", default=[], help="net file or name (the one that ships)")
    parser.add_argument("--visits", default=VISITS, metavar="N,N,…", help=f"visits to try ({VISITS})")
    parser.add_argument("--engine", action="append", default=[], metavar="[NAME=]COMMAND", help="another GTP program")
    parser.add_argument("--tell", action="store_true", help="tell the programs the visits by kata-set-param maxVisits")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="for Keisei's nets")
    parser.add_argument("--seed", type=int, default=1, help="of Keisei's searches (1)")
    parser.add_argument("--kind", action="append", default=[], help="these kinds only; may be repeated")
    parser.add_argument("--positions", type=Path, action="append", default=[], metavar="FILE", help="other positions")
    parser.add_argument("--show", metavar="NAME", help="print a position and its reason, and leave; all: every one")
    parser.add_argument("--timeout", type=float, default=120.0, metavar="SECONDS", help="for an answer (120)")
    parser.add_argument("--json", action="store_true", help="print JSON: the shares, and every answer")
    options = parser.parse_args(argv)
    tactics = read_tactics(options.positions)
    if options.kind:
        known = {tactic.kind for tactic in tactics}
        if set(options.kind) - known:
            raise ConfigError(f"--kind: one of {', '.join(sorted(known))}")
        tactics = [tactic for tactic in tactics if tactic.kind in options.kind]
    if options.show is not None:
        return show(options.show, tactics)
    rows: list[dict[str, Any]] = []
    nets = NetPool()
    try:
        with tempfile.TemporaryDirectory(prefix="keisei-") as folder:
            for asked in list(engines_of(options)):
                rows += run(asked, tactics, nets, timeout=options.timeout, log=Path(folder))
    finally:
        nets.close()
    print(json.dumps({"shares": shares(rows), "answers": rows}) if options.json else text_of(rows))
    return 0


def show(name: str, tactics: Sequence[Tactic]) -> int:
    """Print positions. Raises EngineError if there is none of that name."""
    chosen = [tactic for tactic in tactics if name in ("all", tactic.name)]
    if not chosen:
        raise EngineError(f"there is no position {name}")
    for tactic in chosen:
        size = tactic.position.width, tactic.position.height
        verb, actions = ("answer", tactic.answers) if tactic.answers else ("avoid", tactic.avoid)
        moves = " ".join(format_vertex(action, *size) for action in sorted(actions))
        head = f"{tactic.name} ({tactic.kind}): {('Black', 'White')[tactic.color - 1]} to play, {verb} {moves}"
        sys.stdout.write(f"{head}\n{board_of(tactic)}\n{tactic.reason}\n\n")
    return 0


def board_of(tactic: Tactic) -> str:
    """Return the diagram with the names of lines and columns around it."""
    width, height = tactic.position.width, tactic.position.height
    letters = "    " + " ".join(format_vertex(x, width, height)[0] for x in range(width))
    rows = [f"{height - y:>3} {row}" for y, row in enumerate(tactic.diagram.splitlines())]
    return "\n".join([letters, *rows, letters])
