"""The log of a run: `log.jsonl`, one line an event, and the same figures for TensorBoard where it is installed."""

from __future__ import annotations

import json
import logging
import math
from pathlib import Path
from typing import Any

from engine.usage import install_hint

from .folder import mend_lines

log = logging.getLogger(__name__)

TENSORBOARD_HINT = f"no TensorBoard logs, log.jsonl has all; for them: {install_hint('tensorboard')}"


class RunLog:
    """Writes the figures of a run. Made by the process that writes."""

    def __init__(self, folder: Path, *, tensorboard: bool = True) -> None:
        """Begin or go on with the log in a run folder; `tensorboard` also writes below `folder/tensorboard`."""
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "log.jsonl"
        mend_lines(self.path)
        self._board: Any = None
        if tensorboard:
            try:
                from torch.utils.tensorboard import SummaryWriter

                self._board = SummaryWriter(str(folder / "tensorboard"))
            except ImportError:
                log.info(TENSORBOARD_HINT)

    def write(self, event: str, step: int, values: dict[str, Any]) -> None:
        """Append one line; figures in dictionaries (by board size) become TensorBoard names with a slash."""
        line = {"event": event, "step": step, **rounded(values)}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        log.info("%s", json.dumps(line))
        if self._board is not None:
            for name, value in flatten(values).items():
                self._board.add_scalar(f"{event}/{name}", value, step)
            self._board.flush()

    def close(self) -> None:
        """Close the TensorBoard file."""
        if self._board is not None:
            self._board.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the events of a log in the order of their steps, one of a kind a step.

    A run that was killed and went on from an earlier checkpoint logs some steps again; the last word counts. Lines that
    cannot be read are left out.
    """
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
            found[int(line["step"]), str(line["event"])] = line
        except (ValueError, TypeError, LookupError):
            continue
    return [found[key] for key in sorted(found)]


def flatten(values: dict[str, Any], prefix: str = "") -> dict[str, float]:
    """Return the numbers of nested dictionaries under names joined by slashes."""
    found: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found |= flatten(value, f"{prefix}{name}/")
        elif isinstance(value, int | float):
            found[prefix + name] = value
    return found


def rounded(values: dict[str, Any]) -> dict[str, Any]:
    """Return the figures with four digits after the point; None for what JSON cannot say (NaN, infinite)."""
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else None
    return value
