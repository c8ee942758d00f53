"""Nets as files: load_net reads any supported format; NetDescription is what a person is told about one.

A Net is data, a spec and arrays; evaluators are made of it by net_evaluator.make_evaluator. PyTorch is imported only
where somebody asks for a module or for tensors, so that a net can be read, and run by OpenVINO, without it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UnsupportedBoardSize, WeightsError
from ..evaluator import ENCODING_SHAPES
from .checkpoint import load_arrays
from .katago_format import load_katago
from .leelazero_format import load_leela_zero, looks_like_leela_zero
from .shapes import check_arrays
from .spec import Spec, count_blocks
from .spec_check import check_spec

if TYPE_CHECKING:
    from torch import Tensor, nn

PICKLES = (".pt", ".pth", ".ckpt", ".pkl", ".pickle")
MIN_SIZE, MAX_SIZE = 2, 25


@dataclass(frozen=True, slots=True)
class NetDescription:
    """What is known of a net file."""

    name: str
    file: str
    format: str  # "katago", "leela-zero" or "keisei"
    version: int  # model version of KataGo, 1 or 2 of Leela Zero
    encoding: str
    parameters: int
    blocks: int  # nested ones and their frames counted
    channels: int
    sizes: tuple[tuple[int, int], ...]  # (width, height) trained for; empty: not said
    sha256: str
    bytes: int
    metadata: dict[str, Any] = field(default_factory=dict)

    def trained_for(self, width: int, height: int) -> bool | None:
        """Tell whether the net was trained for that size; None where the file does not say."""
        return (width, height) in self.sizes if self.sizes else None


@dataclass(frozen=True, slots=True)
class Net:
    """A loaded net."""

    description: NetDescription
    spec: Spec
    arrays: dict[str, NDArray[np.float32]] = field(repr=False)

    def module(self) -> nn.Module:
        """Return a new float32 module for evaluation, on the CPU; its forward gives RawOutputs."""
        from .policy_value import build_module, load_tensors

        return load_tensors(build_module(self.spec), self.tensors)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The arrays as PyTorch tensors over the same memory."""
        import torch

        return {name: torch.from_numpy(array) for name, array in self.arrays.items()}

    @property
    def inputs(self) -> tuple[int, int]:
        """Planes and global inputs of the net's encoding."""
        return ENCODING_SHAPES[self.spec["encoding"]]

    @property
    def has_attention(self) -> bool:
        """Tell whether any block is attention over the board."""

        def any_in(blocks: list[Spec]) -> bool:
            return any(b["kind"] == "attention" or any_in(b.get("blocks", [])) for b in blocks)

        return isinstance(self.spec["blocks"], list) and any_in(self.spec["blocks"])

    def check_size(self, width: int, height: int) -> None:
        """Raises UnsupportedBoardSize where the net cannot play such a board."""
        if not self.supports_size(width, height):
            raise UnsupportedBoardSize(f"{self.description.name} cannot play on a {width}x{height} board")

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether the net can evaluate such a board at all (not: whether it was trained for it)."""
        if self.spec["family"] == "leela-zero":
            return width == height == 19
        if self.spec["family"] == "alphago-zero":
            return bool([width, height] == self.spec["size"])
        return MIN_SIZE <= width <= MAX_SIZE and MIN_SIZE <= height <= MAX_SIZE


def load_net(path: str | Path) -> Net:
    """Read a net file of any supported format.

    Raises: WeightsError naming the file and what is wrong with it.
    """
    path = Path(path)
    try:
        return _load(path)
    except WeightsError as error:
        raise WeightsError(f"{path}: {error}") from error
    except OSError as error:
        raise WeightsError(f"{path}: cannot be read ({error.strerror or error})") from error
    except MemoryError as error:
        raise WeightsError(f"{path}: too large for the memory") from error


def _load(path: Path) -> Net:
    if not path.is_file():
        raise WeightsError("no such file" if not path.exists() else "not a file")
    with open(path, "rb") as file:
        start = file.read(16)
    metadata: dict[str, Any] = {}
    if _is_pickle(path, start):
        raise WeightsError(
            "a PyTorch pickle, which can run code when it is loaded, is refused; convert it to safetensors"
        )
    if path.suffix == ".safetensors" or start[8:9] == b"{":
        kind = "keisei"
        spec, arrays, metadata = load_arrays(path)
    elif looks_like_leela_zero(path):
        kind = "leela-zero"
        spec, arrays = load_leela_zero(path)
    else:
        kind = "katago"
        spec, arrays = load_katago(path)
    check_spec(spec)
    check_arrays(spec, arrays)
    blocks = spec["blocks"]
    description = NetDescription(
        name=str(metadata.get("name") or spec["name"] or path.name.split(".")[0]),
        file=str(path),
        format=kind,
        version=spec["version"],
        encoding=spec["encoding"],
        parameters=sum(array.size for array in arrays.values()),
        blocks=blocks if isinstance(blocks, int) else count_blocks(blocks),
        channels=spec["channels"],
        sizes=_sizes(metadata),
        sha256=_sha256(path),
        bytes=path.stat().st_size,
        metadata=metadata,
    )
    return Net(description, spec, arrays)


def _is_pickle(path: Path, start: bytes) -> bool:
    """Recognise pickles by name, and by their first bytes: a zip archive (torch.save) or a bare pickle."""
    bare = start[:1] == b"\x80" and start[1:2] in (b"\2", b"\3", b"\4", b"\5")
    return path.suffix in PICKLES or start.startswith(b"PK\x03\x04") or bare


def _sizes(metadata: dict[str, Any]) -> tuple[tuple[int, int], ...]:
    sizes = metadata.get("sizes", [])
    try:
        found = tuple((w, h) for w, h in sizes)
    except (TypeError, ValueError):
        raise WeightsError("the metadata's sizes are not pairs of width and height") from None
    if not all(type(n) is int and MIN_SIZE <= n <= MAX_SIZE for pair in found for n in pair):
        raise WeightsError("the metadata's sizes are not board sizes")
    return found


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
