"""Labelled positions on disk: memory-mapped `.npy` files of fixed-size records, and the manifest that lists them.

A shard folder holds `<size>x<size>-<part>-<number>.npy` (one structured array each, one board size a file) and
`manifest.jsonl`: a header line, then one line a finished shard. A shard is written under a temporary name and renamed,
its manifest line comes last, so a killed run leaves nothing half done. The header names the encoding and the targets
(targets.py); planes are stored as plane_store.py says. Format 1, which is still read, is format 2 with TEACHER_TARGETS:
a 19x19 record with the 22 planes of KataGo V7 takes 1 816 bytes (planes 993, policy 362, ownership 361, globals 76, the
rest 24), a 9x9 record 486.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.evaluator import ENCODING_SHAPES

from .folder import write_whole
from .plane_store import ShardError, plane_fields
from .targets import TARGETS, TEACHER_TARGETS, fill_unknown
from .targets import field as target_field

__all__ = ["Header", "ShardError", "ShardFolder", "ShardWriter", "game_number", "make_header", "merge_headers"]

FORMATS = ("keisei-shards-1", "keisei-shards-2")
MANIFEST = "manifest.jsonl"
MEND = "delete the shard's line in manifest.jsonl to do without it"


def game_number(moves: str) -> int:
    """Return 64 bits of the hash that also decides whether a game is held out (see records.held_out)."""
    import hashlib

    from .selection import strip_passes

    return int(hashlib.sha1(strip_passes(moves).encode("ascii")).hexdigest()[:16], 16)


@dataclass(frozen=True, slots=True)
class Header:
    """What all shards of a folder share, and the layout of its records."""

    encoding: str
    spatial: int  # planes
    global_: int  # global inputs
    teacher: str = ""  # name and sha256 of the net that labelled, or ""
    plan: dict[str, Any] = field(default_factory=dict)  # what the folder was made by, for the record
    targets: tuple[str, ...] = TEACHER_TARGETS  # names in targets.TARGETS, in the order of the record
    next_moves: int = 1  # K of the targets that are lists of actions

    def line(self) -> str:
        """Return the manifest's first line."""
        return json.dumps({"format": FORMATS[-1], **dataclasses.asdict(self)})

    def record_type(self, size: int) -> np.dtype[Any]:
        """Return the record of one labelled position on a size x size board; everything is to_play's view.

        Raises:
            ShardError: a target is unknown.
        """
        unknown = [name for name in self.targets if name not in TARGETS]
        if unknown:
            raise ShardError(f"no target is called {unknown[0]!r}; there are {', '.join(TARGETS)}")
        return np.dtype(
            [
                *plane_fields(self.encoding, self.spatial, size),
                ("globals", "<f4", (self.global_,)),
                *(target_field(name, size, self.next_moves) for name in self.targets),
                ("ply", "<u2"),
                ("game", "<u8"),  # game_number of the record's moves
                ("kind", "u1"),  # 1 = random moves were added, 2 = a pass was added (bits)
            ]
        )

    def empty(self, size: int, count: int) -> NDArray[Any]:
        """Return `count` records whose targets are all unknown, the rest zero."""
        records = np.zeros(count, self.record_type(size))
        fill_unknown(records, self.targets)
        return records


def make_header(
    encoding: str, targets: Sequence[str], *, next_moves: int = 1, teacher: str = "", plan: Any = None
) -> Header:
    """Return the header of a new folder; the sizes are the encoding's."""
    spatial, global_ = ENCODING_SHAPES[encoding]
    plan = json.loads(json.dumps(plan or {}))  # as it will be read back
    return Header(encoding, spatial, global_, teacher, plan, tuple(targets), next_moves)


def merge_headers(headers: Sequence[Header]) -> Header:
    """Return a header whose records can hold those of all folders: every target of any of them.

    Raises:
        ShardError: the encodings differ, or there is no folder.
    """
    if len({header.encoding for header in headers}) != 1:
        raise ShardError("the shard folders are of different encodings, or there is none")
    names = tuple(dict.fromkeys(name for header in headers for name in header.targets))
    return dataclasses.replace(headers[0], targets=names, next_moves=max(header.next_moves for header in headers))


def copy_records(target: NDArray[Any], source: NDArray[Any]) -> None:
    """Copy records into others that have at least their fields; what the source does not have stays."""
    if target.dtype == source.dtype:
        target[...] = source
        return
    names: tuple[str, ...] = source.dtype.names or ()
    for name in names:
        if target.dtype[name].shape == source.dtype[name].shape:
            target[name] = source[name]
        else:  # fewer next moves
            target[name][:, : source.dtype[name].shape[0]] = source[name]


class ShardFolder:
    """A folder of shards, for reading; `refresh` sees shards that came since."""

    def __init__(self, path: Path) -> None:
        """Open a folder.

        Raises:
            ShardError: it has no manifest, or one of another format.
        """
        self.path = path
        self.header, self.entries = read_manifest(path)

    def refresh(self) -> None:
        """Read the manifest again."""
        self.header, self.entries = read_manifest(self.path)

    def open(self, name: str) -> NDArray[Any]:
        """Map one shard.

        Raises:
            ShardError: the file is missing or damaged, or its records are of another shape or number.
        """
        entry = next((entry for entry in self.entries if entry["name"] == name), None)
        if entry is None:
            raise ShardError(f"{self.path / MANIFEST}: knows no shard {name}")
        try:
            array: NDArray[Any] = np.load(self.path / name, mmap_mode="r")
        except (OSError, ValueError, EOFError) as error:
            raise ShardError(f"{self.path / name}: damaged ({error}); {MEND}") from error
        if array.dtype != self.header.record_type(entry["size"]):
            raise ShardError(f"{self.path / name}: the records are of another format")
        if array.shape != (entry["positions"],):
            raise ShardError(f"{self.path / name}: {array.shape} records, not {entry['positions']}; {MEND}")
        return array


def labelled(folders: Sequence[ShardFolder]) -> dict[int, int]:
    """Return how many labelled positions there are of each board size in all folders."""
    found: dict[int, int] = {}
    for folder in folders:
        for entry in folder.entries:
            found[entry["size"]] = found.get(entry["size"], 0) + entry["positions"]
    return found


def read_manifest(path: Path) -> tuple[Header, list[dict[str, Any]]]:
    """Return the header and one dictionary a shard: name, size, positions, taken (samples used up so far), part."""
    try:
        lines = (path / MANIFEST).read_text(encoding="utf-8").splitlines()
        head = json.loads(lines[0])
    except (OSError, ValueError, IndexError) as error:
        raise ShardError(f"{path}: no readable {MANIFEST} ({error})") from error
    if not isinstance(head, dict) or head.pop("format", None) not in FORMATS:
        raise ShardError(f"{path / MANIFEST}: not of format {' or '.join(FORMATS)}")
    try:
        head["targets"] = tuple(head.get("targets", TEACHER_TARGETS))  # format 1 has these and does not say so
        header = Header(**head)
        header.record_type(9)
    except (ShardError, TypeError, ValueError, LookupError, AttributeError) as error:
        raise ShardError(f"{path / MANIFEST}: {error}") from error
    if (header.spatial, header.global_) != ENCODING_SHAPES.get(header.encoding):
        raise ShardError(f"{path / MANIFEST}: encoding {header.encoding} has not these planes")
    return header, [entry for entry in map(parse_entry, lines[1:]) if entry]


ENTRY = {"name": str, "size": int, "positions": int, "taken": int, "part": str}


def parse_entry(line: str) -> dict[str, Any] | None:
    """Return what a line of the manifest says; None of a line that a killed process left unfinished."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    fits = isinstance(entry, dict) and all(isinstance(entry.get(key), kind) for key, kind in ENTRY.items())
    return entry if fits and "/" not in entry["name"] else None


class ShardWriter:
    """Collects the records of one board size and writes a shard whenever `capacity` have come."""

    def __init__(self, path: Path, header: Header, size: int, *, capacity: int = 4096, part: str = "0/1") -> None:
        """Start or continue a folder; the manifest is made if there is none.

        Raises:
            ShardError: the folder was made with another encoding, teacher or plan.
        """
        path.mkdir(parents=True, exist_ok=True)
        begin_manifest(path / MANIFEST, header)
        self.path, self.size, self.part, self.capacity = path, size, part, capacity
        entries = check_folder(path, header)
        check_parts(path, entries, part)
        mine = [e for e in entries if e["size"] == size and e["part"] == part]
        self.number = len(mine)
        self.taken = max((int(e["taken"]) for e in mine), default=0)  # samples already used up
        self._records = np.zeros(capacity, header.record_type(size))
        self._filled, self._taken = 0, self.taken

    def append(self, records: NDArray[Any], taken: int) -> None:
        """Add records; `taken` samples of this size have been used up with them (those left out included).

        They come into one shard, if they fit into one, so that a shard's `taken` is true of what is on the disk.
        """
        if self._filled + len(records) > self.capacity:
            self.flush(self._taken)
        self._taken, done = taken, 0
        while done < len(records):
            n = min(len(records) - done, self.capacity - self._filled)
            self._records[self._filled : self._filled + n] = records[done : done + n]
            self._filled, done = self._filled + n, done + n
            if self._filled == self.capacity:
                self.flush(taken)

    def flush(self, taken: int) -> None:
        """Write what has been collected as a shard of its own."""
        if not self._filled:
            return
        name = f"{self.size}x{self.size}-{self.part.split('/')[0]}-{self.number:05d}.npy"
        buffer = io.BytesIO()
        np.save(buffer, self._records[: self._filled])
        write_whole(self.path / name, buffer.getbuffer())
        entry = {"name": name, "size": self.size, "positions": self._filled, "taken": taken, "part": self.part}
        with (self.path / MANIFEST).open("rb") as manifest:
            manifest.seek(-1, os.SEEK_END)
            whole = manifest.read() == b"\n"
        with (self.path / MANIFEST).open("a", encoding="utf-8") as manifest:  # one write, so that parts do not mix
            manifest.write(("" if whole else "\n") + json.dumps(entry) + "\n")
        self.number, self._filled, self.taken = self.number + 1, 0, taken


def check_folder(path: Path, header: Header) -> list[dict[str, Any]]:
    """Return what read_manifest says of the shards there; nothing, if there is no manifest yet.

    Raises:
        ShardError: the folder was made with another encoding, teacher or plan.
    """
    if not (path / MANIFEST).exists():
        return []
    known, entries = read_manifest(path)
    if known == header:
        return entries
    pairs = ((f.name.strip("_"), getattr(known, f.name), getattr(header, f.name)) for f in dataclasses.fields(Header))
    name, old, new = next((name, old, new) for name, old, new in pairs if old != new)
    if name == "plan":
        key = next(key for key in {**old, **new} if old.get(key) != new.get(key))
        name, old, new = f"plan: {key}", old.get(key), new.get(key)
    what = f"{name}: {shorten(old)}, now {shorten(new)}"
    raise ShardError(f"{path}: holds shards of another plan ({what}); choose another folder (--out)")


def check_parts(path: Path, entries: Sequence[dict[str, Any]], part: str) -> None:
    """See that a folder's shards are of as many parts; else positions would be there twice. Raises ShardError."""
    count = part.partition("/")[2]
    for entry in entries:
        if entry["part"].partition("/")[2] != count:
            raise ShardError(f"{path}: holds shards of part {entry['part']}, not of {count}; choose another folder")


def shorten(value: Any) -> str:
    """Return a value in few letters."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "…"


def begin_manifest(path: Path, header: Header) -> None:
    """Write the manifest's first line, unless another process has: whole or not at all."""
    if path.exists():
        return
    temporary = path.with_name(f"{MANIFEST}.{os.getpid()}.new")
    write_whole(temporary, header.line() + "\n")
    try:
        os.link(temporary, path)
        temporary.unlink()
    except FileExistsError:
        temporary.unlink()
    except OSError:  # a file system without links
        os.replace(temporary, path)
