"""Chooses what runs a net on the CPU, OpenVINO or PyTorch, and keeps PyTorch as the spare where OpenVINO fails.

OpenVINO is an optional extra (without it PyTorch must be there): two thirds of its processor time for the same net
(docs/performance.md).
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError, EngineError
from ..usage import install_hint
from .devices import installed, need_torch, torch_missing

log = logging.getLogger(__name__)
FloatArray = NDArray[np.float32]


class Runner(Protocol):
    """Evaluates packed batches, up to two at a time."""

    def allocate(self, shape: tuple[int, ...]) -> FloatArray: ...
    def start(self, spatial: FloatArray, globals_: FloatArray) -> Any: ...
    def finish(self, handle: Any) -> FloatArray: ...
    def evaluate(self, spatial: FloatArray, globals_: FloatArray) -> FloatArray: ...
    def close(self) -> None: ...


def choose_runtime(wanted: str, device: str, family: str) -> str:
    """Return "openvino" or "torch" for the setting, by what is installed; says once where auto does without OpenVINO.

    Raises: EngineError where what is asked for, or everything, is not installed, ConfigError for OpenVINO on a GPU.
    """
    if device != "cpu":
        if wanted == "openvino":
            raise ConfigError(f"runtime openvino is for the CPU, not for {device}")
        return "torch"
    if wanted == "torch":
        need_torch("runtime torch")
        return "torch"
    missing = openvino_missing() or graph_missing(family)
    if missing is None:
        return "openvino"
    if wanted == "openvino":
        raise EngineError(f"runtime openvino: {missing}")
    if torch_missing():
        raise EngineError(f"nothing can run the net: {missing}; {torch_missing()}")
    say_once(f"{missing}; the net runs by PyTorch, which is slower on a CPU")
    return "torch"


@functools.cache
def openvino_missing() -> str | None:
    """Return why OpenVINO cannot be used, or None."""
    if not installed("openvino"):
        return f"OpenVINO is not installed ({install_hint('openvino')})"
    try:
        from .openvino_ops import core

        if "CPU" not in core().available_devices:
            return "OpenVINO has no CPU device here"
    except (ImportError, OSError, RuntimeError, AttributeError) as error:  # a damaged or far too old installation
        return f"OpenVINO cannot be loaded ({type(error).__name__}: {error})"
    return None


def graph_missing(family: str) -> str | None:
    """Return why nets of a family (spec.py) cannot run by OpenVINO, or None."""
    from .openvino_graph import FAMILIES

    return None if family in FAMILIES else f"OpenVINO graphs of {family} nets are not made"


@functools.cache
def say_once(text: str) -> None:
    """Log a warning, the same one only once in a process."""
    log.warning("%s", text)


class SparedRunner:
    """Runs by one runner until it fails, and from then on by a spare one; no batch is lost.

    Args:
        first: the runner to begin with.
        spare: makes the other one when it is needed; None: a failure is an EngineError.
        name: of the first, for the log.
    """

    def __init__(self, first: Runner, spare: Callable[[], Runner] | None, name: str) -> None:
        self._runner = self._first = first
        self._make_spare = spare
        self._name = name

    def allocate(self, shape: tuple[int, ...]) -> FloatArray:
        """Return a zeroed float32 array."""
        return self._runner.allocate(shape)

    def start(self, spatial: FloatArray, globals_: FloatArray) -> tuple[Runner, Any, FloatArray, FloatArray]:
        """Begin a batch; the arrays must stay unchanged until finish."""
        runner = self._runner
        try:
            return runner, runner.start(spatial, globals_), spatial, globals_
        except RuntimeError as error:
            runner = self._replace(runner, error)
            return runner, runner.start(spatial, globals_), spatial, globals_

    def finish(self, handle: tuple[Runner, Any, FloatArray, FloatArray]) -> FloatArray:
        """Wait for a batch and return its packed rows."""
        runner, inner, spatial, globals_ = handle
        try:
            return runner.finish(inner)
        except RuntimeError as error:
            return self._replace(runner, error).evaluate(spatial, globals_)

    def evaluate(self, spatial: FloatArray, globals_: FloatArray) -> FloatArray:
        """Evaluate at once."""
        return self.finish(self.start(spatial, globals_))

    def prepare(self, width: int, height: int, rows: int) -> None:
        """Make ready for batches of up to so many rows on a board size, where the runner can; from any thread."""
        prepare = getattr(self._runner, "prepare", None)
        if prepare is not None:
            prepare(width, height, rows)

    def close(self) -> None:
        """Release what both hold."""
        self._first.close()
        if self._runner is not self._first:
            self._runner.close()

    def _replace(self, failed: Runner, error: RuntimeError) -> Runner:
        """Return the spare runner. Raises EngineError where there is none, or where it is the one that failed."""
        if self._make_spare is None or failed is not self._first:
            raise EngineError(f"{self._name} failed: {error}") from error
        if self._runner is self._first:
            say_once(f"{self._name} failed ({error}); the net runs by PyTorch from now on")
            self._runner = self._make_spare()
        return self._runner
