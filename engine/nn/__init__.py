"""Nets: file formats, the PyTorch modules they become, and the evaluator that runs them. Imports torch on first use."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .net import Net, NetDescription, load_net
    from .net_evaluator import NetEvaluator, make_evaluator
    from .settings import NetSettings

# Read by OpenMP when torch is loaded. Perf: threads that spin at a barrier cost 1.5 times the processor time of a large
# net while two other programs run on two cores, and save 2 % on an idle machine (b10c384h6, 2026-11-30).
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__all__ = ["Net", "NetDescription", "NetEvaluator", "NetSettings", "load_net", "make_evaluator"]

_HOMES = {
    "Net": "net",
    "NetDescription": "net",
    "load_net": "net",
    "NetSettings": "settings",
    "NetEvaluator": "net_evaluator",
    "make_evaluator": "net_evaluator",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
