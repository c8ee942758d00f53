"""Reads KataGo's mixture of text tokens and raw float blocks from a file, gzipped or not, without trusting it.

Memory is bounded by what the file really holds: sizes are checked against limits first and arrays grow as bytes arrive,
so a damaged length cannot ask for gigabytes. Every failure is a WeightsError; the caller adds the file's name.
"""

from __future__ import annotations

import math
import re
import zlib
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..errors import WeightsError

CHUNK = 1 << 16
MAX_TOKEN = 1024
MAX_NUMBER = 48  # characters of one number
MAX_SPACE = 1 << 20  # bytes of whitespace between tokens
MAX_ARRAY = 1 << 28  # numbers in one array
MAX_TOTAL = 1 << 30  # numbers in one file
BINARY_MARK = b"@BIN@"
_INTEGER = re.compile(rb"[+-]?[0-9]{1,12}\Z")
_NUMBER = re.compile(rb"[+-]?[0-9.][0-9.eE+-]*\Z")


class TokenStream:
    """Tokens and float arrays of an open binary stream, in order."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._data = b""
        self._at = 0
        self._ended = False
        self._total = 0
        self._binary: bool | None = None  # known after the first array

    def _more(self) -> bool:
        """Append the next chunk to the buffer; False at the end of the file."""
        if self._ended:
            return False
        try:
            chunk = self._stream.read(CHUNK)
        except (OSError, EOFError, zlib.error) as error:
            raise WeightsError(f"damaged or truncated gzip data ({error})") from error
        if not chunk:
            self._ended = True
            return False
        self._data = self._data[self._at :] + chunk
        self._at = 0
        return True

    def _skip_space(self) -> None:
        skipped = 0
        while True:
            while self._at < len(self._data) and self._data[self._at] in b" \t\r\n\v\f":
                self._at += 1
                skipped += 1
                if skipped > MAX_SPACE:
                    raise WeightsError("too much white space")
            if self._at < len(self._data) or not self._more():
                return

    def token(self, what: str) -> bytes:
        """Return the next token. Raises WeightsError at the end of the file or for an endless token."""
        self._skip_space()
        while True:
            match = re.compile(rb"\S*").match(self._data, self._at)
            end = match.end() if match else self._at
            if end - self._at > MAX_TOKEN:
                raise WeightsError(f"no sensible {what} (a word of more than {MAX_TOKEN} characters)")
            if end < len(self._data) or not self._more():
                break
        token = self._data[self._at : end]
        if not token:
            raise WeightsError(f"the file ends where the {what} should be (truncated?)")
        self._at = end
        return token

    def word(self, what: str) -> str:
        """Return the next token as text. Raises WeightsError where it is not printable ASCII."""
        token = self.token(what)
        if not all(33 <= byte < 127 for byte in token):
            raise WeightsError(f"the {what} is not text")
        return token.decode("ascii")

    def integer(self, what: str, low: int, high: int) -> int:
        """Return the next token as an integer in low..high (inclusive)."""
        token = self.token(what)
        if not _INTEGER.match(token):
            raise WeightsError(f"the {what} is not a whole number: {_show(token)}")
        value = int(token)
        if not low <= value <= high:
            raise WeightsError(f"the {what} is {value}, not between {low} and {high}")
        return value

    def number(self, what: str) -> float:
        """Return the next token as a finite float."""
        token = self.token(what)
        try:
            value = float(token) if _NUMBER.match(token) else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise WeightsError(f"the {what} is not a finite number: {_show(token)}")
        return value

    def floats(self, count: int, what: str) -> NDArray[np.float32]:
        """Return `count` numbers, raw or as text, whichever the file uses; all must be finite."""
        self._total += count
        if not 0 < count <= MAX_ARRAY or self._total > MAX_TOTAL:
            raise WeightsError(f"{what}: {count} numbers, {self._total} in all, are more than any net has")
        self._skip_space()
        while len(self._data) - self._at < len(BINARY_MARK) and self._more():
            pass
        binary = self._data.startswith(BINARY_MARK, self._at)
        if self._binary is None:
            self._binary = binary
        if binary != self._binary:
            raise WeightsError(f"{what}: the mark @BIN@ of a block of numbers is missing or misplaced")
        values = self._raw(count, what) if binary else self._text(count, what)
        if not bool(np.isfinite(values).all()):
            raise WeightsError(f"{what}: a number is not finite")
        return values

    def _raw(self, count: int, what: str) -> NDArray[np.float32]:
        self._at += len(BINARY_MARK)
        parts, need = [], 4 * count
        while need:
            part = self._data[self._at : self._at + need]
            self._at += len(part)
            need -= len(part)
            parts.append(part)
            if need and not self._more():
                got = count - (need + 3) // 4
                raise WeightsError(f"{what}: the file ends after {got} of {count} numbers (truncated?)")
        return np.frombuffer(b"".join(parts), dtype="<f4").astype(np.float32)

    def _text(self, count: int, what: str) -> NDArray[np.float32]:
        parts: list[NDArray[np.float32]] = []
        need = count
        while need:
            self._skip_space()
            cut = self._data.rfind(b"\n", self._at)
            cut = max(cut, self._data.rfind(b" ", self._at))
            if cut <= self._at:  # the last word of the buffer may be incomplete: read one word with care
                words = [self.token(what)]
            else:
                pieces = self._data[self._at : cut].split(None, need)
                words = pieces[:need]
                rest = pieces[need] if len(pieces) > need else b""
                self._at = cut - len(rest)
            need -= len(words)
            try:
                parts.append(parse_numbers(words))
            except ValueError as error:
                raise WeightsError(f"{what}: {error}") from None
        return np.concatenate(parts)

    def finish(self) -> None:
        """Check that nothing but white space follows. Reads to the end, so that gzip checks its sum."""
        self._skip_space()
        if self._at < len(self._data):
            raise WeightsError(f"data follow the end of the net: {_show(self._data[self._at : self._at + 20])}")


def parse_numbers(words: list[bytes]) -> NDArray[np.float32]:
    """Return numbers written in ASCII as float32; those out of range become infinite.

    Raises: ValueError naming a word that is no finite number, or is too long to be one (numpy pads all to the longest).
    """
    bad = next((word for word in words if len(word) > MAX_NUMBER or not _NUMBER.match(word)), None)
    if bad is not None:
        raise ValueError(f"not a finite number: {_show(bad)}")
    with np.errstate(over="ignore"):
        return np.array(words, dtype=f"S{MAX_NUMBER}").astype(np.float64).astype(np.float32)


def _show(token: bytes) -> str:
    return repr(token[:40].decode("ascii", "replace"))
