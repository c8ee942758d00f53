"""Our own net files: safetensors, the spec and what is known of the net as JSON in the header. Nothing in them can run.

The header has one key, "keisei_net": JSON of {"format": 1, "spec": a spec, "metadata": {…}}. The metadata say what
is known of the net; the code reads "name", "recipe" and "sizes", the boards trained for: [[width, height], …].
Tensors are those of the evaluation net (policy_value.fold_for_export), float32, or bfloat16/float16 where file size
matters; they are read as float32.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from ..errors import WeightsError
from .spec import Spec, check_spec

KEY = "keisei_net"
FORMAT = 1
_DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def save(path: str | Path, spec: Spec, tensors: dict[str, Tensor], metadata: dict[str, Any] | None = None) -> None:
    """Write a net file. The same arguments give the same bytes.

    Raises: WeightsError for a bad spec or tensors that do not fit it; OSError.
    """
    from .policy_value import build_module, load_tensors

    load_tensors(build_module(spec), tensors)
    header = {"format": FORMAT, "spec": spec, "metadata": metadata or {}}
    text = json.dumps(header, sort_keys=True, allow_nan=False)  # one key: their order in a safetensors header varies
    plain = {name: tensors[name].detach().cpu().contiguous() for name in sorted(tensors)}
    Path(path).write_bytes(safetensors.torch.save(plain, metadata={KEY: text}))


def load(path: str | Path) -> tuple[Spec, dict[str, Tensor], dict[str, Any]]:
    """Read a net file.

    Returns: (spec, tensors as float32, metadata).

    Raises: WeightsError saying what is wrong (without the file's name).
    """
    try:
        with safetensors.safe_open(str(path), framework="pt") as file:
            text = (file.metadata() or {}).get(KEY)
            if text is None:
                raise WeightsError(f"a safetensors file without {KEY!r} in its header: not a Keisei net")
            header = json.loads(text)
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise WeightsError(f"a Keisei net, but not of format {FORMAT}")
            spec: Spec = header.get("spec", {})
            metadata = header.get("metadata")
            check_spec(spec)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (safetensors.SafetensorError, ValueError, RecursionError, OSError) as error:
        raise WeightsError(f"damaged safetensors file ({error})") from error
    if not isinstance(metadata, dict):
        raise WeightsError("the metadata is not an object")
    for name, tensor in tensors.items():
        if tensor.dtype not in _DTYPES:
            raise WeightsError(f"tensor {name} has type {tensor.dtype}")
    return spec, {name: tensor.float() for name, tensor in tensors.items()}, metadata
