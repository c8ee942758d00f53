"""Runs a judgment net: encoded positions in, the maps that it says of them out. CPU or GPU, any board size.

The seam to the judge is numpy alone: `encoding`, `max_batch`, `name`, `allocate` and `maps`.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..errors import EngineError, WeightsError
from . import checkpoint
from .devices import choose_devices, choose_precision
from .judgment import MAPS, read_maps
from .maps_evaluator import JudgmentEvaluatorBase
from .net import Net
from .settings import NetSettings

FloatArray = NDArray[np.float32]
MAX_BATCH = {"cpu": 32, "cuda": 1024}


class _Graph(nn.Module):
    """Inputs in the net's number format, outputs as read_maps gives them."""

    def __init__(self, net: nn.Module, dtype: torch.dtype) -> None:
        super().__init__()
        self.net = net.to(dtype=dtype).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.dtype = dtype

    def forward(self, spatial: Tensor, globals_: Tensor) -> Tensor:
        maps = spatial.to(dtype=self.dtype, memory_format=torch.channels_last)
        return read_maps(self.net(maps, globals_.to(self.dtype)))


class JudgmentEvaluator(JudgmentEvaluatorBase):
    """A judgment net on a device.

    Args:
        net: of family "judgment".
        settings: section `net`.

    Raises: WeightsError for a net of another family, EngineError where a GPU asked for is not there.
    """

    def __init__(self, net: Net, settings: NetSettings) -> None:
        super().__init__(net)
        self._device = torch.device(choose_devices(settings.device)[0])
        precision = choose_precision(settings.precision, str(self._device), net.description.channels)
        self._graph = _Graph(net.module(), getattr(torch, precision)).to(self._device).eval()
        self._compiled: dict[tuple[int, int], torch.jit.ScriptModule] = {}
        self._threads = settings.threads or None
        self.max_batch = settings.max_batch or MAX_BATCH.get(self._device.type, 32)
        self.name = f"{net.description.name} on {self._device}, {precision}"

    def maps(self, spatial: FloatArray, globals_: FloatArray) -> FloatArray:
        """Return [B, 5, P] in the order of judgment.MAPS, to_play's view: g in [-1, 1], probabilities of the owner
        (to_play, opponent, nobody), probability of being in seki.

        Raises: ValueError for inputs of the wrong shape, UnsupportedBoardSize, EngineError where the net fails.
        """
        batch, width, height = self.check_inputs(spatial, globals_)
        run = self._program(width, height)
        before = torch.get_num_threads()
        if self._threads:
            torch.set_num_threads(self._threads)
        try:
            with torch.inference_mode():
                maps: FloatArray = (
                    run(torch.from_numpy(spatial).to(self._device), torch.from_numpy(globals_).to(self._device))
                    .cpu()
                    .numpy()
                )
        finally:
            torch.set_num_threads(before)
        if maps.shape != (batch, len(MAPS), height * width) or not np.isfinite(maps).all():
            raise EngineError(f"{self.name}: the net gave a number that is not finite (try --precision float32)")
        return maps

    def _program(self, width: int, height: int) -> torch.jit.ScriptModule:
        if (width, height) not in self._compiled:
            if len(self._compiled) >= 4:
                self._compiled.clear()
            planes, n_globals = self.net.inputs
            example = (torch.zeros(2, planes, height, width, device=self._device),
                       torch.zeros(2, n_globals, device=self._device))  # fmt: skip
            with torch.inference_mode(False), torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the board size becomes a constant: that is the purpose
                traced = torch.jit.trace(self._graph, example, check_trace=False)  # type: ignore[no-untyped-call]
                self._compiled[width, height] = torch.jit.freeze(traced)
        return self._compiled[width, height]


def write_thresholds(path: Path, thresholds: dict[str, float], where: str) -> None:
    """Store thresholds in the metadata of a judgment net's file, which is replaced; others that it holds stay.

    Args:
        where: what these were fitted on.

    Raises: WeightsError for a file that is none of ours, or no judgment net.
    """
    spec, tensors, metadata = checkpoint.load(path)
    if spec["family"] != "judgment":
        raise WeightsError(f"{path}: no judgment net")
    temporary = path.with_suffix(".part")
    known, sources = metadata.get("thresholds"), metadata.get("thresholds_from")
    known = {**(known if isinstance(known, dict) else {}), **thresholds}
    sources = {**(sources if isinstance(sources, dict) else {}), **dict.fromkeys(thresholds, where)}
    checkpoint.save(temporary, spec, tensors, {**metadata, "thresholds": known, "thresholds_from": sources})
    temporary.replace(path)
