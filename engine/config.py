"""Settings: frozen dataclasses whose fields carry default, unit, range and meaning; built from TOML and text.

No globals. An unknown key, a wrong type or a value out of range is a ConfigError naming the key (and the nearest one).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any


def setting(
    default: Any,
    doc: str,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] | None = None,
) -> Any:
    """Declare one field of a settings dataclass.

    Args:
        default: the value when nothing is said; its type is the field's type (None: optional, see the annotation).
        doc: what the setting means, one sentence.
        unit: "s", "visits", "points", …; empty for a pure number.
        low, high: inclusive range for numbers.
        choices: allowed words for text.
    """
    return dataclasses.field(
        default=default, metadata={"doc": doc, "unit": unit, "low": low, "high": high, "choices": choices}
    )
