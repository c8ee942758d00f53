"""The GPU itself: streams, CUDA graphs and pinned memory by PyTorch, behind gpu_runner.GpuOps.

Not run by the default tests, which have no GPU: gpu_runner is tested on a stand-in; tests/nn/test_cuda.py runs this
file where there is a device.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

FloatArray = NDArray[np.float32]
MakeGraph = Callable[[int, int], nn.Module]
WARM_UP_RUNS = 3


class CudaProgram:
    """One captured graph with its input and output buffers, on a stream of its own."""

    def __init__(self, graph_module: nn.Module, shapes: tuple[tuple[int, ...], tuple[int, ...]], device: torch.device):
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._done = torch.cuda.Event()  # type: ignore[no-untyped-call]
        with torch.cuda.device(device), torch.cuda.stream(self._stream), torch.inference_mode():
            self._inputs = [torch.zeros(shape, device=device) for shape in shapes]
            self._inputs[0][:, 0] = 1.0
            for _ in range(WARM_UP_RUNS):
                out = graph_module(*self._inputs)
            self._stream.synchronize()
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph, stream=self._stream):
                self._output = graph_module(*self._inputs)
        self._staged = [torch.zeros(shape, pin_memory=True) for shape in shapes]
        self._host = torch.zeros(out.shape, pin_memory=True)

    def launch(self, spatial: FloatArray, globals_: FloatArray) -> None:
        rows = len(spatial)
        with torch.cuda.stream(self._stream), torch.inference_mode():
            for staged, device_input, array in zip(self._staged, self._inputs, (spatial, globals_), strict=True):
                staged[:rows].copy_(torch.from_numpy(array))
                device_input[:rows].copy_(staged[:rows], non_blocking=True)
            self._graph.replay()
            self._host[:rows].copy_(self._output[:rows], non_blocking=True)
            self._done.record(self._stream)

    def fetch(self, rows: int) -> FloatArray:
        self._done.synchronize()
        return self._host[:rows].numpy().copy()


class CudaOps:
    """One CUDA device running one net.

    Args:
        make: returns the evaluation graph (compiled.EvaluationGraph) for a board size, on the CPU.
        inputs: planes and global inputs.
    """

    def __init__(self, device: torch.device, make: MakeGraph, inputs: tuple[int, int]) -> None:
        self.name = f"{device} ({torch.cuda.get_device_name(device)})"
        self._device = device
        self._make = make
        self._inputs = inputs
        self._modules: dict[tuple[int, int], nn.Module] = {}
        torch.backends.cudnn.benchmark = True

    def build(self, width: int, height: int, batch: int) -> CudaProgram:
        size = (width, height)
        if size not in self._modules:
            self._modules = {size: self._make(width, height).to(self._device)}
        planes, n_globals = self._inputs
        return CudaProgram(self._modules[size], ((batch, planes, height, width), (batch, n_globals)), self._device)

    def pinned(self, shape: tuple[int, ...]) -> FloatArray:
        return torch.zeros(shape, pin_memory=True).numpy()

    def free_cached_memory(self) -> None:
        torch.cuda.empty_cache()

    def is_out_of_memory(self, error: BaseException) -> bool:
        return isinstance(error, torch.OutOfMemoryError)
