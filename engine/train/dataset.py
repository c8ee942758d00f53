"""Batches of labelled positions from shard folders: shuffled, in random symmetries, resumable to the very batch.

What a batch holds is a function of the seed, the step and the shards listed at the start of the epoch, so the state to
save is small. Folders may grow while training runs; an epoch sees the shards that were there when it began.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.board.symmetry import symmetry_table

from .plane_store import load_planes
from .shards import Header, ShardError, ShardFolder, copy_records, merge_headers
from .targets import decode, turn

log = logging.getLogger(__name__)

SIMPLE_KO = ("katago-v6", "katago-v7")  # encodings with the ko rule in globals 6 and 7, area scoring as 0 in 9
GONE = "%dx%d: a shard that the run was going through is gone (folder number/file %s); a new epoch begins"
VALIDATION_MODULUS = 97  # games whose number is divisible by this validate (about 1 %) and are never trained on


@dataclass(frozen=True, slots=True)
class Batch:
    """B labelled positions of one board size (P points, A = P + 1 actions), to_play's view.

    `targets` holds what the folders hold, as engine.train.targets says of each: `batch.targets["policy"]`. What one
    folder of a mixed run does not have is unknown in its rows (NaN, -1, or a policy of zeros).
    """

    spatial: Tensor  # [B, C, H, W] uint8 (0 or 1), or float32 where an encoding has other values
    globals_: Tensor  # [B, G] float32
    targets: dict[str, Tensor]  # name -> [B, ...]

    def to(self, device: torch.device) -> Batch:
        """Return the batch on a device; from pinned memory the copies do not block."""
        if device.type == "cpu":
            return self
        targets = {name: tensor.to(device, non_blocking=True) for name, tensor in self.targets.items()}
        return Batch(self.spatial.to(device, non_blocking=True), self.globals_.to(device, non_blocking=True), targets)

    def pin(self) -> Batch:
        """Return the batch in page-locked memory."""
        targets = {name: tensor.pin_memory() for name, tensor in self.targets.items()}
        return Batch(self.spatial.pin_memory(), self.globals_.pin_memory(), targets)

    def __len__(self) -> int:
        return len(self.spatial)


def make_batch(records: NDArray[Any], header: Header, size: int, symmetries: Sequence[int] = (0,)) -> Batch:
    """Unpack records and turn consecutive parts of them, one part a symmetry (as engine.board.symmetry has them).

    Args:
        records: [B] of header.record_type(size).
        header: of their folder, or the merged one of several folders.
        size: of the board.
        symmetries: the parts' symmetries; B need not be divisible.
    """
    planes = load_planes(records, header.encoding, header.spatial, size)
    targets = {name: decode(name, records[name]) for name in header.targets}
    for part, symmetry in zip(np.array_split(np.arange(len(records)), len(symmetries)), symmetries, strict=True):
        if not len(part) or not symmetry:
            continue
        rows = slice(part[0], part[-1] + 1)
        table = symmetry_table(size, size, symmetry)  # old action -> new action
        planes[rows] = planes[rows][:, :, np.argsort(table[:-1])]  # from new point to old point
        for name, values in targets.items():
            values[rows] = turn(name, values[rows], table)
    return Batch(
        spatial=torch.from_numpy(planes.reshape(-1, header.spatial, size, size)),
        globals_=torch.from_numpy(records["globals"].copy()),
        targets={name: torch.from_numpy(values) for name, values in targets.items()},
    )


def show_simple_ko(globals_: NDArray[np.float32], share: float) -> None:
    """Set the ko rule of this share of the rows with area scoring to simple ko, in place.

    A label holds for either ko rule but where a repetition is near; a net that never saw simple ko under area scoring
    misjudges it, though ("chinese" over GTP is that).

    Args:
        globals_: [B, G] of an encoding in SIMPLE_KO.
        share: 0 to 1; the rows are the same for the same batch.
    """
    chosen = np.arange(len(globals_)) * 37 % 100 < 100 * share
    globals_[np.ix_(chosen & (globals_[:, 9] == 0), (6, 7))] = 0.0


class Pool:
    """All records of one board size in some folders, without (or only with) the validation games."""

    def __init__(self, folders: Sequence[ShardFolder], size: int, *, validation: bool = False) -> None:
        self.size = size
        self._parts: dict[str, NDArray[Any]] = {}
        self._rows: dict[str, NDArray[np.int64]] = {}
        self._folders, self._validation = list(folders), validation
        self.header = merge_headers([folder.header for folder in folders])

    def names(self) -> list[str]:
        """Return the shards that are there now, as folder number/file name."""
        found = []
        for number, folder in enumerate(self._folders):
            folder.refresh()
            found += [f"{number}/{entry['name']}" for entry in folder.entries if entry["size"] == self.size]
        return found

    def rows(self, name: str) -> NDArray[np.int64]:
        """Return the usable rows of a shard."""
        if name not in self._rows:
            number, file = name.split("/", 1)
            part = self._folders[int(number)].open(file)
            chosen = (part["game"] % VALIDATION_MODULUS == 0) == self._validation
            self._parts[name], self._rows[name] = part, np.flatnonzero(chosen)
        return self._rows[name]

    def take(self, names: Sequence[str], indices: NDArray[np.int64]) -> NDArray[Any]:
        """Return the records at indices into the concatenation of the usable rows of these shards."""
        ends = np.cumsum([len(self.rows(name)) for name in names])
        which = np.searchsorted(ends, indices, side="right")
        records = self.header.empty(self.size, len(indices))
        for number in np.unique(which):
            name, mask = names[number], which == number
            local = indices[mask] - (ends[number - 1] if number else 0)
            picked = self._parts[name][self._rows[name][local]]
            if picked.dtype == records.dtype:
                records[mask] = picked
            else:
                widened = self.header.empty(self.size, len(picked))
                copy_records(widened, picked)
                records[mask] = widened
        return records


@dataclass(frozen=True, slots=True)
class Draw:
    """What a batch will hold: rows of the shards named, of one size, and the symmetries of its eighths."""

    size: int
    names: list[str]
    rows: NDArray[np.int64]
    symmetries: list[int]


class Loader:
    """An endless, resumable stream of training batches, one board size a batch."""

    def __init__(
        self,
        paths: Sequence[Path],
        batch: int,
        shares: dict[int, float],
        *,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        agree: Callable[[list[str]], list[str]] = lambda names: names,
        simple_ko_share: float = 0.0,
    ) -> None:
        """Open the folders.

        Args:
            paths: shard folders, all of one encoding.
            batch: positions a batch on the largest size; smaller boards get more, at the same number of points,
                up to twice as many.
            shares: board size -> share of the batches.
            seed: of the shuffling and the symmetries.
            rank, world: of `world` processes that train together each sees its own part of every `world` batches.
            agree: gives all processes the same list of shards, since folders may grow.
            simple_ko_share: of the positions under area scoring, shown under simple ko instead of their superko.

        Raises:
            ShardError: a folder is unusable, the encodings differ, or this one does not say the ko rule.
        """
        self.folders = [ShardFolder(path) for path in paths]
        self.header = merge_headers([folder.header for folder in self.folders])
        self.rank, self.world, self.agree = rank, world, agree
        if simple_ko_share and self.header.encoding not in SIMPLE_KO:
            raise ShardError(f"simple_ko_share needs one of {', '.join(SIMPLE_KO)}, not {self.header.encoding}")
        self.simple_ko_share = simple_ko_share
        self.pools = {size: Pool(self.folders, size) for size in shares}
        largest = max(shares)
        self.batch = {size: int(batch * min(2.0, (largest / size) ** 2)) for size in shares}
        self.shares, self.seed, self.step = dict(shares), seed, 0
        self.epochs: dict[int, dict[str, Any]] = {size: {"epoch": -1, "cursor": 0, "names": []} for size in shares}
        self._orders: dict[int, NDArray[np.int64]] = {}

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to go on with the next batch."""
        return {"step": self.step, "epochs": {str(s): {**e, "names": list(e["names"])} for s, e in self.epochs.items()}}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where a saved state left off."""
        self.step = state["step"]
        for text, epoch in state["epochs"].items():
            size = int(text)
            if size in self.shares:
                gone = set(epoch["names"]) - set(self.pools[size].names())
                if gone:
                    log.warning(GONE, size, size, min(gone))
                self.epochs[size] = {**epoch, "cursor": 0, "names": []} if gone else dict(epoch)
        self._orders.clear()

    def drop_absent_sizes(self) -> list[int]:
        """Leave out the sizes that have not enough positions for a batch yet; return them.

        Raises:
            ShardError: no size has.
        """
        found = self.positions()
        absent = [size for size in self.shares if found[size] < self.batch[size] * self.world]
        absent = [int(size) for size in self.agree([str(size) for size in absent])]
        if len(absent) == len(self.shares):
            need = ", ".join(f"{found[size]} of {self.batch[size] * self.world} on {size}x{size}" for size in absent)
            raise ShardError(f"the labelled positions are not one batch: {need}")
        for size in absent:
            del self.shares[size], self.pools[size], self.epochs[size]
        return absent

    def positions(self) -> dict[int, int]:
        """Return how many training positions there are now, by size."""
        return {size: sum(len(pool.rows(n)) for n in pool.names()) for size, pool in self.pools.items()}

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        return self.make(self.draw())

    def draw(self) -> Draw:
        """Choose what the next batch holds, and go on to the one after it."""
        rng = np.random.default_rng([self.seed, self.step])
        sizes = list(self.shares)
        weights = np.array([self.shares[size] for size in sizes], float)
        size = sizes[rng.choice(len(sizes), p=weights / weights.sum())]
        if self.rank:
            rng = np.random.default_rng([self.seed, self.step, self.rank])
        self.step += 1
        names, rows = self._next_rows(size)
        return Draw(size, names, rows, rng.permutation(8).tolist())

    def make(self, draw: Draw) -> Batch:
        """Make the batch of a draw; several threads may do so at once."""
        records = self.pools[draw.size].take(draw.names, draw.rows)
        if self.simple_ko_share:
            show_simple_ko(records["globals"], self.simple_ko_share)
        return make_batch(records, self.header, draw.size, draw.symmetries)

    def _next_rows(self, size: int) -> tuple[list[str], NDArray[np.int64]]:
        pool, epoch, mine = self.pools[size], self.epochs[size], self.batch[size]
        wanted = mine * self.world
        order = self._order(size)
        if epoch["cursor"] + wanted > len(order):
            epoch["epoch"], epoch["cursor"], epoch["names"] = epoch["epoch"] + 1, 0, self.agree(pool.names())
            self._orders.pop(size, None)
            order = self._order(size)
            if len(order) < wanted:
                raise ShardError(f"{len(order)} labelled {size}x{size} positions are not one batch of {wanted}")
        start = epoch["cursor"] + self.rank * mine
        epoch["cursor"] += wanted
        return epoch["names"], order[start : start + mine]

    def _order(self, size: int) -> NDArray[np.int64]:
        if size not in self._orders:
            epoch = self.epochs[size]
            total = sum(len(self.pools[size].rows(name)) for name in epoch["names"])
            rng = np.random.default_rng([self.seed, size, max(0, epoch["epoch"])])
            self._orders[size] = rng.permutation(total)
        return self._orders[size]


def validation_batches(folders: Sequence[ShardFolder], sizes: Sequence[int], limit: int, batch: int) -> Iterator[Batch]:
    """Yield the validation games' positions, at most `limit` of each size, unturned."""
    for size in sizes:
        pool = Pool(folders, size, validation=True)
        names = pool.names()
        total = min(limit, sum(len(pool.rows(name)) for name in names))
        for start in range(0, total, batch):
            yield make_batch(pool.take(names, np.arange(start, min(start + batch, total))), pool.header, size)
