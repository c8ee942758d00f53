"""Chooses device, precision and threads for a net. A device asked for by name is taken or refused, never replaced.

PyTorch is imported only where there may be a GPU, or where nothing else can tell: a net that OpenVINO runs starts
without it.
"""

from __future__ import annotations

import functools
import importlib.util
import logging
import os
import sys
from pathlib import Path

from ..errors import ConfigError, EngineError
from ..usage import install_hint

log = logging.getLogger(__name__)

BFLOAT16_CHANNELS = 32  # narrowest trunk that gains on a CPU
GPU_FILES = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dxg", "/proc/driver/nvidia")
CPU_TOPOLOGY = Path("/sys/devices/system/cpu")


def torch_missing() -> str | None:
    """Return why PyTorch cannot be used, or None. Does not import it."""
    return None if installed("torch") else f"PyTorch is not installed ({install_hint('torch')})"


def installed(package: str) -> bool:
    """Tell whether a package can be imported, without importing it."""
    if sys.modules.get(package) is not None:
        return True
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # kept out of the process
        return False


def need_torch(what: str) -> None:
    """Raise EngineError where PyTorch, which that needs, is not installed."""
    missing = torch_missing()
    if missing:
        raise EngineError(f"{what}: {missing}")


def check_device(wanted: str) -> None:
    """Raise ConfigError for what is no device name, or list of names, at all; whether it is there is not looked at."""
    for word in wanted.split(","):
        name = word.strip()
        if name not in ("auto", "cpu", "cuda") and not name.removeprefix("cuda:").isdecimal():
            raise ConfigError(f"unknown device {name!r}: auto, cpu or cuda:N")


def refuse_absent_gpu(wanted: str) -> None:
    """Raise EngineError for a GPU that was asked for by name and cannot be there: without PyTorch, or any driver.

    Nothing is imported for that; what only the driver can tell comes out when a net is loaded.
    """
    for word in wanted.split(","):
        if word.strip() not in ("auto", "cpu"):
            need_torch(f"device {word.strip()}")
            if sys.platform == "linux" and not any(map(os.path.exists, GPU_FILES)):
                raise EngineError(f"device {word.strip()} is not available: no driver of a GPU is to be seen")


def choose_device(wanted: str) -> str:
    """Return the device for the setting (auto, cpu or cuda:N): "cpu" or "cuda:N".

    Raises: EngineError where a GPU asked for is not there, ConfigError for any other word.
    """
    if wanted == "auto":
        return "cuda:0" if gpu_usable() else "cpu"
    if wanted == "cpu":
        return "cpu"
    number = wanted.removeprefix("cuda:") if wanted != "cuda" else "0"
    if not number.isdecimal():
        raise ConfigError(f"unknown device {wanted!r}: auto, cpu or cuda:N")
    need_torch(f"device {wanted}")
    import torch

    if not torch.cuda.is_available():
        why = "this build of PyTorch has no CUDA" if torch.version.cuda is None else "no usable GPU or driver"
        raise EngineError(f"device {wanted} is not available: {why}")
    if int(number) >= torch.cuda.device_count():
        raise EngineError(f"device {wanted} is not available: {torch.cuda.device_count()} GPU(s) found")
    return f"cuda:{number}"


def choose_devices(wanted: str) -> list[str]:
    """Return the devices for the setting: one, or the GPUs of a list like "cuda:0,cuda:1".

    Raises: as choose_device; ConfigError for a list that names a device twice, or other things than GPUs.
    """
    words = [word.strip() for word in wanted.split(",")]
    found = [choose_device(word) for word in words]
    if len(found) > 1 and ("cpu" in found or len(set(found)) < len(found)):
        raise ConfigError(f"device {wanted!r}: a list names GPUs, each once")
    return found


def gpu_usable() -> bool:
    """Tell whether PyTorch has a GPU. Where no driver is to be seen, PyTorch is not asked: importing it takes long."""
    if torch_missing() or sys.platform == "darwin":
        return False
    if sys.platform == "linux" and "torch" not in sys.modules and not any(map(os.path.exists, GPU_FILES)):
        return False
    import torch

    return bool(torch.cuda.is_available())


@functools.cache
def cpu_has_bfloat16() -> bool:
    """Tell whether this CPU multiplies bfloat16 in hardware (AVX-512 BF16 or AMX)."""
    try:
        from .openvino_ops import core

        return "BF16" in core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    except (ImportError, OSError, RuntimeError, AttributeError):
        pass
    if torch_missing():
        return False
    import torch

    checks = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(bool(getattr(torch.cpu, name)()) for name in checks if hasattr(torch.cpu, name))


def choose_precision(wanted: str, device: str, channels: int) -> str:
    """Return "float32", "bfloat16" or "float16" for the setting; auto: the fastest that the device is made for.

    Perf: bfloat16 against float32 on a CPU with AVX-512 BF16, one thread, 19x19, batch 4: 0.92 times as fast with 16
    channels, 1.6 with 32, 1.9 with 96. So narrow nets stay in float32, which is also more exact.

    Args:
        channels: width of the net's trunk.

    Raises: ConfigError for float16 on a CPU, which is slower and less exact than float32 there.
    """
    on_cpu = device == "cpu"
    if wanted == "int8":  # a matter of cpu_choice.py; here the format of what is not in eight bits
        if not on_cpu:
            raise ConfigError("precision int8 is for the CPU")
        wanted = "auto"
    if wanted != "auto":
        if on_cpu and wanted == "float16":
            raise ConfigError("precision float16 needs a GPU; on a CPU use float32, bfloat16 or auto")
        if on_cpu and wanted == "bfloat16" and not cpu_has_bfloat16():
            log.warning("this CPU has no bfloat16 arithmetic: expect it to be slower than float32")
        return wanted
    if not on_cpu:
        import torch

        return "float16" if torch.cuda.get_device_capability(device) >= (7, 0) else "float32"
    return "bfloat16" if channels >= BFLOAT16_CHANNELS and cpu_has_bfloat16() else "float32"


def choose_threads(wanted: int) -> int:
    """Return the number of CPU threads for the setting; 0: one a physical core that this process may use.

    OMP_NUM_THREADS bounds it, as it does for other programs.
    """
    if wanted > 0:
        return wanted
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    most = os.environ.get("OMP_NUM_THREADS", "")
    limit = int(most) if most.isdecimal() and int(most) > 0 else len(usable)
    return max(1, min(physical_cores(usable), limit))


def physical_cores(usable: set[int]) -> int:
    """Return how many cores these logical processors lie on; where the system does not say, PyTorch's word, or all."""
    cores = set()
    for number in usable:
        try:
            cores.add((CPU_TOPOLOGY / f"cpu{number}" / "topology" / "thread_siblings_list").read_text().strip())
        except OSError:
            break
    else:
        return len(cores)
    if torch_missing():
        return len(usable)
    import torch

    return min(len(usable), torch.get_num_threads())
