"""`keisei evaluate WHAT`: hands over to what measures it, so that each can have its own options."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

WHAT = {
    "policy": ("engine.train.evaluate", "how well a net predicts the moves of held-out games"),
    "value": ("engine.train.evaluate_value", "value, score, owners and policy beside record, truth and teacher"),
    "judge": ("engine.evaluate.judge", "how often a judge is right about finished games"),
    "tactics": ("engine.evaluate.tactics", "how many tactical positions an engine solves, by kind and visits"),
    "thresholds": ("engine.evaluate.thresholds", "fit the judge's thresholds to a judgment net on validation games"),
    "calibration": ("engine.evaluate.calibration", "how often a judge is right that is so and so sure of a chain"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei evaluate`. Errors go to the caller as EngineError."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] not in WHAT:
        asked = bool(words) and words[0] in ("-h", "--help")
        lines = [f"  {name:12}{text}" for name, (_, text) in WHAT.items()]
        print("\n".join(["usage: keisei evaluate WHAT [OPTIONS]", "", *lines]), file=None if asked else sys.stderr)
        return 0 if asked else 2
    module = importlib.import_module(WHAT[words[0]][0])
    return int(module.main(words if words[0] == "policy" else words[1:]))
