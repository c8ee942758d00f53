"""Our own net files: safetensors, the spec and what is known of the net as JSON in the header. Nothing in them can run.

The header has one key, "keisei_net": JSON of {"format": 1, "spec": a spec, "metadata": {…}}. The metadata say what
is known of the net; the code reads "name", "recipe" and "sizes", the boards trained for: [[width, height], …].
Tensors are those of the evaluation net (policy_value.fold_for_export), float32, or bfloat16/float16 where file size
matters; they are read as float32, without PyTorch, which only writing and `load` import.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors
from numpy.typing import NDArray

from ..errors import WeightsError
from .peek import KEY
from .spec import Spec
from .spec_check import check_spec

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = 1
_DTYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}


def save(path: str | Path, spec: Spec, tensors: dict[str, Tensor], metadata: dict[str, Any] | None = None) -> None:
    """Write a net file. The same arguments give the same bytes.

    Raises: WeightsError for a bad spec or tensors that do not fit it; OSError.
    """
    import safetensors.torch

    from .policy_value import build_module, load_tensors

    load_tensors(build_module(spec), tensors)
    header = {"format": FORMAT, "spec": spec, "metadata": metadata or {}}
    text = json.dumps(header, sort_keys=True, allow_nan=False)  # one key: their order in a safetensors header varies
    plain = {name: tensors[name].detach().cpu().contiguous() for name in sorted(tensors)}
    Path(path).write_bytes(safetensors.torch.save(plain, metadata={KEY: text}))


def load(path: str | Path) -> tuple[Spec, dict[str, Tensor], dict[str, Any]]:
    """Read a net file as load_arrays does, into PyTorch tensors."""
    import torch

    spec, arrays, metadata = load_arrays(path)
    return spec, {name: torch.from_numpy(array) for name, array in arrays.items()}, metadata


def load_arrays(path: str | Path) -> tuple[Spec, dict[str, NDArray[np.float32]], dict[str, Any]]:
    """Read a net file.

    Returns: (spec, arrays as float32, metadata).

    Raises: WeightsError saying what is wrong (without the file's name).
    """
    try:
        with safetensors.safe_open(str(path), framework="np") as file:
            text = (file.metadata() or {}).get(KEY)
        if text is None:
            raise WeightsError(f"a safetensors file without {KEY!r} in its header: not a Keisei net")
        header = json.loads(text)
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise WeightsError(f"a Keisei net, but not of format {FORMAT}")
        spec: Spec = header.get("spec", {})
        metadata = header.get("metadata")
        check_spec(spec)
        found = safetensors.deserialize(Path(path).read_bytes())  # type: ignore[no-untyped-call]
    except (safetensors.SafetensorError, ValueError, RecursionError, OSError) as error:
        raise WeightsError(f"damaged safetensors file ({error})") from error
    if not isinstance(metadata, dict):
        raise WeightsError("the metadata is not an object")
    return spec, {name: _array(name, entry) for name, entry in found}, metadata


def _array(name: str, entry: dict[str, Any]) -> NDArray[np.float32]:
    """Return one entry of safetensors.deserialize as float32."""
    kind = _DTYPES.get(entry["dtype"])
    if kind is None:
        raise WeightsError(f"tensor {name} has type {entry['dtype']}")
    raw = np.frombuffer(entry["data"], dtype=kind).reshape(entry["shape"])
    if entry["dtype"] == "BF16":  # the upper half of a float32
        return (raw.astype("<u4") << 16).view("<f4").astype(np.float32)
    return raw.astype(np.float32)
