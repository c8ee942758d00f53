"""A look at the beginning of a net file, for a session that has to say at once what is no net; it takes no time.

What is damaged further on comes out when the file is loaded (net.py). No numpy here, which takes long to import.
"""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import BinaryIO, cast

from ..errors import WeightsError

KEY = "keisei_net"  # of the header of our own files, see checkpoint.py
FIRST = 300  # bytes that hold the name and the version of a KataGo net
LONGEST_HEADER = 1 << 26  # bytes


def open_maybe_gzip(path: Path) -> BinaryIO:
    """Open a file for reading, unpacking it if its first bytes say gzip. Raises OSError."""
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path, "rb")) if packed else open(path, "rb")


def refuse_other_files(path: Path, *, plays: bool) -> None:
    """Raise WeightsError, naming the file, if it does not begin as a net file does, or is a net of another use.

    Args:
        plays: it is to choose moves, which a judgment net does not.
    """
    try:
        with open(path, "rb") as file:
            start = file.read(9)
            if path.suffix == ".safetensors" or start[8:9] == b"{":
                size = int.from_bytes(start[:8], "little")
                text = start[8:] + file.read(size - 1) if 0 < size <= LONGEST_HEADER else b""
                family = _family(text)
                if family is None:
                    raise WeightsError(f"{path} is not a net file")
                if plays and family == "judgment":
                    raise WeightsError(f"{path}: judges positions, but chooses no moves")
                return
        if start.startswith((b"PK\3\4", b"\x80")):
            return  # a pickle, which net.py refuses with its reason
        with open_maybe_gzip(path) as stream:
            words = stream.read(FIRST).split()
    except OSError as error:
        if error.errno is not None:
            raise WeightsError(f"{path}: cannot be read ({error.strerror or error})") from error
        raise WeightsError(f"{path} is not a net file") from error  # gzip's errors have no number
    except (EOFError, zlib.error) as error:
        raise WeightsError(f"{path} is not a net file") from error
    leela_zero = words[:1] in ([b"1"], [b"2"])
    if not leela_zero and not (len(words) > 1 and words[1].isdigit()):
        raise WeightsError(f"{path} is not a net file")


def _family(header: bytes) -> str | None:
    """Return the family that the header of a safetensors file of ours names; None if it is not of ours."""
    try:
        return str(json.loads(json.loads(header)["__metadata__"][KEY])["spec"]["family"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
