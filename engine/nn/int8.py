"""What is known of a net in eight bits: the ranges of its layers' inputs and how well it did, kept in a small file.

The file lies beside the net, or in the user's cache folder where that cannot be written. Its name holds a hash of the
net, the runtime's version, the processor and the scheme, so it is never wrong, only unused. `quantize.py` makes it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ..files import read_small

log = logging.getLogger(__name__)
SCHEME = 2  # raised when ranges are found or used in another way
SUFFIX = ".int8.json"
Range = tuple[float, tuple[float, ...]]  # least input of a layer; largest absolute input of each channel
Ranges = Mapping[str, Range]  # by the layer's name
TOP1, KL, WINRATE, LEAD = 0.95, 0.01, 0.01, 0.5  # what a net must keep to be used in eight bits
SPEED = 1.15  # how many times as fast it must be


@dataclass(frozen=True, slots=True)
class Figures:
    """A net in eight bits against itself in float32, over positions not calibrated on."""

    positions: int
    top1: float  # share of positions with the same best move
    kl: float  # mean KL divergence of the policy, nats
    winrate: float  # mean difference, 0 to 1
    lead: float  # mean difference in points; 0 where the net has none
    speed: float  # evaluations a second, relative to bfloat16 (float32 where the processor has none)

    def refusal(self) -> str:
        """Return why the net is not to be used in eight bits; empty if it is."""
        faults = [
            (self.top1 < TOP1, f"same best move in {self.top1:.1%} (needs {TOP1:.0%})"),
            (not self.kl < KL, f"KL {self.kl:.4f} (below {KL})"),
            (not self.winrate < WINRATE, f"winrate differs by {self.winrate:.4f} (below {WINRATE})"),
            (not self.lead < LEAD, f"lead differs by {self.lead:.2f} (below {LEAD})"),
            (self.speed < SPEED, f"{self.speed:.2f} times as fast (needs {SPEED})"),
        ]
        return "; ".join(text for fault, text in faults if fault)


@dataclass(frozen=True, slots=True)
class Plan:
    """The outcome of quantizing a net."""

    figures: Figures
    ranges: Ranges = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        """Tell whether the net may be used in eight bits."""
        return not self.figures.refusal()


def key(sha256: str, runtime: str, processor: str) -> str:
    """Return the part of a plan's file name that says what it is for."""
    return hashlib.sha256(f"{sha256}|{runtime}|{processor}|{SCHEME}".encode()).hexdigest()[:16]


def places(net: Path, name: str) -> list[Path]:
    """Return where a plan may be: beside the net, then in the user's cache folder."""
    file = f"{net.name}.{name}{SUFFIX}"
    return [net.resolve().with_name(file), cache_folder() / file]


def cache_folder() -> Path:
    """Return the user's cache folder for this engine."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "keisei"


def read(net: Path, name: str) -> Plan | None:
    """Return the plan of a net; None where there is none that can be read."""
    for path in places(net, name):
        try:
            text = read_small(path)
        except (OSError, ValueError):
            continue
        try:
            data = json.loads(text)
            ranges = {
                str(layer): (float(low), tuple(float(peak) for peak in peaks))
                for layer, (low, peaks) in data["ranges"].items()
            }
            figures = Figures(**{name: float(value) for name, value in data["figures"].items()})  # type: ignore[arg-type]
            if all(abs(low) < 1e9 and peaks and all(0.0 <= p < 1e9 for p in peaks) for low, peaks in ranges.values()):
                return Plan(figures, ranges)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass
        log.warning("%s is damaged and is made anew", path)
    return None


def write(net: Path, name: str, plan: Plan) -> Path | None:
    """Write a plan at the first place that takes it, whole or not at all; return where, None if nowhere."""
    text = json.dumps({"figures": asdict(plan.figures), "ranges": dict(plan.ranges)}, sort_keys=True)
    for path in places(net, name):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        except OSError:
            continue
        try:
            with open(handle, "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)  # two processes may do this: the files are as good as each other
            return path
        except OSError:
            Path(temporary).unlink(missing_ok=True)
    return None
