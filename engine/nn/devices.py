"""Chooses device, precision and threads for a net. A device asked for by name is taken or refused, never replaced."""

from __future__ import annotations

import logging
import os

import torch

from ..errors import ConfigError, EngineError

log = logging.getLogger(__name__)

BFLOAT16_CHANNELS = 32  # narrowest trunk that gains on a CPU
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def choose_device(wanted: str) -> torch.device:
    """Return the device for the setting: auto, cpu or cuda:N.

    Raises: EngineError where a GPU asked for is not there, ConfigError for any other word.
    """
    if wanted == "auto":
        return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    if wanted == "cpu":
        return torch.device("cpu")
    number = wanted.removeprefix("cuda:") if wanted != "cuda" else "0"
    if not number.isdecimal():
        raise ConfigError(f"unknown device {wanted!r}: auto, cpu or cuda:N")
    if not torch.cuda.is_available():
        why = "this build of PyTorch has no CUDA" if torch.version.cuda is None else "no usable GPU or driver"
        raise EngineError(f"device {wanted} is not available: {why}")
    if int(number) >= torch.cuda.device_count():
        raise EngineError(f"device {wanted} is not available: {torch.cuda.device_count()} GPU(s) found")
    return torch.device(f"cuda:{number}")


def cpu_has_bfloat16() -> bool:
    """Tell whether this CPU multiplies bfloat16 in hardware (AVX-512 BF16 or AMX)."""
    checks = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(bool(getattr(torch.cpu, name)()) for name in checks if hasattr(torch.cpu, name))


def choose_dtype(wanted: str, device: torch.device, channels: int) -> torch.dtype:
    """Return the number format for the setting; auto: the fastest that the device is made for.

    Perf: bfloat16 against float32 on a CPU with AVX-512 BF16, one thread, 19x19, batch 4: 0.92 times as fast with 16
    channels, 1.6 with 32, 1.9 with 96. So narrow nets stay in float32, which is also more exact.

    Args:
        channels: width of the net's trunk.

    Raises: ConfigError for float16 on a CPU, which is slower and less exact than float32 there.
    """
    if wanted == "int8":  # a matter of cpu_choice.py; here the format of what is not in eight bits
        if device.type != "cpu":
            raise ConfigError("precision int8 is for the CPU")
        wanted = "auto"
    if wanted != "auto":
        if device.type == "cpu" and wanted == "float16":
            raise ConfigError("precision float16 needs a GPU; on a CPU use float32, bfloat16 or auto")
        if device.type == "cpu" and wanted == "bfloat16" and not cpu_has_bfloat16():
            log.warning("this CPU has no bfloat16 arithmetic: expect it to be slower than float32")
        return DTYPES[wanted]
    if device.type == "cuda":
        return torch.float16 if torch.cuda.get_device_capability(device) >= (7, 0) else torch.float32
    return torch.bfloat16 if channels >= BFLOAT16_CHANNELS and cpu_has_bfloat16() else torch.float32


def choose_threads(wanted: int) -> int:
    """Return the number of CPU threads for the setting; 0: one a physical core that this process may use."""
    if wanted > 0:
        return wanted
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(usable, torch.get_num_threads()))
