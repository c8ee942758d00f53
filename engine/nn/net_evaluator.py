"""The evaluator that plays: a net on a CPU or a GPU behind engine.evaluator's Evaluator and AsyncEvaluator.

Checks inputs, hands packed batches to a runner (runtimes.py says which there are) and cuts their rows into an
Evaluation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineError, WeightsError
from ..evaluator import Evaluation
from .cpu_choice import CpuChoice, Meta
from .devices import choose_devices, choose_precision, choose_threads
from .metadata_row import profile_row
from .net import Net
from .runtimes import Runner, choose_runtime
from .settings import NetSettings
from .several_runners import SeveralRunners
from .spec import SCALARS, available

FloatArray = NDArray[np.float32]
CPU_MAX_BATCH, GPU_MAX_BATCH = 32, 256
CPU_ROWS_A_THREAD, GPU_ROWS = 4, 64  # a search's batches, where its settings leave them open; two are in flight


class NetEvaluator:
    """An Evaluator and AsyncEvaluator (engine/evaluator.py) over a net and a runner.

    On a CPU any number of batches may be in flight, on GPUs two each. A row's answer never depends on the other rows'
    contents; on a CPU it may depend, in the last bits, on how many rows there are.
    """

    def __init__(
        self,
        net: Net,
        runner: Runner,
        *,
        max_batch: int,
        preferred_batch: int,
        where: str,
        precision: str,
        cpu: CpuChoice | None = None,
        in_flight: int = 2,
    ) -> None:
        self.net = net
        self.in_flight = in_flight  # batches that a search may keep under way
        self.name = ""
        self._where = where
        self._cpu = cpu
        self.encoding = net.description.encoding
        self.max_batch = max_batch
        self.preferred_batch = min(preferred_batch, max_batch)
        self.pass_alive_under_suicide = bool(net.spec.get("pass_alive_under_suicide", False))
        self._name_precision(precision)
        self.runtime = cpu.runtime if cpu else "torch"
        self.policy_only = net.spec["family"] == "k-step"
        self._runner = runner
        self._given = available(net.spec)
        self._flying: dict[int, tuple[Any, int, bool]] = {}
        self._next_ticket = 0
        self._sizes_seen: set[tuple[int, int]] = set()

    def _name_precision(self, precision: str) -> None:
        self.precision = precision
        self.name = f"{self.net.description.name} on {self._where}, {precision}"

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether the net can evaluate such a board."""
        return self.net.supports_size(width, height)

    def allocate(self, batch: int, width: int, height: int) -> tuple[FloatArray, FloatArray]:
        """Return zeroed input arrays (spatial [batch, C, H, W], globals [batch, G]), pinned for a GPU."""
        planes, n_globals = self.net.inputs
        return self._runner.allocate((batch, planes, height, width)), self._runner.allocate((batch, n_globals))

    def warm_up(self, width: int, height: int, batch: int = 1) -> None:
        """Compile for a board size and run once, so that the first real batch is as fast as the others."""
        self.evaluate(*self.allocate(batch, width, height))

    def prepare(self, width: int, height: int) -> bool:
        """Make ready for a search's batches on a board size, so that none has to wait for that; from any thread.

        Return False where only the thread that evaluates can: a GPU's graphs are its own.
        """
        prepare = getattr(self._runner, "prepare", None)
        if prepare is None:
            return False
        prepare(width, height, self.preferred_batch)
        return True

    def evaluate(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> Evaluation:
        """Evaluate spatial [B, C, H, W], globals [B, G], 1 <= B <= max_batch.

        Raises: ValueError for inputs of the wrong shape, UnsupportedBoardSize, EngineError where the device fails.
        """
        points = self._check(spatial, globals_)
        return self._unpack(self._runner.evaluate(spatial, globals_), points, ownership)

    def submit(self, spatial: FloatArray, globals_: FloatArray, *, ownership: bool = False) -> int:
        """Start a batch; the arrays must stay unchanged until its result is taken. Return a ticket."""
        points = self._check(spatial, globals_)
        ticket = self._next_ticket
        self._flying[ticket] = self._runner.start(spatial, globals_), points, ownership
        self._next_ticket += 1
        return ticket

    def result(self, ticket: int) -> Evaluation:
        """Wait for the batch of that ticket. Raises KeyError for a ticket that is unknown or was redeemed."""
        handle, points, ownership = self._flying.pop(ticket)
        return self._unpack(self._runner.finish(handle), points, ownership)

    def improve(self) -> None:
        """Let the net become faster while it is used, where there is a way; `between_games` says when it may change."""
        if self._cpu:
            self._cpu.improve()

    def between_games(self) -> bool:
        """Say that answers may change a little now: nothing that was evaluated before is compared with what comes.

        Return whether they do.
        """
        if self._cpu is None or not self._cpu.between_games():
            return False
        self._name_precision(self._cpu.precision)
        return True

    def close(self) -> None:
        """Release threads and device memory; the evaluator cannot be used after."""
        (self._cpu or self._runner).close()

    def _check(self, spatial: FloatArray, globals_: FloatArray) -> int:
        batch, planes, height, width = spatial.shape
        if (planes, globals_.shape) != (self.net.inputs[0], (batch, self.net.inputs[1])):
            raise ValueError(f"inputs {spatial.shape}, {globals_.shape} do not fit the encoding {self.encoding}")
        if not 1 <= batch <= self.max_batch:
            raise ValueError(f"a batch of {batch}; 1 to {self.max_batch} are allowed")
        if (width, height) not in self._sizes_seen:
            self.net.check_size(width, height)
            self._sizes_seen.add((width, height))
        return int(height * width)

    def _unpack(self, packed: FloatArray, points: int, ownership: bool) -> Evaluation:
        """Cut packed rows [B, A + 8 + P] into arrays of their own."""
        if not np.isfinite(packed).all():
            raise EngineError(f"{self.name}: the net gave a number that is not finite (try --precision float32)")
        actions = points + 1
        scalars = np.ascontiguousarray(packed[:, actions : actions + len(SCALARS)].T)
        given = {name: scalars[i] for i, name in enumerate(SCALARS) if name in self._given or name == "value"}
        rest = packed[:, actions + len(SCALARS) :]
        later = None
        if self.net.spec["family"] == "k-step":
            later = np.ascontiguousarray(rest.reshape(len(packed), -1, points))
        owned = ownership and "ownership" in self._given
        return Evaluation(
            policy_logits=np.ascontiguousarray(packed[:, :actions]),
            ownership=np.ascontiguousarray(rest) if owned else None,
            later_logits=later,
            **given,
        )


def make_evaluator(net: Net, settings: NetSettings, *, playing: bool = False) -> NetEvaluator:
    """Put a net on the device that the settings name.

    Args:
        playing: it is to play games, so that precision auto may mean eight bits on a CPU, which are fast and a little
            less exact. Who labels, measures or judges leaves it out.

    Raises: EngineError where a GPU asked for is not there; ConfigError for settings that do not fit; WeightsError for a
    judgment net, which chooses no moves (judgment_evaluator.py).
    """
    if net.spec["family"] == "judgment":
        raise WeightsError(f"{net.description.file}: judges positions, but chooses no moves")
    devices = choose_devices(settings.device)
    precision = choose_precision(settings.precision, devices[0], net.description.channels)
    has_meta = bool(net.spec.get("meta"))

    def meta(width: int, height: int) -> FloatArray | None:
        return profile_row(settings.human_profile, width, height) if has_meta else None

    meta(19, 19)  # a bad profile is refused now
    if devices != ["cpu"]:
        return _on_gpus(net, settings, devices, precision, meta)
    threads = choose_threads(settings.threads)
    cpu = CpuChoice(net, settings, precision=precision, threads=threads, meta=meta, playing=playing)
    return NetEvaluator(
        net,
        cpu.runner,
        max_batch=settings.max_batch or CPU_MAX_BATCH,
        preferred_batch=CPU_ROWS_A_THREAD * threads,
        where=f"cpu, {threads} threads, {'OpenVINO' if cpu.runtime == 'openvino' else 'PyTorch'}",
        precision=cpu.precision,
        cpu=cpu,
    )


def _on_gpus(net: Net, settings: NetSettings, devices: list[str], precision: str, meta: Meta) -> NetEvaluator:
    import torch

    from .compiled import EvaluationGraph
    from .cuda_ops import CudaOps
    from .gpu_runner import SLOTS, GpuRunner

    def graph(width: int, height: int) -> torch.nn.Module:
        row = meta(width, height)
        return EvaluationGraph(net, precision=precision, optimism=settings.policy_optimism, meta=row).eval()

    choose_runtime(settings.runtime, "cuda", net.spec["family"])
    largest = settings.max_batch or GPU_MAX_BATCH
    runners = [
        GpuRunner(CudaOps(torch.device(device), graph, net.inputs), max_batch=largest, keep=settings.cached_sizes)
        for device in devices
    ]
    return NetEvaluator(
        net,
        SeveralRunners(runners) if len(runners) > 1 else runners[0],
        max_batch=largest,
        preferred_batch=GPU_ROWS,
        where=",".join(devices),
        precision=precision,
        in_flight=SLOTS * len(devices),
    )
