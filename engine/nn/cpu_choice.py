"""Puts a net on the CPU: which runtime, and whether in eight bits, now or after the game in progress.

Eight bits need a plan (int8.py). Where one is cached it is used at once; else the net plays in its plain precision
while a process of its own makes the plan, and changes over between two games.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError
from .devices import need_torch, torch_missing
from .int8 import Plan, Ranges
from .net import Net
from .runtimes import Runner, SparedRunner, choose_runtime
from .settings import NetSettings

if TYPE_CHECKING:
    from .cpu_runner import CpuRunner
    from .openvino_runner import BuildModel, OpenVinoRunner

log = logging.getLogger(__name__)
Meta = Callable[[int, int], Any]  # board size to the metadata row of nets that have one, else None
ATTENTION_POINTS = 400  # points a call of a net with attention, on a CPU: more leave the cache (19x19: 10 % slower)
LARGE_NET = 15_000_000  # parameters from which a lone position is worth all threads
PATIENCE = 5.0  # seconds from the start of play until a plan is begun: short sessions are left alone


class CpuChoice:
    """A runner for a net on the CPU, and the way to a faster one.

    Args:
        precision: the plain one, of what is not in eight bits: "float32" or "bfloat16".
        meta: the metadata row of nets that have such an input.
        playing: precision auto may mean eight bits. Who measures, labels or judges takes the plain precision.
    """

    def __init__(
        self, net: Net, settings: NetSettings, *, precision: str, threads: int, meta: Meta, playing: bool = False
    ) -> None:
        self._net, self._settings, self._dtype, self._threads, self._meta = net, settings, precision, threads, meta
        self._eight_bits = settings.precision == "int8" or (playing and settings.precision == "auto")
        self.runtime = choose_runtime(settings.runtime, "cpu", net.spec["family"])
        self.precision = precision
        self._plain = "bf16" if precision == "bfloat16" else "f32"
        self._ready = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = threading.Event()
        if self.runtime == "torch":
            if settings.precision == "int8":
                raise ConfigError("precision int8 needs OpenVINO")
            self.runner: Runner = self._by_torch()
            return
        plan = self._plan_now()
        self._openvino = self._by_openvino(plan.ranges if plan else None)
        if plan:
            self.precision = "int8"
        spare = settings.runtime == "auto" and not torch_missing()
        self.runner = SparedRunner(self._openvino, self._by_torch if spare else None, "OpenVINO")

    def improve(self) -> None:
        """Begin to find out whether the net may run in eight bits, where that is not known yet; returns at once."""
        if self.runtime == "openvino" and self._eight_bits and self.precision != "int8":
            threading.Thread(target=self._improve, name="eight-bits", daemon=True).start()

    def between_games(self) -> bool:
        """Change over where everything is ready; True if it was done now."""
        if not self._ready.is_set() or self.precision == "int8":
            return False
        self._openvino.change()
        self.precision = "int8"
        log.info("the net runs in eight bits from now on")
        return True

    def close(self) -> None:
        """End what is under way."""
        self._closed.set()
        if self._process is not None:
            self._process.kill()
        self.runner.close()

    def _plan_now(self) -> Plan | None:
        """Return the plan to begin with, if the net is to run in eight bits at once."""
        if not self._eight_bits:
            return None
        from . import int8
        from .quantize import plan_name, quantize, suits

        if not suits(self._net):
            if self._settings.precision == "int8":
                log.warning("%s is no net for eight bits; it runs in %s", self._net.description.name, self.precision)
            return None
        file, name = self._file, plan_name(self._net)
        plan = int8.read(file, name)
        if plan is None and self._settings.precision == "int8":
            log.info("%s is calibrated for eight bits, once", self._net.description.name)
            plan = quantize(self._net, self._plain, self._meta if self._net.spec.get("meta") else None)
            int8.write(file, name, plan)
        return self._accepted(plan) if plan else None

    def _improve(self) -> None:
        from . import int8
        from .quantize import plan_name, suits

        if self._closed.wait(PATIENCE) or not suits(self._net):
            return
        name = plan_name(self._net)
        if int8.read(self._file, name) is None:
            self._run_quantizer()
        plan = int8.read(self._file, name)
        if plan is None:
            if not self._closed.is_set():
                log.warning("the net stays in %s: calibration for eight bits failed", self.precision)
        elif self._accepted(plan) and not self._closed.is_set():
            self._openvino.prepare_other(self._builder(plan.ranges))
            self._ready.set()
            log.info("eight bits are ready (%s); the next game uses them", said(plan))

    def _run_quantizer(self) -> None:
        words_for_it = ["--watch", "--plain", self._plain, "--profile", self._settings.human_profile]
        command, environment = quantizer_command(self._net.description.file, *words_for_it)
        streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        streams["env"] = environment
        try:
            self._process = subprocess.Popen(command, **streams)
        except OSError as error:
            log.warning("the calibration for eight bits cannot be started: %s", error)
            return
        assert self._process.stderr is not None
        words = self._process.stderr.read().decode(errors="replace").strip().splitlines()
        if self._process.wait() and words and not self._closed.is_set():
            log.warning("calibration for eight bits: %s", words[-1])

    def _accepted(self, plan: Plan) -> Plan | None:
        """Return the plan if it may be used; else log why not."""
        if plan.accepted:
            return plan
        name, refusal = self._net.description.name, plan.figures.refusal()
        log.info("%s stays in %s: in eight bits, %s", name, self.precision, refusal)
        return None

    def _by_torch(self) -> CpuRunner:
        need_torch("runtime torch")
        from .compiled import compile_net
        from .cpu_runner import CpuRunner

        optimism = self._settings.policy_optimism
        return CpuRunner(
            lambda w, h: compile_net(self._net, w, h, precision=self._dtype, optimism=optimism, meta=self._meta(w, h)),
            threads=self._threads,
            keep=self._settings.cached_sizes,
            share_layers=self._net.description.parameters >= LARGE_NET,
            max_points=self._max_points,
        )

    def _by_openvino(self, ranges: Ranges | None) -> OpenVinoRunner:
        from .openvino_runner import OpenVinoRunner

        return OpenVinoRunner(
            self._builder(ranges),
            threads=self._threads,
            keep=self._settings.cached_sizes,
            precision=self._plain,
            max_points=self._max_points,
        )

    def _builder(self, ranges: Ranges | None) -> BuildModel:
        from .openvino_graph import build_model
        from .openvino_layers import Layers

        def build(width: int, height: int, batch: int) -> Any:
            return build_model(
                self._net.spec,
                self._net.arrays,
                width=width,
                height=height,
                batch=batch,
                optimism=self._settings.policy_optimism,
                meta=self._meta(width, height),
                layers=Layers(ranges),
            )

        return build

    @property
    def _max_points(self) -> int:
        return ATTENTION_POINTS if self._net.has_attention else 0

    @property
    def _file(self) -> Path:
        return Path(self._net.description.file)


def said(plan: Plan) -> str:
    """Return the figures of a plan as text."""
    f = plan.figures
    return f"same best move {f.top1:.1%}, KL {f.kl:.4f}, winrate {f.winrate:.4f}, lead {f.lead:.2f}, {f.speed:.2f}x"


def quantizer_command(file: str, *options: str) -> tuple[list[str], dict[str, str]]:
    """Return the command line and the environment of a calibration of this net's file.

    It runs the package that runs now, not what lies in the current folder (such as a clone's sources, not built).
    """
    package = str(Path(__file__).resolve().parents[2])
    known = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([package, known]) if known else package
    command = [sys.executable, "-P", "-m", "engine.nn.quantize", file, *options]
    return command, {**os.environ, "PYTHONPATH": path}
