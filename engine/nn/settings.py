"""Settings of nets and their evaluators: section `net` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass

from ..config import setting


@dataclass(frozen=True, slots=True)
class NetSettings:
    """How a net is run."""

    device: str = setting(
        "auto", "where the net runs: auto (the first GPU, else the CPU), cpu, cuda:N, or several GPUs (cuda:0,cuda:1)"
    )
    precision: str = setting(
        "auto",
        "number format of the net's layers; auto takes what the device is fast at, int8 where it was found exact",
        choices=("auto", "float32", "bfloat16", "float16", "int8"),
    )
    runtime: str = setting(
        "auto",
        "what runs the net on a CPU; auto takes OpenVINO where it is installed and works, else PyTorch",
        choices=("auto", "openvino", "torch"),
    )
    threads: int = setting(0, "CPU threads that evaluate; 0 takes one a physical core", low=0, high=256)
    max_batch: int = setting(0, "largest batch; 0 takes 32 on a CPU, 256 on a GPU", low=0, high=4096)
    policy_optimism: float = setting(0.2, "share of the optimistic policy in nets that have one", low=0.0, high=1.0)
    human_profile: str = setting(
        "rank_9d", "player that a net with an SGF-metadata input imitates: rank_9d … rank_20k or preaz_9d … preaz_20k"
    )
    value_net: str = setting(
        "auto",
        "file or name of the net that judges positions for a net that gives moves alone; auto takes the one that comes "
        "with the engine, none leaves the net alone, which then plays its likeliest moves without search",
    )
    cached_sizes: int = setting(3, "board sizes whose compiled net is kept", low=1, high=32)
