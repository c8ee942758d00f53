"""Labelled positions on disk: memory-mapped `.npy` files of fixed-size records, and the manifest that lists them.

A shard folder holds `<size>x<size>-<part>-<number>.npy` (one structured array each, one board size a file) and
`manifest.jsonl`: a header line, then one line a finished shard. A shard is written under a temporary name and renamed,
its manifest line comes last, so a killed run leaves nothing half done. A 19x19 record with the 22 planes of KataGo V7
takes 1 816 bytes (planes 993, policy 362, ownership 361, globals 76, the rest 24), a 9x9 record 486.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError

FORMAT = "keisei-shards-1"
MANIFEST = "manifest.jsonl"
POLICY_STEPS = 16.0  # uint8 policy: 1 + 254 steps of 2**(-1/16) below the largest move; 0 = illegal or below


class ShardError(EngineError):
    """A folder of labelled positions that is missing, damaged or of another kind."""


def record_type(size: int, spatial: int, global_: int) -> np.dtype[Any]:
    """Return the record of one labelled position on a size x size board; everything is to_play's view.

    Args:
        spatial: number of binary planes.
        global_: number of global inputs.
    """
    area = size * size
    return np.dtype(
        [
            ("planes", "u1", ((spatial * area + 7) // 8,)),  # [C, H, W] bits, np.packbits order
            ("globals", "<f4", (global_,)),
            ("policy", "u1", (area + 1,)),  # see pack_policy
            ("ownership", "i1", (area,)),  # 127 = certainly to_play's
            ("value", "<f2"),  # win - loss
            ("no_result", "<f2"),
            ("lead", "<f2"),  # points ahead, komi included
            ("score_mean", "<f2"),  # points
            ("score_stdev", "<f2"),  # points
            ("played", "<i2"),  # action of the record, -1 unknown
            ("result", "i1"),  # of the record: 1 to_play won, -1 lost, 0 unknown
            ("ply", "<u2"),
            ("game", "<u8"),  # game_number of the record's moves
            ("kind", "u1"),  # 1 = random moves were added, 2 = a pass was added (bits)
        ]
    )


def game_number(moves: str) -> int:
    """Return 64 bits of the hash that also decides whether a game is held out (see records.held_out)."""
    import hashlib

    from .selection import strip_passes

    return int(hashlib.sha1(strip_passes(moves).encode("ascii")).hexdigest()[:16], 16)


def pack_policy(policy: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Pack probabilities [..., A] into bytes: 255 - 16 * log2(max / p), rounded; 0 below 2**-15.9 of the largest.

    The relative error of one probability is at most 2.2 %.
    """
    top = policy.max(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        steps = np.rint(255.0 + POLICY_STEPS * np.log2(policy / top))
    packed: NDArray[np.uint8] = np.where(policy > 0, np.maximum(steps, 0), 0).astype(np.uint8)
    return packed


_unpacked = np.where(np.arange(256) > 0, 2.0 ** ((np.arange(256) - 255.0) / POLICY_STEPS), 0.0).astype(np.float32)


def unpack_policy(packed: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return probabilities [..., A] that add up to one."""
    policy = _unpacked[packed]
    policy /= policy.sum(axis=-1, keepdims=True)
    return policy


def pack_planes(planes: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Pack binary planes [B, C, H, W] into bits [B, bytes].

    Raises:
        ShardError: a value is neither 0 nor 1.
    """
    bits = planes != 0
    if not np.array_equal(bits, planes):
        raise ShardError("only encodings whose planes are all 0 or 1 can be packed into bits")
    return np.packbits(bits.reshape(len(planes), -1), axis=1)


def unpack_planes(packed: NDArray[np.uint8], spatial: int, size: int) -> NDArray[np.uint8]:
    """Return planes [B, C, H, W] of zeros and ones."""
    bits = np.unpackbits(packed, axis=1, count=spatial * size * size)
    return bits.reshape(-1, spatial, size, size)


@dataclass(frozen=True, slots=True)
class Header:
    """What all shards of a folder share."""

    encoding: str
    spatial: int
    global_: int
    teacher: str  # name and sha256 of the net that labelled, or ""
    plan: dict[str, Any]  # the sample plan, for the record

    def line(self) -> str:
        """Return the manifest's first line."""
        return json.dumps({"format": FORMAT, **{name: getattr(self, name) for name in self.__slots__}})


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
            ShardError: the file is missing or its records are of another shape.
        """
        try:
            array: NDArray[Any] = np.load(self.path / name, mmap_mode="r")
        except (OSError, ValueError) as error:
            raise ShardError(f"{self.path / name}: {error}") from error
        size = int(name.split("x")[0])
        if array.dtype != record_type(size, self.header.spatial, self.header.global_):
            raise ShardError(f"{self.path / name}: the records are of another format")
        return array


def read_manifest(path: Path) -> tuple[Header, list[dict[str, Any]]]:
    """Return the header and one dictionary a shard: name, size, positions, taken (samples used up so far), part."""
    try:
        lines = (path / MANIFEST).read_text(encoding="utf-8").splitlines()
        head = json.loads(lines[0])
        entries = [json.loads(line) for line in lines[1:] if line.endswith("}")]
    except (OSError, ValueError, IndexError) as error:
        raise ShardError(f"{path}: no readable {MANIFEST} ({error})") from error
    if head.pop("format", None) != FORMAT:
        raise ShardError(f"{path / MANIFEST}: not of format {FORMAT}")
    return Header(**head), entries


class ShardWriter:
    """Collects the records of one board size and writes a shard whenever `capacity` have come."""

    def __init__(self, path: Path, header: Header, size: int, *, capacity: int = 4096, part: str = "0/1") -> None:
        """Start or continue a folder; the manifest is made if there is none.

        Raises:
            ShardError: the folder was made with another encoding, teacher or plan.
        """
        path.mkdir(parents=True, exist_ok=True)
        if not (path / MANIFEST).exists():
            (path / MANIFEST).write_text(header.line() + "\n", encoding="utf-8")
        self.path, self.size, self.part, self.capacity = path, size, part, capacity
        known, entries = read_manifest(path)
        if known.line() != header.line():
            raise ShardError(f"{path}: holds shards of another encoding, teacher or plan; choose another folder")
        mine = [e for e in entries if e["size"] == size and e["part"] == part]
        self.number = len(mine)
        self.taken = max((int(e["taken"]) for e in mine), default=0)  # samples already used up
        self._records = np.zeros(capacity, record_type(size, header.spatial, header.global_))
        self._filled = 0

    def append(self, records: NDArray[Any], taken: int) -> None:
        """Add records; `taken` samples of this size have been used up with them (those left out included)."""
        done = 0
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
        temporary = self.path / (name + ".part")
        with temporary.open("wb") as file:
            np.save(file, self._records[: self._filled])
        os.replace(temporary, self.path / name)
        entry = {"name": name, "size": self.size, "positions": self._filled, "taken": taken, "part": self.part}
        with (self.path / MANIFEST).open("a", encoding="utf-8") as manifest:
            manifest.write(json.dumps(entry) + "\n")
        self.number, self._filled, self.taken = self.number + 1, 0, taken
