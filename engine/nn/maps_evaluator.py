"""Runs a judgment net on what its device calls for: by OpenVINO on a CPU, without PyTorch, else as
judgment_evaluator.py does. Both are engine.judge.judgment_net.Maps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineError, WeightsError
from .devices import choose_devices, choose_precision, choose_threads
from .net import Net
from .runtimes import choose_runtime
from .settings import NetSettings
from .shapes import JUDGMENT_MAPS

FloatArray = NDArray[np.float32]
MAX_BATCH = 32


class JudgmentEvaluatorBase:
    """What evaluators of judgment nets share, whatever runs them. Raises WeightsError for a net of another family."""

    encoding: str
    max_batch: int
    name: str

    def __init__(self, net: Net) -> None:
        if net.spec["family"] != "judgment":
            raise WeightsError(f"{net.description.file}: plays, but is no judgment net")
        self.net = net
        self.encoding = net.description.encoding

    @property
    def thresholds(self) -> dict[str, float]:
        """What was fitted on validation games for this net (`keisei evaluate thresholds`); empty if nothing was."""
        found = self.net.description.metadata.get("thresholds", {})
        return {str(key): float(value) for key, value in found.items()} if isinstance(found, dict) else {}

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether the net takes such a board."""
        return self.net.supports_size(width, height)

    def allocate(self, batch: int, width: int, height: int) -> tuple[FloatArray, FloatArray]:
        """Return zeroed inputs: spatial [batch, C, H, W], globals [batch, G]."""
        planes, n_globals = self.net.inputs
        return np.zeros((batch, planes, height, width), np.float32), np.zeros((batch, n_globals), np.float32)

    def check_inputs(self, spatial: FloatArray, globals_: FloatArray) -> tuple[int, int, int]:
        """Return (batch, width, height). Raises ValueError for a wrong shape, UnsupportedBoardSize."""
        batch, planes, height, width = spatial.shape
        if (planes, globals_.shape) != (self.net.inputs[0], (batch, self.net.inputs[1])):
            raise ValueError(f"inputs {spatial.shape}, {globals_.shape} do not fit the encoding {self.encoding}")
        if not 1 <= batch <= self.max_batch:
            raise ValueError(f"a batch of {batch}; 1 to {self.max_batch} are allowed")
        self.net.check_size(width, height)
        return batch, width, height


class OpenVinoMaps(JudgmentEvaluatorBase):
    """A judgment net on the CPU by OpenVINO.

    Args:
        net: of family "judgment".
        settings: section `net`.

    Raises: WeightsError for a net of another family.
    """

    def __init__(self, net: Net, settings: NetSettings) -> None:
        from .openvino_graph import build_model
        from .openvino_runner import OpenVinoRunner

        super().__init__(net)
        precision = choose_precision(settings.precision, "cpu", net.description.channels)
        threads = choose_threads(settings.threads)

        def build(width: int, height: int, batch: int) -> Any:
            return build_model(net.spec, net.arrays, width=width, height=height, batch=batch)

        self._runner = OpenVinoRunner(
            build, threads=threads, keep=4, precision="bf16" if precision == "bfloat16" else "f32"
        )
        self.max_batch = settings.max_batch or MAX_BATCH
        self.name = f"{net.description.name} on cpu, {precision}"

    def maps(self, spatial: FloatArray, globals_: FloatArray) -> FloatArray:
        """Return [B, 5, P] as JudgmentEvaluator.maps does.

        Raises: ValueError for inputs of the wrong shape, UnsupportedBoardSize, EngineError where the net fails.
        """
        batch, width, height = self.check_inputs(spatial, globals_)
        try:
            maps = self._runner.evaluate(spatial, globals_).reshape(batch, JUDGMENT_MAPS, height * width)
        except RuntimeError as error:
            raise EngineError(f"{self.name} failed: {error}") from error
        if not np.isfinite(maps).all():
            raise EngineError(f"{self.name}: the net gave a number that is not finite (try --precision float32)")
        return maps


def make_maps_evaluator(net: Net, settings: NetSettings) -> Any:
    """Return a judgment net's evaluator on the device and runtime that the settings name.

    Raises: WeightsError for a net of another family, EngineError where what is asked for is not there.
    """
    device = choose_devices(settings.device)[0]
    if device == "cpu" and choose_runtime(settings.runtime, "cpu", net.spec["family"]) == "openvino":
        return OpenVinoMaps(net, settings)
    from .judgment_evaluator import JudgmentEvaluator

    return JudgmentEvaluator(net, settings)
