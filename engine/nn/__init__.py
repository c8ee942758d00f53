"""Nets: file formats, the PyTorch modules they become, and the evaluator that runs them. Imports torch on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .net import Net, NetDescription, load_net
    from .settings import NetSettings
    from .torch_evaluator import TorchEvaluator, make_evaluator

__all__ = ["Net", "NetDescription", "NetSettings", "TorchEvaluator", "load_net", "make_evaluator"]

_HOMES = {
    "Net": "net",
    "NetDescription": "net",
    "load_net": "net",
    "NetSettings": "settings",
    "TorchEvaluator": "torch_evaluator",
    "make_evaluator": "torch_evaluator",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
