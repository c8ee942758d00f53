"""Makes the function that an evaluator calls: a net frozen for one board size, precision and device.

The function takes float32 inputs (spatial [B, C, H, W], globals [B, G]) and gives one packed float32 row a position
(postprocess.py). It is traced and frozen by TorchScript, so running it holds no GIL and no Python.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .fuse import fuse
from .fuse_kstep import FusedKStep
from .kstep import KStepNet
from .net import Net
from .postprocess import Postprocess

FloatArray = NDArray[np.float32]
NetFunction = Callable[[Tensor, Tensor], Tensor]


class EvaluationGraph(nn.Module):
    """Casts the inputs, runs the net, packs the outputs.

    Args:
        precision: "float32", "bfloat16" or "float16".
        meta: the metadata row [192] of nets that have such an input.
        fused_size: (height, width) to rewrite the net for that size on a CPU (fuse.py); None leaves it as it is.
    """

    meta: Tensor | None

    def __init__(
        self,
        net: Net,
        *,
        precision: str,
        optimism: float,
        meta: FloatArray | None,
        fused_size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__()
        dtype: torch.dtype = getattr(torch, precision)
        module = net.module()
        self.maps_type = self.vector_type = dtype
        fused = None if fused_size is None else fuse(module, *fused_size, dtype)
        if fused is not None:
            self.net = fused
            self.vector_type = torch.float32
        elif fused_size is not None and isinstance(module, KStepNet):
            self.net = FusedKStep(module, fused_size, dtype)
        else:
            self.net = module.to(dtype=dtype).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.post = Postprocess(net.spec, optimism)
        self.register_buffer("meta", None if meta is None else torch.from_numpy(meta).to(self.vector_type)[None])

    def forward(self, spatial: Tensor, globals_: Tensor) -> Tensor:
        maps = spatial.to(dtype=self.maps_type, memory_format=torch.channels_last)
        meta = None if self.meta is None else self.meta.expand(spatial.shape[0], -1)
        packed: Tensor = self.post(self.net(maps, globals_.to(self.vector_type), meta), globals_)
        return packed


def compile_net(
    net: Net, width: int, height: int, *, precision: str, optimism: float = 0.0, meta: FloatArray | None = None
) -> torch.jit.ScriptModule:
    """Trace and freeze a net on the CPU for boards of one size and any batch, in "float32" or "bfloat16"."""
    planes, n_globals = net.inputs
    graph = EvaluationGraph(
        net, precision=precision, optimism=optimism, meta=meta, fused_size=(height, width)
    ).eval()
    example = torch.zeros(2, planes, height, width), torch.zeros(2, n_globals)
    example[0][:, 0] = 1.0
    with torch.inference_mode(False), torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer warns of the board size becoming a constant: that is the purpose
        traced = torch.jit.trace(graph, example, check_trace=False)  # type: ignore[no-untyped-call]
        frozen: torch.jit.ScriptModule = torch.jit.freeze(traced)
        return frozen
