"""The curve of a run as a picture: loss and validation figures over samples' steps, from its log."""

from __future__ import annotations

import json
import logging
from pathlib import Path

log = logging.getLogger(__name__)


def draw_curves(source: Path, target: Path) -> None:
    """Draw log.jsonl into a PNG; without matplotlib (an optional extra) nothing is drawn, and the log says so."""
    try:
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot
    except ImportError:
        log.info("matplotlib is not installed: no curve drawn")
        return
    lines = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    trained = [line for line in lines if line["event"] == "train"]
    tested = [line for line in lines if line["event"] == "validation"]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4))
    for name in ("policy", "value", "ownership", "lead"):
        left.plot([line["step"] for line in trained], [line[name] for line in trained], label=name)
    left.set(xlabel="step", title="training loss", yscale="log")
    for size in ("19", "13", "9"):
        seen = [line for line in tested if size in line]
        for name, style in (("top1_teacher", "-"), ("top1_played", "--"), ("value_error", ":")):
            values = [line[size][name] for line in seen]
            right.plot([line["step"] for line in seen], values, style, label=f"{size}x{size} {name}")
    right.set(xlabel="step", title="validation")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(target, dpi=90)
    pyplot.close(figure)
