"""A TOML table into a dataclass, with errors that name the nearest key."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, TypeVar

from engine.config import nearest
from engine.errors import ConfigError, WeightsError

T = TypeVar("T")


def is_weights(value: Any) -> bool:
    """Tell whether a value is a table of weights: numbers not below 0, at least one of them above."""
    if not isinstance(value, dict):
        return False
    plain = all(isinstance(w, int | float) and not isinstance(w, bool) and 0 <= w < math.inf for w in value.values())
    return plain and any(value.values())


def fill(kind: type[T], table: dict[str, Any], section: str) -> T:
    """Make a dataclass of a TOML table.

    Raises:
        ConfigError: a key is unknown (the nearest one is named) or a value is of the wrong type.
    """
    defaults = {f.name: f for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key, value in table.items():
        if key not in defaults:
            raise ConfigError(f"[{section}] has no {key!r}{nearest(key, defaults)}")
        wanted = defaults[key].type
        fits = {"int": int, "float": (int, float), "str": str, "bool": bool}.get(str(wanted))
        if fits and (not isinstance(value, fits) or (isinstance(value, bool) and wanted != "bool")):  # type: ignore[arg-type]
            raise ConfigError(f"[{section}] {key} = {value!r} is no {wanted}")
        if str(wanted) == "dict[str, float]" and not is_weights(value):
            raise ConfigError(f"[{section}] {key} = {value!r}: names with numbers not below 0, one of them above")
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"[{section}] {key} = {value!r} is no number")
    try:
        return kind(**table)
    except TypeError as error:
        raise ConfigError(f"[{section}]: {error}") from error


def try_out(make: Callable[..., T], values: dict[str, Any], section: str) -> T:
    """Return what a function makes of the values of a section. Raises ConfigError where it refuses them."""
    try:
        return make(**values)
    except (WeightsError, TypeError, ValueError, LookupError, ArithmeticError) as error:
        raise ConfigError(f"[{section}] {error}") from error
