"""Reads Leela Zero text nets (.txt, .txt.gz; versions 1 and 2) into a spec and named arrays.

Batch norms and convolution biases are folded into the convolutions. The file numbers rows from the bottom of the board;
kernels and fully connected layers are turned over once here, so that the net sees rows from the top like all others.
Source: docs/nets.md §5 (format facts); no code of Leela Zero's.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import WeightsError
from .peek import open_maybe_gzip
from .spec import Spec
from .spec_check import MAX_BLOCKS, MAX_CHANNELS
from .token_stream import parse_numbers

INPUTS, SIZE, POINTS, HIDDEN = 18, 19, 361, 256
EPSILON = 1e-5
MAX_LINE = 1 << 28  # bytes: a 2048-channel convolution has lines of about that size
INPUT_LINES, BLOCK_LINES, HEAD_LINES = 4, 8, 14

_Floats = NDArray[np.float32]


def looks_like_leela_zero(path: Path) -> bool:
    """Tell whether a file's first line is a lone 1 or 2 (a KataGo file starts with a name)."""
    try:
        with open_maybe_gzip(path) as stream:
            return stream.readline(16).strip() in (b"1", b"2")
    except (OSError, EOFError, zlib.error):
        return False


def load_leela_zero(path: Path) -> tuple[Spec, dict[str, _Floats]]:
    """Read a Leela Zero net file.

    Returns: its spec (spec.py) and its arrays, named as leelazero_net.LeelaZeroNet names them.

    Raises: WeightsError saying what is wrong (without the file's name); OSError where the file cannot be read.
    """
    version, rows = _read_rows(path)
    blocks, left = divmod(len(rows) - INPUT_LINES - HEAD_LINES, BLOCK_LINES)
    if blocks < 0 or left:
        raise WeightsError(f"{len(rows) + 1} lines: not the number that a whole Leela Zero net has (truncated?)")
    channels = len(rows[1])
    lines = _Lines(rows)
    tensors: dict[str, _Floats] = {}

    def put_conv(key: str, c_in: int, c_out: int, size: int) -> None:
        tensors[f"{key}.weight"], tensors[f"{key}.bias"] = lines.convolution(key, c_in, c_out, size)

    def put_linear(key: str, inputs: int, outputs: int) -> None:
        tensors[f"{key}.weight"] = lines.take(f"weights of {key}", inputs * outputs).reshape(outputs, inputs)
        tensors[f"{key}.bias"] = lines.take(f"biases of {key}", outputs)

    put_conv("input_conv", INPUTS, channels, 3)
    for i in range(blocks):
        put_conv(f"blocks.{i}.conv1", channels, channels, 3)
        put_conv(f"blocks.{i}.conv2", channels, channels, 3)
    put_conv("policy_conv", channels, 2, 1)
    put_linear("policy_out", 2 * POINTS, POINTS + 1)
    put_conv("value_conv", channels, 1, 1)
    put_linear("value_hidden", POINTS, HIDDEN)
    put_linear("value_out", HIDDEN, 1)
    _turn_over(tensors)
    spec: Spec = {
        "family": "leela-zero",
        "name": f"leelazero-b{blocks}c{channels}",
        "encoding": "leelazero-18",
        "version": version,
        "channels": channels,
        "blocks": blocks,
    }
    return spec, {key: t.copy() for key, t in tensors.items()}


def _read_rows(path: Path) -> tuple[int, list[_Floats]]:
    """Return the version and the rows of numbers, refusing files with absurdly many or long lines."""
    rows: list[_Floats] = []
    try:
        with open_maybe_gzip(path) as stream:
            first = stream.readline(64).strip()
            if first not in (b"1", b"2"):
                raise WeightsError(f"unknown Leela Zero version {first[:20].decode('ascii', 'replace')!r}")
            while line := stream.readline(MAX_LINE):
                number = len(rows) + 2
                if len(line) >= MAX_LINE or len(rows) > INPUT_LINES + BLOCK_LINES * MAX_BLOCKS + HEAD_LINES:
                    raise WeightsError(f"line {number}: more than any net holds")
                rows.append(_numbers(line, number))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise WeightsError(f"damaged or truncated gzip data ({error})") from error
    return int(first), rows


def _numbers(line: bytes, number: int) -> _Floats:
    words = line.split()
    if not words:
        raise WeightsError(f"line {number} is empty")
    try:
        values = parse_numbers(words)
    except ValueError as error:
        raise WeightsError(f"line {number}: {error}") from None
    if not bool(np.isfinite(values).all()):
        raise WeightsError(f"line {number} holds a number that is not finite")
    return values


class _Lines:
    """Hands out the rows in order, checking their lengths."""

    def __init__(self, rows: list[_Floats]) -> None:
        if not 1 <= len(rows[1]) <= MAX_CHANNELS:
            raise WeightsError(f"{len(rows[1])} channels are more than any net has")
        self._rows = rows
        self._next = 0

    def take(self, what: str, count: int) -> _Floats:
        row = self._rows[self._next]
        self._next += 1
        if len(row) != count:
            raise WeightsError(f"line {self._next + 1} ({what}) has {len(row)} numbers instead of {count}")
        return row

    def convolution(self, key: str, c_in: int, c_out: int, size: int) -> tuple[_Floats, _Floats]:
        """Return weights [out, in, y, x] and bias [out] with the batch norm folded in."""
        weights = self.take(f"weights of {key}", c_out * c_in * size * size).astype(np.float64)
        bias = self.take(f"biases of {key}", c_out).astype(np.float64)
        mean = self.take(f"means of {key}", c_out).astype(np.float64) - bias
        variance = self.take(f"variances of {key}", c_out).astype(np.float64)
        if not bool((variance + EPSILON > 0).all()):
            raise WeightsError(f"line {self._next + 1} (variances of {key}) has a negative variance")
        scale = 1.0 / np.sqrt(variance + EPSILON)
        weights = weights.reshape(c_out, c_in, size, size) * scale[:, None, None, None]
        return weights.astype(np.float32), (-mean * scale).astype(np.float32)


def _turn_over(tensors: dict[str, _Floats]) -> None:
    """Flip the rows of the board in every weight that knows them."""
    for key in tensors:
        if tensors[key].ndim == 4:
            tensors[key] = tensors[key][:, :, ::-1, :]
    weight, bias = tensors["policy_out.weight"], tensors["policy_out.bias"]
    turned = np.arange(POINTS).reshape(SIZE, SIZE)[::-1].ravel()
    actions = np.append(turned, POINTS)
    weight = weight.reshape(POINTS + 1, 2, POINTS)[actions][:, :, turned]
    tensors["policy_out.weight"], tensors["policy_out.bias"] = weight.reshape(POINTS + 1, 2 * POINTS), bias[actions]
    tensors["value_hidden.weight"] = tensors["value_hidden.weight"][:, turned]
