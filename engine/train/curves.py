"""The curve of a run as a picture: loss and validation figures over samples' steps, from its log."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from .logs import read_log

log = logging.getLogger(__name__)

NO_TERMS = ("event", "step", "seconds", "rate", "gradient", "lost_steps")


def draw_curves(source: Path, target: Path, measures: Sequence[str]) -> None:
    """Draw log.jsonl into a PNG: the terms of the loss, and these measures of each board size.

    Without matplotlib (an optional extra) nothing is drawn, and the log says so.
    """
    try:
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot
    except ImportError:
        log.info("matplotlib is not installed: no curve drawn")
        return
    if not source.exists():
        return
    lines = read_log(source)
    trained = [line for line in lines if line["event"] == "train"]
    tested = [line for line in lines if line["event"] == "validation"]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4))
    for name in [name for name in (trained[-1] if trained else {}) if name not in NO_TERMS]:
        known = [line for line in trained if line.get(name) is not None]
        left.plot([line["step"] for line in known], [line[name] for line in known], label=name)
    left.set(xlabel="step", title="training loss", yscale="log")
    sizes = dict.fromkeys(key for line in tested for key in line if key.isdigit())
    for size in sizes:
        for name, style in zip(measures, ("-", "--", ":", "-."), strict=False):
            seen = [line for line in tested if line.get(size, {}).get(name) is not None]
            values = [line[size][name] for line in seen]
            right.plot([line["step"] for line in seen], values, style, label=f"{size}x{size} {name}")
    right.set(xlabel="step", title="validation")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        if axes.lines:
            axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(target, dpi=90)
    pyplot.close(figure)
